"""Writing a sheet of an Excel file: what it has room for, cells in a form that it can hold, names that Excel tells apart."""

import io
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from odefs._extras import command
from odefs.exceptions import TableError
from odefs.tables.notes import Note
from odefs.tables.readers.polars_names import nameless
from odefs.tables.writers.formulas import formula_cells

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
LONGEST_TEXT = 32_767
LONGEST_NAME = 255
NO_XML = {
    ord(c): "\ufffd" for c in [*map(chr, range(32)), "\ufffe", "\uffff"] if c not in "\t\n\r"
} | {9: " ", 13: " "}
"""What a name cannot hold: the table inside the sheet has its names in attributes, where XML has no form for these characters."""
WHOLE_NUMBERS = 2**53
"""A cell holds a double: whole numbers beyond this would lose digits."""
FIRST_DATE, LAST_DATE = date(1900, 1, 1), date(9999, 12, 31)
ISO = "%Y-%m-%dT%H:%M:%S%.f%:z"


def is_sheet(path: Path) -> bool:
    """Whether a file is written as Excel has it."""
    return path.suffix.lower() == ".xlsx"


def require_room(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse what a sheet has no room for; the first of its rows holds the names."""
    for number, most, what in ((n_rows, MAX_ROWS - 1, "rows"), (n_columns, MAX_COLUMNS, "columns")):
        if number > most:
            raise TableError(
                f"{path}: {number:,} {what} are more than the {most:,} that an Excel sheet holds: write parquet, csv, arrow or ndjson."
            )


def refuse_large(path: Path) -> None:
    """Refuse a workbook for a table that is larger than memory, before any work is done."""
    if is_sheet(path):
        raise TableError(
            f"{path}: an Excel sheet holds {MAX_ROWS:,} rows: scores of a table that is larger than memory "
            "go to parquet, csv, arrow or ndjson."
        )


def write_sheet(frame: Any, file: BinaryIO, path: Path) -> tuple[Note, ...]:
    """Write a table as a workbook of one sheet; notes on what it could not hold."""
    try:
        from xlsxwriter import Workbook
    except ModuleNotFoundError as error:
        raise TableError(f"writing Excel files needs another package: {command('cli')}") from error
    require_room(path, frame.height, frame.width)
    names = unique_excel_names(frame.columns)
    changed = [
        new
        for name, new in zip(frame.columns, names, strict=True)
        if len(_units(name)) > 2 * LONGEST_NAME
    ]
    frame.columns = names
    infinite = _infinite_cells(frame)
    frame, cut = _cut(
        frame.with_columns([_held(nameless(series)).alias(series.name) for series in frame])
    )
    content = io.BytesIO()
    with Workbook(
        content, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    ) as workbook:
        # The same table gives the same bytes: no time of writing inside.
        workbook.set_properties({"created": datetime(2000, 1, 1)})
        sheet = workbook.add_worksheet()
        with warnings.catch_warnings():
            # It warns where it leaves out the whole table.
            warnings.filterwarnings("error", module="xlsxwriter")
            try:
                frame.write_excel(workbook, sheet, autofit=False)
            except Warning as error:
                raise TableError(f"{path}: cannot be written ({error}).") from error
        for row, column, text in infinite:
            sheet.write_string(row + 1, column, text)
        # As if typed behind an apostrophe: such text stays text where somebody edits the cell.
        marked = workbook.add_format({"quote_prefix": True})
        for row, column, text in formula_cells(frame):
            sheet.write_string(row + 1, column, text, marked)
    file.write(content.getvalue())
    notes = [Note("excel_names_cut", count=len(changed), limit=LONGEST_NAME)] if changed else []
    notes += [Note("excel_texts_cut", columns=tuple(cut), limit=LONGEST_TEXT)] if cut else []
    return tuple(notes)


def unique_excel_names(names: Sequence[str]) -> list[str]:
    """Names that Excel can hold and of which no two differ by case alone, which are one name to it; a blank one gets the name that Excel would give it."""
    found: dict[str, str] = {}
    tried: Counter[str] = Counter()
    for number, name in enumerate(names, 1):
        held = _cut_text(name.translate(NO_XML), LONGEST_NAME) or f"Column{number}"
        free = held
        while free.casefold() in found:
            tried[held.casefold()] += 1
            ending = f" ({tried[held.casefold()] + 1})"
            free = _cut_text(held, LONGEST_NAME - len(ending)) + ending
        found[free.casefold()] = free
    return list(found.values())


def _units(text: str) -> bytes:
    """Text as Excel counts it: two bytes a character, and four of those that UTF-16 needs two for."""
    return text.encode("utf-16-le")


def _cut_text(text: str, longest: int) -> str:
    return _units(text)[: 2 * longest].decode("utf-16-le", "ignore")


def _infinite_cells(frame: Any) -> list[tuple[int, int, str]]:
    """Row, column and text of the infinite numbers, for which Excel has no number; csv has the same text."""
    return [
        (row, column, "inf" if series[row] > 0 else "-inf")
        for column, series in enumerate(frame)
        if series.dtype.is_float()
        for row in nameless(series).is_infinite().arg_true()
    ]


def _held(series: Any) -> Any:
    """A column without cells that Excel has no form for: these are left blank (no number), or the column is text."""
    import polars as pl

    if series.dtype.is_float():
        return series.set(~series.is_finite().fill_null(True), None)
    if series.dtype.is_integer() and series.len() > series.null_count():
        least, most = series.min(), series.max()
        return series.cast(pl.String) if max(-least, most) > WHOLE_NUMBERS else series
    if series.dtype == pl.Datetime and series.dtype.time_zone is not None:
        return series.dt.to_string(ISO)
    if series.dtype in (pl.Date, pl.Datetime):
        days = series.cast(pl.Date)
        return (
            series if days.is_between(FIRST_DATE, LAST_DATE).all() else series.dt.to_string("iso")
        )
    return series


def _cut(frame: Any) -> tuple[Any, list[str]]:
    """Texts as long as a cell may be, and the columns in which some were longer. Excel counts as UTF-16 does."""
    import polars as pl

    found = []
    for series in frame:
        if series.dtype != pl.String:
            continue
        # In UTF-16 a character has at most two units.
        suspects = (
            (nameless(series).str.len_chars() > LONGEST_TEXT // 2)
            .fill_null(False)
            .arg_true()
            .to_list()
        )
        long = [row for row in suspects if len(_units(series[row])) > 2 * LONGEST_TEXT]
        if long:
            found.append(
                series.clone().scatter(long, [_cut_text(series[row], LONGEST_TEXT) for row in long])
            )
    return frame.with_columns(found), [series.name for series in found]
