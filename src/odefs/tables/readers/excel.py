"""Reading a sheet of an Excel file so that no cell is lost: types are judged by all rows, numbers among text keep their digits, times of day are times."""

import logging
import re
from datetime import date
from pathlib import Path
from typing import Any

from odefs.tables.readers.excel_limits import require_modest
from odefs.tables.readers.polars_names import is_pattern

DAYS_OF_TIMES = (date(1899, 12, 30), date(1899, 12, 31), date(1900, 1, 1))
"""A time of day is kept as a share of the day that Excel counts from, which readers give one of these dates."""
UNCLEAR = re.compile(r"could not determine dtype for column (.+?)\n?\Z", re.DOTALL)


def read_sheet(source: Path | bytes, sheet: str | None) -> Any:
    """The cells of a sheet, the first by default; rows without any are left out."""
    require_modest(source, sheet)
    _silence_reader()
    read: dict[str, Any] = {"source": source, "infer_schema_length": None, "drop_empty_rows": False}
    if sheet:
        read["sheet_name"] = sheet
    try:
        frame = _cells(read)
        is_safe = not any(map(is_pattern, frame.columns))
    except Exception:  # of a kind that only the reader behind polars has
        if not _has_patterns(read):
            raise
        is_safe = False
    return frame if is_safe else _under_other_names(read)


def _cells(read: dict[str, Any]) -> Any:
    import polars as pl

    frame, unclear = _read_all(read)
    frame = _with_digits(frame, read, unclear)
    frame = frame.with_columns([series.dt.time() for series in frame if _are_times(series)])
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame


def _names(read: dict[str, Any]) -> tuple[list[str], int]:
    """All columns of the sheet as the reader behind polars calls them, also those that have neither a name nor cells, and the number of rows before the first cells."""
    import fastexcel

    book, sheet = fastexcel.read_excel(read["source"]), read.get("sheet_name", 0)
    table = book.load_sheet(sheet, n_rows=0)
    names = [column.name for column in table.selected_columns]
    # The row of names, and blank ones above it.
    return names, book.load_sheet(
        sheet, header_row=None, skip_rows=0, n_rows=0
    ).total_height - table.total_height


def _has_patterns(read: dict[str, Any]) -> bool:
    try:
        return any(map(is_pattern, _names(read)[0]))
    except Exception:  # the sheet cannot be read at all
        return False


def _under_other_names(read: dict[str, Any]) -> Any:
    """A sheet with names that polars takes for patterns, which it would look for among the columns to judge their types."""
    names, above = _names(read)
    given = {f"\x1f{k}" if is_pattern(name) else name: name for k, name in enumerate(names)}
    options = {"header_row": None, "skip_rows": above, "column_names": list(given)}
    frame = _cells(read | {"read_options": options})
    frame.columns = [given[name] for name in frame.columns]
    return frame


def _silence_reader() -> None:
    """Without a handler Python shows on standard error what the reader logs, such as that a column is empty."""
    logger = logging.getLogger("fastexcel")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _read_all(read: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """All cells, and the columns whose cells have no type in common, dates and durations for instance, as text: the reader refuses to choose."""
    import polars as pl

    text: dict[str, Any] = {}
    while True:
        try:
            return pl.read_excel(**read, schema_overrides=text), text
        except Exception as error:  # of a kind that only the reader behind polars has
            unclear = UNCLEAR.search(str(error))
            if unclear is None or unclear[1] in text:
                raise
            text[unclear[1]] = pl.String


def _with_digits(frame: Any, read: dict[str, Any], unclear: dict[str, Any]) -> Any:
    """Numbers in columns that hold text too: the reader rounds them to nine decimals, unless it is asked for numbers."""
    import polars as pl

    text = [series for series in frame if series.dtype == pl.String]
    rounded = {series.name: series.cast(pl.Float64, strict=False) for series in text}
    mixed = [name for name, numbers in rounded.items() if numbers.null_count() < numbers.len()]
    if not mixed:
        return frame
    types = unclear | dict.fromkeys(mixed, pl.Float64)
    # The reader does not choose among columns that it was given names for.
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
        # Text that is a number, such as 0.50, is equal to it and stays as it is.
        differs = (rounded[name] != full[name]).fill_null(False)
        found.append(frame[name].zip_with(~differs, full[name].cast(pl.String)))
    return frame.with_columns(found)


def _are_times(series: Any) -> bool:
    """Whether cells are times of day, to which the reader has put a date."""
    import polars as pl

    if series.dtype != pl.Datetime or series.null_count() == series.len():
        return False
    return bool(series.drop_nulls().dt.date().is_in(DAYS_OF_TIMES).all())
