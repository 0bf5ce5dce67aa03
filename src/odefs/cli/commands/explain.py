"""Explanation command, ``odefs explain MODEL FILE``: reasons for chosen or top-ranked rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs.cli import options
from odefs.cli.errors import reports_errors
from odefs.cli.option_records import as_record
from odefs.cli.scoring import ModelRun, score_file
from odefs.cli.sheets import SheetResult, run_sheets
from odefs.cli.terminal.messages import document_text
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.inspection.explanation import Reason
    from odefs.tables.results.detection import TableDetection

MAX_DIGITS = 4000
"""Longest text read as an integer: Python refuses to parse more than 4,300 digits."""


@dataclass(frozen=True, kw_only=True)
class ExplainRun(ModelRun):
    """Options of ``odefs explain``."""

    rows: str | None
    display: options.Display


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@click.option(
    "--rows",
    metavar="LIST",
    help="Rows to explain, as in 3,17,20-25: ids if there is an id column, otherwise row numbers "
    "from 1; 'row 17' is a row without an id (default: the top-ranked outliers).",
)
@options.hide
@options.reading
@options.flagging
@options.jobs
@options.display
@reports_errors
@as_record(ExplainRun)
def command(run: ExplainRun) -> None:
    """Explain why rows of FILE are outliers under a saved MODEL.

    Each reason is shown with the position of its value in the column and the usual values.
    """
    run_sheets(run.file, run, _explain, run.display.as_json, run.display.quiet)


def _explain(run: ExplainRun) -> SheetResult:
    """Explain rows of one table."""
    from odefs.cli.run import require_memory
    from odefs.cli.sources import local_table
    from odefs.cli.terminal.screen import Screen, show_reasons

    display = run.display
    with local_table(run.file, run.reading, display.quiet) as local:
        require_memory(local, run.reading.delimiter, run.reading.sheet, whole=True)
        with progress(display.quiet):
            found = score_file(run, local).found
    top = found.order[: display.top]
    numbers = _rows(run.rows, found) if run.rows else [int(row) for row in top]
    if display.as_json:
        return SheetResult(document_text({"rows": _explained(found, numbers)}))
    if not display.quiet:
        out = Screen()
        if run.sheet is not None:
            out.say(f"{found.source['name']}:")
        show_reasons(out, found, numbers)
    return SheetResult()


def _rows(text: str, found: "TableDetection") -> list[int]:
    """Row numbers from 0 of the rows in ``--rows``, without duplicates.

    Entries are ids if rows are shown with their ids, otherwise row numbers.
    """
    from odefs.tables.results.displayed_rows import RowTexts, shown_id

    parts = [part.strip() for part in text.split(",")]
    by_id = shown_id(found) is not None
    names = RowTexts(found)
    chosen = _by_id(parts, names.identifier, names) if by_id else _by_number(parts, found.n_rows)
    return list(dict.fromkeys(row for rows in chosen for row in rows))


def _by_number(parts: list[str], n_rows: int) -> Iterator[Sequence[int]]:
    from odefs.exceptions import TableError

    for part in parts:
        first, last = _range(part) or (_integer(part), _integer(part))
        if not 1 <= first <= last <= n_rows:
            raise TableError(
                f"there is no row {part!r}: rows are numbered from 1 to {n_rows:,}, "
                "as in --rows 3,17,20-25."
            )
        yield range(first - 1, last)


def _by_id(parts: list[str], identifier: str, names: Iterable[object]) -> Iterator[Sequence[int]]:
    """Rows with the given ids, or with integer ids within a range, in table order.

    Names are those that are shown: a row without an id is ``row 505``.
    """
    from odefs.exceptions import TableError
    from odefs.tables.messages import row_name

    places: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        places.setdefault(str(name), []).append(row)
    for given in parts:
        part = str(row_name(given, 0))
        # An id may look like a range (2024-05), so ids are tried first.
        if part in places:
            yield places[part]
            continue
        low, high = _range(part) or (0, -1)
        within = sorted(
            row for name, rows in places.items() if low <= _whole(name) <= high for row in rows
        )
        if not within:
            raise TableError(
                f"no row has {given!r} in the column {identifier!r}: give ids of that "
                f"column, as in --rows {next(iter(places), '')}, or a range of integer ids such as "
                f"20-25{_of_unnamed(places)}."
            )
        yield within


def _of_unnamed(names: Iterable[str]) -> str:
    """How rows without an id are given, if there are any."""
    from odefs.tables.messages import numbered_row

    first = next((name for name in names if numbered_row(name) is not None), None)
    return "" if first is None else f"; rows without an id by their numbers, as in '{first}'"


def _range(part: str) -> tuple[int, int] | None:
    first, mark, last = part.partition("-")
    ends = _integer(first), _integer(last)
    return ends if mark and min(ends) >= 0 else None


def _whole(name: str) -> int:
    """The id as an integer, or -1 if it is not one."""
    # pandas stores whole numbers of a column with missing cells as floats.
    return _integer(name.removesuffix(".0"))


def _integer(text: str) -> int:
    """The digits as an integer, or -1 if they are not digits or too many."""
    # isdigit() would accept superscripts, which int() does not read.
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else -1


def _explained(found: "TableDetection", rows: list[int]) -> list[dict[str, object]]:
    from odefs.tables.results.displayed_rows import RowTexts, shown_reason

    names = RowTexts(found)
    return [
        {
            "row": row + 1,
            "name": str(names[row]),
            "score": float(found.scores[row]),
            "rank": int(found.ranks[row]),
            "outlier": bool(found.is_outlier[row]),
            "reasons": [_plain(shown_reason(found, reason)) for reason in reasons],
        }
        for row, reasons in zip(rows, found.reasons(rows, 5), strict=True)
    ]


def _plain(reason: "Reason") -> dict[str, object]:
    """The reason with null for missing cells and infinite bounds, since JSON has no NaN."""
    from odefs.report.scores import plain

    apart = ("usual", "group", "unit", "alone")
    values: dict[str, object] = {
        name: plain(value) for name, value in asdict(reason).items() if name not in apart
    }
    values["usual"] = None if reason.usual is None else [plain(part) for part in reason.usual]
    if reason.group is not None:
        values["group"] = dict(reason.group)
    if reason.unit:
        values["unit"] = reason.unit
    if reason.alone:
        values["alone"] = True
    return values
