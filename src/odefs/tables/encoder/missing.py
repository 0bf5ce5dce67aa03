"""Missing cells: words that mean "missing", and text that cannot be read as its column's type."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.encoder.text_formats import is_missing_value, is_missing_word
from odefs.tables.frames.columns import LARGE, Column, Kind
from odefs.tables.messages import KIND_NAMES

MAX_UNREADABLE_SHARE = 0.5


def without_words(column: Column, words: Collection[str]) -> Column:
    """Turn words that mean "missing" into missing cells."""
    if column.kind == "category":
        return _without_levels(column, words)
    numbers = numbers_in(words)
    if not numbers:
        return column
    absent = np.isin(column.values, numbers)
    exact = column.exact
    if exact is not None:
        # Compare all digits of integers that float64 cannot distinguish.
        exact = without_words(exact, words)
        absent = np.where(np.abs(column.values) >= LARGE, exact.missing, absent)
        exact = replace(exact, codes=np.where(absent, -1, exact.category_codes))
    return replace(column, numbers=np.where(absent, np.nan, column.values), exact=exact)


def _without_levels(column: Column, words: Collection[str]) -> Column:
    kept = [
        k for k, level in enumerate(column.levels) if not (level in words or is_missing_word(level))
    ]
    return _with_levels(column, kept)


def without_codes(column: Column) -> Column:
    """Turn the codes for "missing" in text that is read as numbers or dates into missing cells."""
    kept = [k for k, level in enumerate(column.levels) if not is_missing_value(level)]
    return _with_levels(column, kept)


def _with_levels(column: Column, kept: Sequence[int]) -> Column:
    """Return a column of categories in which all others are missing."""
    if len(kept) == len(column.levels):
        return column
    place = np.full(len(column.levels) + 1, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    return replace(
        column, codes=place[column.category_codes], levels=tuple(column.levels[i] for i in kept)
    )


def numbers_in(words: Collection[str]) -> list[float]:
    """Return the words that are numbers."""
    return [float(word) for word in words if _is_number(word)]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass
class Lost:
    """Counts cells of a column that could not be read, over all batches so far."""

    cells: int = 0
    known: int = 0
    first: float | str | None = None

    def add(self, column: Column, read: Column, na: Collection[str] = ()) -> None:
        """Compare the cells of a column before and after reading."""
        # Cells that were missing before reading are not lost by it.
        column = without_words(column, na)
        if column.kind == "category" and read.kind != "category":
            column = without_codes(column)
        lost = np.flatnonzero(read.missing & ~column.missing)
        if lost.size and not self.cells:
            self.first = column.at(int(lost[0]))
        self.cells += lost.size
        self.known += int((~column.missing).sum())

    def add_text(self, column: Column, read: Column, na: Collection[str] = ()) -> None:
        """Count text cells that should be numbers, times or booleans; others are not converted."""
        if column.kind == "category" and read.kind != "category":
            self.add(column, read, na)

    @property
    def are_most(self) -> bool:
        return self.cells > MAX_UNREADABLE_SHARE * self.known

    def require_few(self, name: str, kind: Kind, style: str) -> None:
        """Raise if most cells could not be read.

        ``style`` is the text format in training, if the column was text.
        """
        if self.are_most:
            held = style or KIND_NAMES[kind]
            raise TableError(
                f"column {name!r} held {held} in training, but most values here are not "
                f"(first: {self.first!r})."
            )


def is_mostly_unreadable(column: Column, read: Column, na: Collection[str] = ()) -> bool:
    """Whether most of the cells that are not missing could not be read."""
    lost = Lost()
    lost.add(column, read, na)
    return lost.are_most
