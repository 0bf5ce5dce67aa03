"""Result columns: row id, line, score, rank and so on to the checks, and the input on request.

Also the columns of the file of values to check, which has one line for each cell or row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs._progress import report_progress, stage
from odefs.engines.out_of_core import Folder
from odefs.ensemble.score_percentiles import percentiles
from odefs.inspection.explanation import Reason
from odefs.kernels.row_reductions import fill_ranks
from odefs.tables import messages
from odefs.tables.frames.arrow import cells_of, is_text
from odefs.tables.frames.convert import columns_of
from odefs.tables.messages import check_cell
from odefs.tables.records.checks import ValueCheck
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import plain_cell, shown_checks, shown_id
from odefs.tables.results.row_checks import RowChecks
from odefs.tables.table import Table

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

RESULT_NAMES = (
    *("row", "line", "score", "rank", "percentile", "p_value", "agreement", "outlier", "kind"),
    *("reasons", "checks"),
)
LEAST_RESULTS = 5
"""Row, score, rank, percentile and flag are always present."""

KindNames = Callable[[np.ndarray, Sequence[Sequence[Reason]]], list[str | None]]
"""Names the kinds of rows, given by their numbers in the table and reasons; ``None`` for rows that
are not flagged."""


def result_batches(
    table: Table,
    found: TableDetection,
    reasons: str = "flagged",
    with_data: bool = False,
    folds: bool = False,
    spells: bool = False,
    kinds: KindNames | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the result columns batch by batch, one entry per row in table order.

    ``reasons`` is "flagged", "all" or "none"; ``with_data`` adds the columns of the table. Kinds
    of outliers are a column if ``kinds`` names them and there are reasons, values to check if the
    table was searched for them.
    ``folds`` is for formats with case-insensitive column names, such as Excel; ``spells`` is for
    formats without booleans, in which flags are "yes" and "no".
    """
    extent, checks = found.extent, RowChecks.of(found)
    ranks = _ranks(found)
    named = shown_id(found)
    line = table.line_column
    own = table.names if with_data else []
    # Columns that the model does not use are read only for ``with_data``.
    used = [] if reasons == "none" else found.encoder.input_columns
    checked = [] if checks is None else checks.columns
    for start, frame in table.batches(_read_columns(table, named, line, *used, *own, *checked)):
        rows = slice(start, start + len(frame))
        flags = np.asarray(extent.is_outlier[rows])
        results = {
            "row": np.arange(start + 1, rows.stop + 1),
            "line": frame[line] if line else None,
            "score": np.asarray(extent.scores[rows]),
            "rank": np.asarray(ranks[rows]),
            **_measures(found, rows),
            "outlier": as_yes_no(flags) if spells else flags,
            **_explanations(found, frame, rows, _explained_rows(flags, reasons), kinds),
            "checks": _checks(checks, table, frame, rows),
        }
        names = None if named is None else _names(frame, named)
        yield arranged(found, names, results, {name: frame[name] for name in own}, folds)
        report_progress(rows.stop, extent.n_rows)


def _read_columns(table: Table, *names: str | None) -> list[str]:
    """Return each column once; the first of the table if there are none, which counts the rows."""
    return list(dict.fromkeys(name for name in names if name is not None)) or table.names[:1]


def _measures(found: TableDetection, rows: slice) -> dict[str, np.ndarray | None]:
    """Return what the model tells about some rows besides their scores; ``None`` if it does not."""
    scores, agreement = np.asarray(found.extent.scores[rows]), found.extent.agreement
    quantiles = found.model.score_quantiles_
    return {
        "percentile": None if quantiles is None else percentiles(quantiles, scores),
        "p_value": None if found.reference is None else found.reference.p_values(scores),
        "agreement": None if agreement is None else np.asarray(agreement[rows]),
    }


def _explained_rows(flags: np.ndarray, reasons: str) -> np.ndarray | None:
    """Return which rows of a batch get reasons; ``None`` if the result has no such column."""
    if reasons == "none":
        return None
    return np.arange(flags.size) if reasons == "all" else np.flatnonzero(flags)


def _ranks(found: TableDetection) -> np.ndarray:
    """Return the ranks of all rows, file-backed for a table larger than memory."""
    if found.part is None:
        return found.ranks
    return fill_ranks(found.part.scores, Folder().array(found.part.scores.shape, np.int64))


def _names(frame: Any, id: str) -> "pa.ChunkedArray | pl.Series":
    """Return the id column: numbers, booleans and text unchanged, dates and other types as text."""
    import pyarrow as pa

    column = frame[id] if hasattr(frame[id], "type") else frame[id].to_arrow()
    kind = column.type
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or is_text(kind):
        return column
    return text_array(
        [None if cell is None else str(cell) for cell in map(plain_cell, cells_of(column))]
    )


def _explanations(
    found: TableDetection,
    frame: object,
    rows: slice,
    wanted: np.ndarray | None,
    kinds: KindNames | None,
) -> "dict[str, pl.Series]":
    """Return kinds and reasons of the ``wanted`` rows of a batch; missing for other rows."""
    if wanted is None:
        return {}
    n_rows = rows.stop - rows.start
    reasons = _reasons(found, frame, rows, wanted) if wanted.size else []
    texts = {"reasons": text_array(reason_cells(found.hidden, n_rows, wanted, reasons))}
    if kinds is None:
        return texts
    named: list[str | None] = [None] * n_rows
    for row, name in zip(wanted.tolist(), kinds(wanted + rows.start, reasons), strict=True):
        named[row] = name
    return {"kind": text_array(named)} | texts


def _reasons(
    found: TableDetection, frame: object, rows: slice, wanted: np.ndarray
) -> list[list[Reason]]:
    """Return the reasons of the ``wanted`` rows of a batch, with usual values for texts only."""
    find = partial(found.finder.reasons, needs_usual=messages.needs_usual)
    if found.part is None:
        with stage("explaining"):
            report_progress(0, 0)
            return find(found.table, found.X, found.scores, wanted)
    encoder = found.encoder
    batch = encoder.recognised(columns_of(frame, encoder.is_used), found.formats)
    # Text of one batch may have a single offset, and the table several.
    read = batch.take(wanted).in_zones(found.table.zones)
    scores = np.asarray(found.part.scores[rows])[wanted]
    return find(read, encoder.encode_table(read), scores, np.arange(wanted.size))


def _checks(
    checks: RowChecks | None, table: Table, frame: object, rows: slice
) -> "pl.Series | None":
    """Return the values to check of each row of a batch; ``None`` if there was no search."""
    if checks is None:
        return None
    # The column ``row`` counts from 1.
    numbers = np.arange(rows.start, rows.stop)
    return text_array(checks.of_batch(table, frame, numbers, lambda row: row + 1))


def text_array(cells: Sequence[str | None]) -> "pl.Series":
    """Return a string column, also if all cells of a batch are missing."""
    import polars as pl

    return pl.Series(cells, dtype=pl.String, strict=False)


def as_yes_no(flags: np.ndarray) -> np.ndarray:
    """Spell out flags for people; formats with types store booleans."""
    return np.where(flags, "yes", "no")


def arranged(
    found: TableDetection,
    names: object,
    results: Mapping[str, object],
    data: Mapping[str, object],
    folds: bool = False,
) -> dict[str, Any]:
    """Arrange row names, results and input in order, under unique names."""
    same = str.casefold if folds else str
    out: dict[str, Any] = {}
    if names is not None:
        name = found.identifier
        out[f"{name} (id)" if same(name) in RESULT_NAMES else name] = names
    out |= {name: column for name, column in results.items() if column is not None}
    taken = {same(name) for name in out}
    for column, cells in data.items():
        if _is_shown(column, found):
            name = _free(column, taken, same)
            taken.add(same(name))
            out[name] = cells
    return out


def _is_shown(column: str, found: TableDetection) -> bool:
    """Whether a column of the table appears under its own name."""
    is_name = found.named and column == found.identifier
    return column not in found.hidden and not is_name


def _free(name: str, taken: set[str], same: Callable[[str], str]) -> str:
    """Return the name of an input column, marked if a result column has the same name."""
    while same(name) in taken:
        name = f"{name} (input)"
    return name


def reason_cells(
    hidden: frozenset[str], n_rows: int, rows: np.ndarray, reasons: Iterable[Sequence[Reason]]
) -> list[str | None]:
    """Return a text for each row in ``rows``, ``None`` for the others and without reasons."""
    texts: list[str | None] = [None] * n_rows
    for row, found in zip(rows, reasons, strict=True):
        texts[row] = "; ".join(messages.reason_texts(found, hidden)) or None
    return texts


CheckCell = str | int | None


def _id(check: ValueCheck, k: int) -> str | None:
    return None if check.names[k] is None else str(check.names[k])


CHECK_COLUMNS: dict[str, Callable[[ValueCheck, int], CheckCell]] = {
    "kind": lambda check, k: str(check.kind),
    "column": lambda check, k: check.column,
    "row": lambda check, k: check.rows[k] + 1,
    "id": _id,
    "value": check_cell,
    "sentence": lambda check, k: str(check),
}
"""What each column holds of a check and its row number ``k``."""


def check_columns(found: TableDetection) -> dict[str, list[CheckCell]]:
    """Return kind, column, row number, id, value and sentence; ids where the table has them.

    Ids and values are text, so that all files have the same types.
    """
    lines = [(check, k) for check in shown_checks(found) for k in range(len(check.rows))]
    has_ids = shown_id(found) is not None
    return {
        name: [cell(check, k) for check, k in lines]
        for name, cell in CHECK_COLUMNS.items()
        if has_ids or name != "id"
    }
