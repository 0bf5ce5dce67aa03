"""Excel reader for one sheet, which loses no cell.

Types are inferred from all rows, numbers in text columns keep their digits, and times of day are
read as times.
"""

import logging
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odefs.tables.readers.excel_limits import require_modest
from odefs.tables.readers.polars_names import is_pattern

if TYPE_CHECKING:
    import polars as pl

DAYS_OF_TIMES = (date(1899, 12, 30), date(1899, 12, 31), date(1900, 1, 1))
"""Excel stores a time of day as a fraction of day 0, which readers turn into one of these dates."""
UNCLEAR = re.compile(r"could not determine dtype for column (.+?)\n?\Z", re.DOTALL)


def read_sheet(source: Path | bytes, sheet: str | None) -> "pl.DataFrame":
    """Read a sheet, by default the first; empty rows are dropped."""
    require_modest(source, sheet)
    _silence_reader()
    read: dict[str, Any] = {"source": source, "infer_schema_length": None, "drop_empty_rows": False}
    if sheet:
        read["sheet_name"] = sheet
    try:
        frame = _cells(read)
        is_safe = not any(map(is_pattern, frame.columns))
    except Exception:  # fastexcel's exceptions are not part of its interface
        if not _has_patterns(read):
            raise
        is_safe = False
    return frame if is_safe else _under_other_names(read)


def _cells(read: dict[str, Any]) -> "pl.DataFrame":
    import polars as pl

    frame, unclear = _read_all(read)
    frame = _with_digits(frame, read, unclear)
    frame = frame.with_columns([series.dt.time() for series in frame if _are_times(series)])
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame


def _names(read: dict[str, Any]) -> tuple[list[str], int]:
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


def _has_patterns(read: dict[str, Any]) -> bool:
    try:
        return any(map(is_pattern, _names(read)[0]))
    except Exception:  # the sheet cannot be read at all
        return False


def _under_other_names(read: dict[str, Any]) -> "pl.DataFrame":
    """Read a sheet whose column names polars would expand as patterns while inferring types."""
    names, above = _names(read)
    given = {f"\x1f{k}" if is_pattern(name) else name: name for k, name in enumerate(names)}
    options = {"header_row": None, "skip_rows": above, "column_names": list(given)}
    frame = _cells(read | {"read_options": options})
    frame.columns = [given[name] for name in frame.columns]
    return frame


def _silence_reader() -> None:
    """Keep fastexcel's messages, e.g. on empty columns, off standard error."""
    logger = logging.getLogger("fastexcel")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _read_all(read: dict[str, Any]) -> tuple["pl.DataFrame", dict[str, Any]]:
    """Read all cells, and columns without a common type, such as dates and durations, as text.

    fastexcel refuses to choose a type for these columns.
    """
    import polars as pl

    text: dict[str, Any] = {}
    while True:
        try:
            return pl.read_excel(**read, schema_overrides=text), text
        except Exception as error:  # fastexcel's exceptions are not part of its interface
            unclear = UNCLEAR.search(str(error))
            if unclear is None or unclear[1] in text:
                raise
            text[unclear[1]] = pl.String


def _with_digits(
    frame: "pl.DataFrame", read: dict[str, Any], unclear: dict[str, Any]
) -> "pl.DataFrame":
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


def _are_times(series: "pl.Series") -> bool:
    """Whether cells are times of day, to which the reader has added a date."""
    import polars as pl

    if series.dtype != pl.Datetime or series.null_count() == series.len():
        return False
    return bool(series.drop_nulls().dt.date().is_in(DAYS_OF_TIMES).all())
