"""Type inference for columns of delimited text: integers, floats, dates, booleans or text.

A column gets a type only if no cell is lost. The decisions are the same for a file read at once
and in batches: the first rows propose types, all rows must agree.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from odefs.system.threads import available_threads, share_tasks
from odefs.tables.polars_names import nameless

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataType, DataTypeClass

    PolarsType = DataType | DataTypeClass

ZEROS = r"^\s*[-+]?0\d"
"""Whole numbers such as 00123 are codes, whose zeros must not be lost."""
DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$"
"""ISO 8601. Other date formats are recognised later, with a note."""
DAY_LENGTH = len("2025-04-03")
DATE_FORMAT = "%Y-%m-%d %H:%M:%S%.f"


def as_type(text: "pl.Series", dtype: "PolarsType") -> "pl.Series | None":
    """Convert text to another type, or return ``None`` if a cell would be lost."""
    import polars as pl

    name, text = text.name, nameless(text)
    found: pl.Series | None
    try:
        if dtype == pl.Date:
            found = _as_days(text)
        elif dtype == pl.Datetime:
            found = _as_dates(text)
        elif dtype == pl.Boolean:
            # polars infers booleans from TRUE and true, but cannot cast text to them.
            found = text.str.to_lowercase().replace_strict(
                {"true": True, "false": False}, default=None, return_dtype=dtype
            )
        else:
            found = text.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        return None
    return (
        found.alias(name) if found is not None and found.null_count() == text.null_count() else None
    )


def _as_days(text: "pl.Series") -> "pl.Series | None":
    """Parse ISO 8601 dates without times; ``None`` if there are other cells."""
    is_short = bool((text.str.len_bytes() == DAY_LENGTH).all())
    found = _as_dates(text) if is_short else None
    return None if found is None else found.dt.date()


def _as_dates(text: "pl.Series") -> "pl.Series | None":
    """Parse ISO 8601 dates; ``None`` if there are other cells.

    polars would choose a format and a time zone from the cells of each batch.
    """
    import polars as pl

    if not text.str.contains(DATE).all():
        return None
    # Rename: polars takes "*" and "^...$" for patterns.
    text = text.alias("text")
    length = pl.col("text").str.len_bytes()
    rest = (
        pl.when(length == DAY_LENGTH)
        .then(pl.lit(" 00:00:00"))
        .when(length == 16)
        .then(pl.lit(":00"))
        .otherwise(pl.lit(""))
    )
    full = pl.col("text").str.replace("T", " ", literal=True) + rest
    return (
        text.to_frame()
        .select(full.str.to_datetime(DATE_FORMAT, time_unit="us", strict=False))
        .to_series()
    )


def has_zeros(text: "pl.Series") -> bool:
    """Whether there are integers with leading zeros."""
    return bool(nameless(text).str.contains(ZEROS).any())


class TextTypes:
    """Column types of a table, learned batch by batch.

    ``first`` are the types inferred from the first rows.
    """

    def __init__(self, first: Mapping[str, "pl.DataType"], text_columns: Collection[str]) -> None:
        import polars as pl

        self.whole = [
            name for name, dtype in first.items() if dtype.is_integer() and name not in text_columns
        ]
        self._codes: set[str] = set()
        self._floats = {name for name, dtype in first.items() if dtype == pl.Float64}
        self._left = {
            name: _possible(dtype) for name, dtype in first.items() if name not in text_columns
        }
        # Without a single cell nothing contradicts a date, but the column must stay text.
        dates = _dates()
        self._unseen = {name for name, dtypes in self._left.items() if dtypes == dates}
        self._converted: dict[str, pl.Series] = {}
        self._converted_of: pl.DataFrame | None = None

    @property
    def zeros(self) -> list[str]:
        """Columns of integers with leading zeros, which stay text."""
        return [name for name in self.whole if name in self._codes]

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers, once all rows have been seen."""
        return [name for name, dtypes in self._left.items() if dtypes and dtypes[0].is_numeric()]

    def look_at(self, frame: "pl.DataFrame") -> None:
        """Drop types that would lose a cell of this batch, whose columns are all text."""
        found = share_tasks(
            lambda name: self._look_at(frame[name]), list(self._left), available_threads()
        )
        # A table in memory is one batch: its columns need not be converted again.
        self._converted = {series.name: series for series in found if series is not None}
        self._converted_of = frame

    def _look_at(self, text: "pl.Series") -> "pl.Series | None":
        name, dtypes = text.name, self._left[text.name]
        if not dtypes or text.null_count() == text.len():
            return None
        self._unseen.discard(name)
        # A cast to integers would accept 00123 and lose the zeros.
        if name in self.whole and has_zeros(text):
            self._codes.add(name)
            dtypes.clear()
        while dtypes:
            series = self._as_type(text, dtypes[0])
            if series is not None:
                return series
            dtypes.pop(0)
        return None

    def _as_type(self, text: "pl.Series", dtype: "PolarsType") -> "pl.Series | None":
        """Convert text; spaces around floats are stripped.

        polars' csv parser accepts spaces before a float, but a cast does not. Stripping takes
        twenty times as long as the conversion, so only a failed conversion is tried again.
        """
        found = as_type(text, dtype)
        if found is None and text.name in self._floats:
            found = as_type(nameless(text).str.strip_chars(" ").alias(text.name), dtype)
        return found

    def applied(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        """Convert a batch to the remaining types."""
        known = self._converted if frame is self._converted_of else {}
        chosen = {
            name: dtypes[0]
            for name, dtypes in self._left.items()
            if dtypes and name not in self._unseen
        }
        return frame.with_columns(
            [
                known[name] if name in known else self._as_type(frame[name], dtype)
                for name, dtype in chosen.items()
            ]
        )


def _dates() -> list["PolarsType"]:
    """Return the types of dates. Those without a time are written without one."""
    import polars as pl

    return [pl.Date, pl.Datetime]


def _possible(dtype: "pl.DataType") -> list["PolarsType"]:
    """Return candidate types for a column, given the type of its first rows."""
    import polars as pl

    # Rows below the first ones may have fractions, or more digits than Int64 holds.
    if dtype.is_integer():
        return [pl.Int64, pl.Float64]
    # Everything else may be dates, which polars is not asked to parse (see ``_as_dates``).
    return [dtype] if dtype in (pl.Float64, pl.Boolean) else _dates()
