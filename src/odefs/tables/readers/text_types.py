"""What columns of delimited text hold: whole numbers, numbers, dates, or text. A column takes a type only where that loses no cell.

The decisions are the same for a file that is read at once and for one that comes in batches: the first rows say what a column may be, all rows what it is.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from odefs.tables.readers.polars_names import nameless

ZEROS = r"^\s*[-+]?0\d"
"""Whole numbers such as 00123 are codes, whose zeros must not be lost."""
DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$"
"""The international form. Other forms are recognised later, and told."""
DATE_FORMAT = "%Y-%m-%d %H:%M:%S%.f"
DATE_SAMPLE = 100


def as_type(pl: Any, text: Any, dtype: Any) -> Any:
    """Text as another type, or ``None`` where a cell would be lost."""
    name, text = text.name, nameless(text)
    try:
        if dtype == pl.Datetime:
            found = _as_dates(pl, text)
        elif dtype == pl.Boolean:
            found = text.str.to_lowercase().replace_strict(
                {"true": True, "false": False}, default=None, return_dtype=dtype
            )
        else:
            found = text.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        return None
    return found.alias(name) if found is not None and found.null_count() == text.null_count() else None


def _as_dates(pl: Any, text: Any) -> Any:
    """Dates in the international form alone, whatever stands beside them: polars would choose a form, and a time zone, by the cells of each batch."""
    if not text.str.contains(DATE).all():
        return None
    # Under a name of our own: polars takes "*" and "^...$" for patterns.
    text = text.alias("text")
    length = pl.col("text").str.len_bytes()
    rest = pl.when(length == 10).then(pl.lit(" 00:00:00")).when(length == 16).then(pl.lit(":00")).otherwise(pl.lit(""))
    full = pl.col("text").str.replace("T", " ", literal=True) + rest
    return text.to_frame().select(full.str.to_datetime(DATE_FORMAT, time_unit="us", strict=False)).to_series()


def has_zeros(text: Any) -> bool:
    """Whether there are whole numbers with leading zeros."""
    return bool(nameless(text).str.contains(ZEROS).any())


def first_type(pl: Any, text: Any, dtypes: Iterable[Any]) -> Any:
    """Text as the first type that loses no cell, or as it is."""
    found = (as_type(pl, text, dtype) for dtype in dtypes)
    return next((series for series in found if series is not None), text)


def may_be_dates(text: Any) -> bool:
    """Whether the first known cells are dates."""
    known = nameless(text).drop_nulls().head(DATE_SAMPLE)
    return bool(known.len() and known.str.contains(DATE).all())


class TextTypes:
    """The types of a table's columns, learned batch by batch; ``first`` are the types that its first rows have."""

    def __init__(self, pl: Any, first: Mapping[str, Any], text_columns: Collection[str]) -> None:
        self.pl = pl
        self.whole = [name for name, dtype in first.items() if dtype.is_integer() and name not in text_columns]
        self._codes: set[str] = set()
        self._floats = {name for name, dtype in first.items() if dtype == pl.Float64}
        self._left = {name: self._possible(dtype) for name, dtype in first.items() if name not in text_columns}
        self._unseen = {name for name, dtypes in self._left.items() if dtypes == [pl.Datetime]}

    @property
    def zeros(self) -> list[str]:
        """Columns of whole numbers with leading zeros, which stay text."""
        return [name for name in self.whole if name in self._codes]

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers, once all rows have been seen."""
        return [name for name, dtypes in self._left.items() if dtypes and dtypes[0].is_numeric()]

    def _possible(self, dtype: Any) -> list[Any]:
        pl = self.pl
        if dtype.is_integer():
            return [pl.Int64, pl.Float64]
        return [dtype] if dtype in (pl.Float64, pl.Boolean) else [pl.Datetime]

    def look_at(self, frame: Any) -> None:
        """Give up types that would lose a cell of this batch, whose columns are all text."""
        for name, dtypes in self._left.items():
            text = frame[name]
            if not dtypes or text.null_count() == text.len():
                continue
            self._unseen.discard(name)
            if name in self.whole and has_zeros(text):
                self._codes.add(name)
                dtypes.clear()
            while dtypes and as_type(self.pl, self._stripped(text), dtypes[0]) is None:
                dtypes.pop(0)

    def _stripped(self, text: Any) -> Any:
        """The reader takes numbers with spaces around them where it knows that a column holds numbers."""
        return nameless(text).str.strip_chars(" ").alias(text.name) if text.name in self._floats else text

    def applied(self, frame: Any) -> Any:
        """A batch with the types that are left."""
        chosen = {name: dtypes[0] for name, dtypes in self._left.items() if dtypes and name not in self._unseen}
        return frame.with_columns(
            [as_type(self.pl, self._stripped(frame[name]), dtype) for name, dtype in chosen.items()]
        )
