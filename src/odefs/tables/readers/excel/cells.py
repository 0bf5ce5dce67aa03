"""Cells of a sheet through fastexcel, with types that lose no cell.

Types are inferred from all rows, numbers in text columns keep their digits, and times of day are
read as times.
"""

import logging
import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs.tables.polars_names import is_pattern
from odefs.tables.readers.layout.cells import Grid
from odefs.tables.readers.layout.find import Layout

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataType, DataTypeClass

    PolarsTypes = dict[str, DataType | DataTypeClass]

Options = dict[str, Any]
"""Arguments of ``polars.read_excel``."""
DAYS_OF_TIMES = (date(1899, 12, 30), date(1899, 12, 31), date(1900, 1, 1), date(1904, 1, 1))
"""Excel stores a time of day as a fraction of day 0, which readers turn into one of these dates.

The last is day 0 of workbooks from Excel for Mac; their other dates are read correctly.
"""
UNCLEAR = re.compile(r"could not determine dtype for column (.+?)\n?\Z", re.DOTALL)
REPEATED = re.compile(r"_\d+$")
"""What fastexcel adds to a name that occurs again."""
UNNAMED = re.compile(r"__UNNAMED__\d+")
"""Names that fastexcel gives to columns without one."""


def first_row_as_header(read: Options) -> "pl.DataFrame":
    """Read a sheet under the names in its first row that is not blank, with its blank rows."""
    # With empty columns, so that the positions of columns are those of ``text_grid``.
    read = read | {"drop_empty_cols": False}
    try:
        frame = _cells(read)
        is_safe = not any(map(is_pattern, frame.columns))
    except Exception:  # fastexcel's exceptions are not part of its interface
        if not _has_patterns(read):
            raise
        is_safe = False
    return frame if is_safe else _under_other_names(read)


def header_cells(read: Options, names: Sequence[str]) -> list[str]:
    """Return the names in the header as they are in the sheet, given those of fastexcel.

    It adds a number to repeated names, which may also be part of a name.
    """
    if not any(
        (found := REPEATED.search(name)) and name[: found.start()] in names for name in names
    ):
        return list(names)
    import fastexcel

    _, above = _names(read)
    book, sheet = fastexcel.read_excel(read["source"]), read.get("sheet_name", 0)
    header = book.load_sheet(
        sheet, header_row=None, skip_rows=above - 1, n_rows=1, dtypes="string"
    ).to_polars()
    cells = header.row(0) if header.width == len(names) else names
    return [name if cell is None else cell for name, cell in zip(names, cells, strict=True)]


def cells_at(read: Options, layout: Layout, width: int) -> "pl.DataFrame":
    """Read the data of a layout, with its blank rows, under any names."""
    options = {
        "header_row": None,
        "skip_rows": layout.first_row,
        "n_rows": layout.last_row - layout.first_row + 1,
        # Any names that polars does not expand as patterns; the real ones are set by the caller.
        "column_names": [f"\x1f{k}" for k in range(width)],
    }
    frame = _cells(read | {"drop_empty_cols": False, "read_options": options})
    return frame[:, list(layout.columns)]


def text_grid(read: Options) -> tuple[Grid, int]:
    """Return all cells as text, from the first row of the sheet on, and the number of columns.

    The first column is the first with a cell.
    """
    import fastexcel
    import polars as pl

    book = fastexcel.read_excel(read["source"])
    sheet = book.load_sheet(
        read.get("sheet_name", 0), header_row=None, skip_rows=0, dtypes="string"
    )
    frame = pl.DataFrame(sheet)
    filled = [(series.str.strip_chars() != "").fill_null(False).to_numpy() for series in frame]
    mask = np.column_stack(filled) if filled else np.zeros((0, 0), dtype=bool)
    return Grid(_FrameRows(frame), mask), frame.width


class _FrameRows:
    """Rows of a frame, made when they are looked at."""

    def __init__(self, frame: "pl.DataFrame") -> None:
        self._frame = frame

    def __len__(self) -> int:
        return self._frame.height

    def __getitem__(self, row: int) -> tuple[str | None, ...]:
        return self._frame.row(row)


def _cells(read: Options) -> "pl.DataFrame":
    frame, unclear = _read_all(read)
    frame = _with_digits(frame, read, unclear)
    return frame.with_columns([series.dt.time() for series in frame if are_times(series)])


def _names(read: Options) -> tuple[list[str], int]:
    """Return fastexcel's names of all columns, and the number of rows above the first data row.

    Columns with neither a name nor cells are included.
    """
    import fastexcel

    book, sheet = fastexcel.read_excel(read["source"]), read.get("sheet_name", 0)
    table = book.load_sheet(sheet, n_rows=0)
    names = [column.name for column in table.selected_columns]
    # Counts the header row and blank rows above it.
    return names, book.load_sheet(
        sheet, header_row=None, skip_rows=0, n_rows=0
    ).total_height - table.total_height


def _has_patterns(read: Options) -> bool:
    try:
        return any(map(is_pattern, _names(read)[0]))
    except Exception:  # the sheet cannot be read at all
        return False


def _under_other_names(read: Options) -> "pl.DataFrame":
    """Read a sheet whose column names polars would expand as patterns while inferring types."""
    names, above = _names(read)
    given = {f"\x1f{k}" if is_pattern(name) else name: name for k, name in enumerate(names)}
    options = {"header_row": None, "skip_rows": above, "column_names": list(given)}
    frame = _cells(read | {"read_options": options})
    frame.columns = [given[name] for name in frame.columns]
    return frame


def silence_reader() -> None:
    """Keep fastexcel's messages, e.g. on empty columns, off standard error."""
    logger = logging.getLogger("fastexcel")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _read_all(read: Options) -> tuple["pl.DataFrame", "PolarsTypes"]:
    """Read all cells, and columns without a common type, such as dates and durations, as text.

    fastexcel refuses to choose a type for these columns.
    """
    import polars as pl

    # Each error names one column, so a sheet may be read several times.
    text: PolarsTypes = {}
    while True:
        try:
            return pl.read_excel(**read, schema_overrides=text), text
        except Exception as error:  # fastexcel's exceptions are not part of its interface
            unclear = UNCLEAR.search(str(error))
            if unclear is None or unclear[1] in text:
                raise
            text[unclear[1]] = pl.String


def _with_digits(frame: "pl.DataFrame", read: Options, unclear: "PolarsTypes") -> "pl.DataFrame":
    """Restore the digits of numbers in text columns, which fastexcel rounds to nine decimals."""
    import polars as pl

    text = [series for series in frame if series.dtype == pl.String]
    rounded = {series.name: series.cast(pl.Float64, strict=False) for series in text}
    mixed = [name for name, numbers in rounded.items() if numbers.null_count() < numbers.len()]
    if not mixed:
        return frame
    types = unclear | dict.fromkeys(mixed, pl.Float64)
    # fastexcel cannot select columns by names that were passed to it.
    chosen = {} if "read_options" in read else {"columns": list(types)}
    options: dict[str, Any] = {
        **read,
        **chosen,
        "schema_overrides": types,
        "drop_empty_cols": False,
    }
    full = pl.read_excel(**options)
    found = []
    for name in mixed:
        # Text that represents a number, such as 0.50, is equal to it and stays as it is.
        differs = (rounded[name] != full[name]).fill_null(False)
        found.append(frame[name].zip_with(~differs, full[name].cast(pl.String)))
    return frame.with_columns(found)


def are_times(series: "pl.Series") -> bool:
    """Whether cells are times of day, to which the reader has added a date."""
    import polars as pl

    if series.dtype != pl.Datetime or series.null_count() == series.len():
        return False
    return bool(series.drop_nulls().dt.date().is_in(DAYS_OF_TIMES).all())
