"""Rows of a sheet that repeat its header, without which columns get the types of their cells."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odefs.tables.polars_names import nameless
from odefs.tables.readers.excel.cells import are_times
from odefs.tables.readers.layout.repeated_headers import EXAMINED_ROWS, HeaderNames

if TYPE_CHECKING:
    import polars as pl

ZEROS = r"^\s*[-+]?0\d"
"""Whole numbers such as 00123 are codes, whose zeros must not be lost."""
DECIMALS = r"^-?\d{1,15}(\.\d+)?$"
"""Numbers that float64 holds as they are written; longer ones are codes."""
DATES = "%Y-%m-%d %H:%M:%S%.f"
"""Dates in columns of text, as the reader writes them."""
LAST_YEAR_OF_DURATIONS = 1904


def repeated_rows(frame: "pl.DataFrame", names: Sequence[str]) -> list[int]:
    """Return the rows of a sheet that repeat the ``names`` of its columns."""
    import polars as pl

    header = HeaderNames.of(names)
    # A column with its name among the cells is one of text.
    texts = [
        (nameless(series).str.strip_chars(), name)
        for series, name in zip(frame, header.names, strict=True)
        if name and series.dtype == pl.String
    ]
    if not header.are_recognisable or 2 * len(texts) <= header.n_named:
        return []
    n_equal = pl.repeat(0, frame.height, dtype=pl.Int64, eager=True)
    for text, name in texts:
        n_equal += (text == name).fill_null(False).cast(pl.Int64)
    if header.are_values(n_equal.head(EXAMINED_ROWS).to_list()):
        return []
    filled = [_is_filled(series).cast(pl.Int64) for series in frame]
    n_filled = pl.select(pl.sum_horizontal(filled)).to_series()
    candidates = (n_equal > 0).arg_true()
    return [row for row in candidates if header.is_repeated_by(n_equal[row], n_filled[row])]


def _is_filled(series: "pl.Series") -> "pl.Series":
    import polars as pl

    plain = nameless(series)
    if plain.dtype != pl.String:
        return plain.is_not_null()
    return plain.is_not_null() & (plain.str.strip_chars() != "").fill_null(False)


def without_rows(frame: "pl.DataFrame", rows: Sequence[int]) -> "pl.DataFrame":
    """Return a frame in which some rows are blank, and columns have the types of the others."""
    import polars as pl

    kept = ~pl.int_range(frame.height, eager=True).is_in(rows)
    columns = []
    for series in frame:
        plain = nameless(series)
        blanked = plain.zip_with(kept, pl.repeat(None, plain.len(), dtype=plain.dtype, eager=True))
        is_text = plain.dtype == pl.String and blanked.null_count() > plain.null_count()
        columns.append((_typed(blanked) if is_text else blanked).alias(series.name))
    return pl.DataFrame(columns)


def _typed(text: "pl.Series") -> "pl.Series":
    """Convert text to numbers, dates, times or booleans if no cell is lost."""
    import polars as pl

    if text.null_count() == text.len() or text.str.contains(ZEROS).any():
        return text
    booleans = {"true": True, "false": False}
    for dtype in (pl.Int64, pl.Float64, pl.Datetime, pl.Boolean):
        if dtype == pl.Datetime:
            found = text.str.to_datetime(DATES, time_unit="ms", strict=False)
        elif dtype == pl.Boolean:
            found = text.replace_strict(booleans, default=None, return_dtype=dtype)
        elif dtype == pl.Float64 and not text.drop_nulls().str.contains(DECIMALS).all():
            continue
        else:
            found = text.cast(dtype, strict=False)
        if found.null_count() == text.null_count():
            return _dated(found, text) if dtype == pl.Datetime else found
    return text


def _dated(found: "pl.Series", text: "pl.Series") -> "pl.Series":
    """Return times of day, days, or points in time, as the sheet would be read without the rows."""
    if are_times(found):
        return found.dt.time()
    # Durations are written as dates of that time.
    if (found.dt.year() <= LAST_YEAR_OF_DURATIONS).any():
        return text
    return found.dt.date() if (found.dt.date() == found).all() else found
