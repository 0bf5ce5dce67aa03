"""Whether the first line of a text file is a row, or has the names of the columns.

A row that is read as names is lost, which a note tells; names that are read as a row are lost for
all columns. So the first line is a row only if its cells are like those below it.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path

from odefs.tables.readers.compression import beginning
from odefs.tables.readers.layout.cells import is_absent
from odefs.tables.readers.text.dialect import HEAD_BYTES, LINES, Dialect, long_cells, split_lines

FEWEST_ROWS, NUMERIC, INSIDE = 10, 0.9, 0.75
"""A first line is read as a row if there are enough rows below, columns with a number in it have
this share of numbers, and this share of its numbers lies between those below."""
MANY_NUMBERS = 5
"""Integers of a first line that are hardly all names."""
LONG_SERIES = 3
"""Steps in one direction that the numbers of a row rarely have by chance."""
RARE_SPELLING = 0.05
"""How often rows have numbers of so many decimals, relative to the most frequent ones."""
_NUMBER = re.compile(
    r"^\s*[-+]?(\d+(\.\d*)?|\.\d+|(\d{1,3}(\.\d{3})+|\d+),\d+)([eE][-+]?\d+)?\s*$", re.ASCII
)
"""With a decimal point or comma. Matching fails fast on a long line of digits."""
_DATE = re.compile(r"^\s*\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T].*)?$", re.ASCII)
_TIME = re.compile(r"^\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*$", re.ASCII)


@dataclass(frozen=True)
class FirstLine:
    """The cells of a first line, and the first rows below it."""

    cells: tuple[str, ...]
    below: Sequence[Sequence[str]]

    @classmethod
    def of(cls, source: Path | bytes, dialect: Dialect, cells: tuple[str, ...]) -> "FirstLine":
        """Read the rows below, unless the first line has names alone."""
        has_values = any(_NUMBER.match(cell) or _is_date_or_time(cell) for cell in cells)
        return cls(cells, _rows_below(source, dialect) if has_values else ())

    @cached_property
    def numbers(self) -> dict[int, float]:
        """The numbers of the line, by column."""
        return {k: _as_float(cell) for k, cell in enumerate(self.cells) if _NUMBER.match(cell)}

    @property
    def may_be_row(self) -> bool:
        """Whether the line looks like a row, though it may be the header.

        Excepted are 0, 1, 2, ..., which pandas writes by default.
        """
        if self.cells == tuple(map(str, range(len(self.cells)))) or not self._has_numeric_columns:
            return False
        return self._is_all_data or self._is_mostly_data

    @property
    def is_row(self) -> bool:
        """Whether the line is certainly a row: its numbers are like those of their columns.

        Years, and other numbers that rise or fall from column to column, are names.
        """
        if len(self.below) < FEWEST_ROWS or not (self.may_be_row and self._is_all_data):
            return False
        if any(map(_DATE.match, self.cells)):
            return all(map(self._numbers_below, self.numbers))
        is_scale = len(self.numbers) == len(self.cells) and self._is_scale
        return not is_scale and self._is_distinctive and self._is_like_columns

    @property
    def _has_numeric_columns(self) -> bool:
        """Whether the columns of most numbers hold numbers."""
        n_numeric = sum(map(bool, map(self._numbers_below, self.numbers)))
        return 2 * n_numeric > len(self.numbers) or (not self.numbers and bool(self._dates))

    @property
    def _is_all_data(self) -> bool:
        """Whether all cells are numbers, dates above dates, or text that occurs below."""
        known = self.numbers.keys() | self._dates
        return all(k in known or self._recurs(k) for k in range(len(self.cells)))

    @property
    def _is_mostly_data(self) -> bool:
        """Whether most cells are numbers like those of their columns, next to text such as a key.

        Text above numbers or dates is a name, and whole numbers that rise or fall next to text are
        years or sizes.
        """
        others = set(range(len(self.cells))) - self.numbers.keys() - self._dates
        is_mostly = 2 * len(self.numbers) > len(self.cells) and self._is_like_columns
        if not is_mostly or any(map(self._has_values_below, others)):
            return False
        is_whole = all(number.is_integer() for number in self.numbers.values())
        return not self._is_scale and not (is_whole and _is_monotonic(_steps(self.numbers)))

    def _has_values_below(self, place: int) -> bool:
        """Whether a column holds numbers or dates."""
        return bool(self._numbers_below(place)) or self._is_column_of_dates(place)

    @cached_property
    def _dates(self) -> frozenset[int]:
        """Columns of dates or times that have one in the first line, too."""
        places = (k for k, cell in enumerate(self.cells) if _is_date_or_time(cell))
        return frozenset(k for k in places if self._is_column_of_dates(k))

    def _is_column_of_dates(self, place: int) -> bool:
        cells = self._cells_below(place)
        return bool(cells) and sum(map(_is_date_or_time, cells)) >= NUMERIC * len(cells)

    def _recurs(self, place: int) -> bool:
        cell = self.cells[place]
        return bool(cell.strip()) and any(row[place : place + 1] == [cell] for row in self.below)

    def _cells_below(self, place: int) -> list[str]:
        """Return the cells of a column that are not missing."""
        cells = (row[place] for row in self.below if len(row) > place)
        return [cell for cell in cells if not is_absent(cell.strip())]

    def _numbers_below(self, place: int) -> list[str]:
        """Return the numbers of a column; none if too many of its cells are text."""
        cells = self._cells_below(place)
        known = [cell for cell in cells if _NUMBER.match(cell)]
        return known if len(known) >= NUMERIC * len(cells) else []

    @property
    def _is_distinctive(self) -> bool:
        """Whether the line has what names hardly have: text, fractions, repeats, many numbers.

        Its text occurs in the rows. A few integers may be sizes or distances.
        """
        if not self.numbers:
            return False
        has_text = len(self.numbers) < len(self.cells)
        has_fraction = any(not number.is_integer() for number in self.numbers.values())
        has_repeats = len(set(self.cells)) < len(self.cells)
        return has_text or has_fraction or has_repeats or len(self.numbers) >= MANY_NUMBERS

    @property
    def _is_like_columns(self) -> bool:
        """Whether columns hold numbers, and most of the given ones, by column, lie between them."""
        columns = [list(map(_as_float, self._numbers_below(place))) for place in self.numbers]
        if not all(columns):
            return False
        pairs = zip(self.numbers.values(), columns, strict=True)
        inside = sum(min(known) <= number <= max(known) for number, known in pairs)
        return inside >= INSIDE * len(self.numbers)

    @property
    def _is_scale(self) -> bool:
        """Whether numbers only rise or only fall, and are years, equal steps, or unlike a row.

        A row of three numbers does so in one of three cases, and of two in all. Then decide the
        decimals: ``18.5,25,30`` is hardly a row above numbers with two decimals each.
        """
        steps = _steps(self.numbers)
        if not _is_monotonic(steps):
            return False
        values = self.numbers.values()
        are_years = all(number.is_integer() and 1800 <= number <= 2100 for number in values)
        is_even = len(steps) > 1 and max(steps) - min(steps) <= 1e-6 * abs(steps[0])
        return are_years or is_even or len(steps) >= LONG_SERIES or self._is_spelled_unusually

    @property
    def _is_spelled_unusually(self) -> bool:
        """Whether rows hardly have numbers of so many decimals in these columns."""
        return prod(map(self._share_of_spelling, self.numbers)) < RARE_SPELLING

    def _share_of_spelling(self, place: int) -> float:
        """Return how often numbers have as many decimals, relative to the most frequent ones."""
        counts = Counter(map(_n_decimals, self._numbers_below(place)))
        return counts[_n_decimals(self.cells[place])] / max(counts.values(), default=1)


def _rows_below(source: Path | bytes, dialect: Dialect) -> list[list[str]]:
    """Return the first rows below the first line."""
    # A quote that is never closed must not read the whole file.
    head = beginning(source, HEAD_BYTES)
    lines = split_lines(head.decode(dialect.encoding, errors="replace"))
    # The last line is probably cut off.
    if len(head) == HEAD_BYTES:
        lines.pop()
    with long_cells():
        ended = (f"{line}\n" for line in lines[:LINES])  # cells may have line feeds
        rows = list(csv.reader(ended, delimiter=dialect.delimiter))
    return [row for row in rows if row][1:]


def _is_date_or_time(cell: str) -> bool:
    return bool(_DATE.match(cell) or _TIME.match(cell))


def _as_float(number: str) -> float:
    if "," in number:
        number = number.replace(".", "").replace(",", ".")
    return float(number)


def _n_decimals(number: str) -> int:
    return len(number.strip().replace(",", ".").partition(".")[2])


def _steps(numbers: Mapping[int, float]) -> list[float]:
    return [after - before for before, after in pairwise(numbers.values())]


def _is_monotonic(steps: Sequence[float]) -> bool:
    """Whether numbers only rise or only fall."""
    return bool(steps) and (min(steps) > 0 or max(steps) < 0)
