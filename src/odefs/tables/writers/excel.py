"""Excel writer for one sheet: size limits, cell types that Excel supports, and unique names."""

import io
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from odefs._extras import command
from odefs.exceptions import TableError
from odefs.tables.formulas import formula_cells
from odefs.tables.polars_names import nameless
from odefs.tables.records.notes import Note

if TYPE_CHECKING:
    import polars as pl

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
LONGEST_TEXT = 32_767
LONGEST_NAME = 255
NO_XML = {
    ord(c): "\ufffd" for c in [*map(chr, range(32)), "\ufffe", "\uffff"] if c not in "\t\n\r"
} | {9: " ", 13: " "}
"""Characters to replace in names: the sheet's table stores its names in XML attributes, which
cannot represent them."""
WHOLE_NUMBERS = 2**53
"""Cells are doubles: larger integers would lose digits."""
FIRST_DATE, LAST_DATE = date(1900, 1, 1), date(9999, 12, 31)
"""Excel has no dates outside of these; others are written as text."""
ISO = "%Y-%m-%dT%H:%M:%S%.f%:z"


def is_sheet(path: Path) -> bool:
    """Whether a file is an Excel workbook."""
    return path.suffix.lower() == ".xlsx"


def require_room(path: Path, n_rows: int, n_columns: int) -> None:
    """Raise if a sheet is too small; its first row holds the names."""
    for number, most, what in ((n_rows, MAX_ROWS - 1, "rows"), (n_columns, MAX_COLUMNS, "columns")):
        if number > most:
            raise TableError(
                f"{path}: {number:,} {what} are more than the {most:,} that an Excel sheet holds: "
                "write parquet, csv, arrow or ndjson."
            )


def refuse_large(path: Path) -> None:
    """Raise if a table larger than memory is to be written as a workbook, before any work."""
    if is_sheet(path):
        raise TableError(
            f"{path}: an Excel sheet holds {MAX_ROWS:,} rows: write the scores of a table larger "
            "than memory to parquet, csv, arrow or ndjson."
        )


def write_sheet(frame: "pl.DataFrame", file: BinaryIO, path: Path) -> tuple[Note, ...]:
    """Write a workbook with one sheet, and return notes on what it could not hold."""
    try:
        from xlsxwriter import Workbook
    except ModuleNotFoundError as error:
        message = f"writing Excel files requires another package: {command('cli')}"
        raise TableError(message) from error
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
        # No creation time, so that the same table gives the same bytes.
        workbook.set_properties({"created": datetime(2000, 1, 1)})
        sheet = workbook.add_worksheet()
        with warnings.catch_warnings():
            # xlsxwriter only warns when it leaves out the whole table.
            warnings.filterwarnings("error", module="xlsxwriter")
            try:
                frame.write_excel(workbook, sheet, autofit=False)
            except Warning as error:
                raise TableError(f"{path}: cannot be written ({error}).") from error
        # Over the blank cells that ``_held`` has left: the column has to stay one of numbers.
        for row, column, text in infinite:
            sheet.write_string(row + 1, column, text)
        # Quoted as if typed after an apostrophe: it stays text when someone edits the cell.
        marked = workbook.add_format({"quote_prefix": True})
        for row, column, text in formula_cells(frame):
            sheet.write_string(row + 1, column, text, marked)
    file.write(content.getvalue())
    notes = [Note("excel_names_cut", count=len(changed), limit=LONGEST_NAME)] if changed else []
    notes += [Note("excel_texts_cut", columns=tuple(cut), limit=LONGEST_TEXT)] if cut else []
    return tuple(notes)


def unique_excel_names(names: Sequence[str]) -> list[str]:
    """Return names that Excel supports and that differ in more than case.

    An empty name becomes the name that Excel would give it.
    """
    found: dict[str, str] = {}
    tried: Counter[str] = Counter()
    # Excel compares names of a table without case, and repairs or refuses files with control
    # characters or more than 255 units in them.
    for number, name in enumerate(names, 1):
        held = _cut_text(name.translate(NO_XML), LONGEST_NAME) or f"Column{number}"
        free = held
        while free.casefold() in found:
            tried[held.casefold()] += 1
            suffix = f" ({tried[held.casefold()] + 1})"
            free = _cut_text(held, LONGEST_NAME - len(suffix)) + suffix
        found[free.casefold()] = free
    return list(found.values())


def _units(text: str) -> bytes:
    """Encode text in UTF-16, in whose units Excel measures length."""
    return text.encode("utf-16-le")


def _cut_text(text: str, longest: int) -> str:
    return _units(text)[: 2 * longest].decode("utf-16-le", "ignore")


def _infinite_cells(frame: "pl.DataFrame") -> list[tuple[int, int, str]]:
    """Return row, column and text of infinite numbers, which Excel lacks; csv has the same text."""
    return [
        (row, column, "inf" if series[row] > 0 else "-inf")
        for column, series in enumerate(frame)
        if series.dtype.is_float()
        for row in nameless(series).is_infinite().arg_true()
    ]


def _held(series: "pl.Series") -> "pl.Series":
    """Make a column representable: blank out non-finite numbers, convert other values to text."""
    import polars as pl

    if series.dtype.is_float():
        return series.set(~series.is_finite().fill_null(True), None)
    if series.dtype.is_integer() and series.len() > series.null_count():
        least, most = cast(int, series.min()), cast(int, series.max())
        return series.cast(pl.String) if max(-least, most) > WHOLE_NUMBERS else series
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        return series.dt.to_string(ISO)
    if series.dtype in (pl.Date, pl.Datetime):
        days = series.cast(pl.Date)
        return (
            series if days.is_between(FIRST_DATE, LAST_DATE).all() else series.dt.to_string("iso")
        )
    return series


def _cut(frame: "pl.DataFrame") -> tuple["pl.DataFrame", list[str]]:
    """Shorten texts to the limit of a cell, and return the names of the affected columns."""
    import polars as pl

    found = []
    for series in frame:
        if series.dtype != pl.String:
            continue
        # A character has at most two UTF-16 units.
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
