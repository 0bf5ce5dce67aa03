"""Lines of the csv file that the page saves: the top-ranked rows with all values and reasons.

The lines are written here, with the quoting and the formula escaping of all csv files of odefs. The
page joins as many of them as rows are above its threshold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from odefs.report.rows import row_checks
from odefs.report.scores import plain
from odefs.tables import messages
from odefs.tables.answers.lines import csv_line
from odefs.tables.frames.columns import Columns
from odefs.tables.frames.convert import column_cells
from odefs.tables.messages.reasons import KindRecord, RowRecord
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent, plain_cell, shown_id
from odefs.tables.table import HeldTable
from odefs.tables.writers.columns import RESULT_NAMES

MAX_LINES, MAX_CELLS, MAX_CHARACTERS = 1_000, 400_000, 1_500_000
"""Limits of the lines in a page; files that the command line writes have all rows."""


def collect_csv(
    detection: TableDetection,
    extent: Extent,
    groups: Sequence[Sequence[int]],
    records: Sequence[RowRecord],
    kinds: Sequence[KindRecord],
    names: Sequence[object],
) -> dict[str, object]:
    """Return the header, and one line for each top-ranked row in descending order of the score.

    ``records`` describe the ``groups`` of identical rows. Lines have no gaps: the first ``n`` lines
    are the ``n`` highest scores.
    """
    record_of = {
        row: record for group, record in zip(groups, records, strict=True) for row in group
    }
    shown = _input_columns(detection)
    most = min(MAX_LINES, max(1, MAX_CELLS // max(1, len(shown))))
    rows = _leading(extent.order[:most], record_of)
    # Rows of a table are taken in ascending order; ``places`` leads back to that of the scores.
    order = np.argsort(rows, kind="stable")
    cells = _table_cells(detection, extent, rows[order], shown)
    identifier = shown_id(detection)
    if identifier is None:
        key = "row"
    else:
        key = f"{identifier} (id)" if identifier in RESULT_NAMES else identifier
        cells.pop(identifier, None)
    # Rows of a group are identical in the columns that the model uses; others may be checked.
    checks = row_checks(detection, extent.numbers[rows])
    results = [
        _results(detection, extent, record_of[int(row)], kinds, text)
        for row, text in zip(rows, checks, strict=True)
    ]
    header = [key, *(results[0] if results else ())]
    for column in cells:
        header.append(_free(column, header))
    places = np.argsort(order, kind="stable")
    lines = _fitting(_lines(rows, results, names, cells, places))
    # Without line ends, which the page adds.
    return {"header": csv_line(header)[:-1], "lines": list(lines)}


def _input_columns(detection: TableDetection) -> list[str]:
    """Return the columns of the table that was read, without hidden ones."""
    names = [] if detection.origin is None else detection.origin.names
    return [name for name in names if name not in detection.hidden]


def _leading(order: np.ndarray, known: Mapping[int, object]) -> np.ndarray:
    """Return the top-ranked rows up to the first one that is not listed."""
    # The report describes a limited number of rows; without a record there are no reasons.
    unknown = [place for place, row in enumerate(order.tolist()) if row not in known]
    return order[: unknown[0]] if unknown else order


def _lines(
    rows: np.ndarray,
    results: Sequence[Mapping[str, object]],
    names: Sequence[object],
    cells: Mapping[str, Sequence[object]],
    places: np.ndarray,
) -> Iterator[str]:
    for row, result, place in zip(rows.tolist(), results, places.tolist(), strict=True):
        own = [plain(names[row]), *result.values()]
        line = [*own, *(column[place] for column in cells.values())]
        yield csv_line(map(_text, line))[:-1]


def _fitting(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that fit into a page, but at least one."""
    room = MAX_CHARACTERS
    for i, line in enumerate(lines):
        room -= len(line)
        if room < 0 and i:
            return
        yield line


def _results(
    detection: TableDetection,
    extent: Extent,
    record: RowRecord,
    kinds: Sequence[KindRecord],
    checks: str | None,
) -> dict[str, object]:
    """Return the result columns of a row; those that do not apply are absent."""
    found: dict[str, object] = {
        "score": record["score"],
        "rank": record["rank"],
        "percentile": record["percentile"],
        "p_value": record["p_value"],
        "agreement": record["agreement"],
        "kind": "" if record["kind"] is None else messages.kind(kinds[record["kind"]]),
        "reasons": "; ".join(messages.short_reasons(record["reasons"])),
        "checks": checks,
    }
    if not detection.checked:
        del found["checks"]
    if detection.reference is None:
        del found["p_value"]
    if extent.agreement is None:
        del found["agreement"]
    return found


def _table_cells(
    detection: TableDetection, extent: Extent, rows: np.ndarray, names: Sequence[str]
) -> dict[str, list[object]]:
    """Return the cells of ascending ``rows`` by column, as the table has them."""
    origin = detection.origin
    if not rows.size or not names or origin is None:
        return {name: [] for name in names}
    numbers = extent.numbers[rows]
    if isinstance(origin, HeldTable) and isinstance(origin.frame, Columns):
        frame: object = origin.frame.take(numbers)
    else:
        frame = origin.take(numbers, names)
    return {name: [plain_cell(one) for one in column_cells(frame, name)] for name in names}


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name = f"{name} (input)"
    return name


def _text(cell: object) -> str:
    if cell is None or cell != cell:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
