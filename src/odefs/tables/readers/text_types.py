"""What columns of delimited text hold: whole numbers, numbers, dates, or text. A column takes a type only where that loses no cell.

The decisions are the same for a file that is read at once and for one that comes in batches: the first rows say what a column may be, all rows what it is.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from odefs.system.threads import available_threads, share_tasks
from odefs.tables.readers.polars_names import nameless

if TYPE_CHECKING:
    import polars as pl

ZEROS = r"^\s*[-+]?0\d"
"""Whole numbers such as 00123 are codes, whose zeros must not be lost."""
DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$"
"""The international form. Other forms are recognised later, and told."""
DATE_FORMAT = "%Y-%m-%d %H:%M:%S%.f"


def as_type(text: Any, dtype: Any) -> Any:
    """Text as another type, or ``None`` where a cell would be lost."""
    import polars as pl

    name, text = text.name, nameless(text)
    try:
        if dtype == pl.Datetime:
            found = _as_dates(text)
        elif dtype == pl.Boolean:
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


def _as_dates(text: Any) -> Any:
    """Dates in the international form alone, whatever stands beside them: polars would choose a form, and a time zone, by the cells of each batch."""
    import polars as pl

    if not text.str.contains(DATE).all():
        return None
    # Under a name of our own: polars takes "*" and "^...$" for patterns.
    text = text.alias("text")
    length = pl.col("text").str.len_bytes()
    rest = (
        pl.when(length == 10)
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


def has_zeros(text: Any) -> bool:
    """Whether there are whole numbers with leading zeros."""
    return bool(nameless(text).str.contains(ZEROS).any())


class TextTypes:
    """The types of a table's columns, learned batch by batch.

    ``first`` are the types that the first rows have: they say what a column may be, all rows what
    it is.
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
        self._unseen = {name for name, dtypes in self._left.items() if dtypes == [pl.Datetime]}
        self._converted: dict[str, pl.Series] = {}
        self._converted_of: pl.DataFrame | None = None

    @property
    def zeros(self) -> list[str]:
        """Columns of whole numbers with leading zeros, which stay text."""
        return [name for name in self.whole if name in self._codes]

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers, once all rows have been seen."""
        return [name for name, dtypes in self._left.items() if dtypes and dtypes[0].is_numeric()]

    def look_at(self, frame: "pl.DataFrame") -> None:
        """Give up types that would lose a cell of this batch, whose columns are all text."""
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
        if name in self.whole and has_zeros(text):
            self._codes.add(name)
            dtypes.clear()
        while dtypes:
            series = as_type(self._stripped(text), dtypes[0])
            if series is not None:
                return series
            dtypes.pop(0)
        return None

    def _stripped(self, text: "pl.Series") -> "pl.Series":
        """polars accepts spaces around numbers in a column that it knows to hold numbers."""
        return (
            nameless(text).str.strip_chars(" ").alias(text.name)
            if text.name in self._floats
            else text
        )

    def applied(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        """A batch with the types that are left."""
        known = self._converted if frame is self._converted_of else {}
        chosen = {
            name: dtypes[0]
            for name, dtypes in self._left.items()
            if dtypes and name not in self._unseen
        }
        return frame.with_columns(
            [
                known[name] if name in known else as_type(self._stripped(frame[name]), dtype)
                for name, dtype in chosen.items()
            ]
        )


def _possible(dtype: "pl.DataType") -> list[Any]:
    """Types that a column may have, given the one that its first rows have."""
    import polars as pl

    if dtype.is_integer():
        return [pl.Int64, pl.Float64]
    return [dtype] if dtype in (pl.Float64, pl.Boolean) else [pl.Datetime]
