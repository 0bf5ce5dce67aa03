"""The header of a text file: the names of its columns, and whether there is a header at all.

polars reads the names itself, and the columns are renamed afterwards. Where it would leave a column
without a name, or would reject the names, it is given the table with a header line of unique names.
"""

import csv
import io
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from odefs.tables.notes import Note
from odefs.tables.readers.compression import beginning
from odefs.tables.readers.layout.column_names import ColumnNames, numbered
from odefs.tables.readers.text.dialect import (
    BYTEWISE,
    HEAD_BYTES,
    LINES,
    Dialect,
    long_cells,
    opened,
    rows_of,
)
from odefs.tables.writers.formulas import is_own, restored_name

BYTE_MARK = b"\xef\xbb\xbf"
COPIED_BYTES = 2**20
STAND_INS = "\x1e\x1d\x1c\x1b"
"""Characters that exist in every encoding; one of them replaces quotes in the names given to
polars, which would show them doubled, as in the file."""
FEWEST_ROWS, NUMERIC, INSIDE = 10, 0.9, 0.75
"""A first line is read as a row if there are enough rows below, columns with a number in it have
this share of numbers, and this share of its numbers lies between those below."""
MANY_NUMBERS = 5
"""Integers of a first line that are hardly all names."""
LONG_SERIES = 4
"""Steps in one direction that the numbers of a row hardly have by chance."""
_NUMBER = re.compile(r"^\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*$", re.ASCII)
"""Digits can be matched in one way only, so matching fails fast on a long line."""


@dataclass(frozen=True)
class Header:
    """The first line as given, the column names, and the line in which the first row begins."""

    given: tuple[str, ...]
    columns: ColumnNames
    line: int
    is_there: bool = True
    is_own: bool = False
    """Whether odefs wrote the file, with apostrophes in front of cells that could be formulas."""
    recurring: frozenset[str] = frozenset()
    """Names that are also cells of their column, in the first rows."""

    @property
    def n_restored(self) -> int:
        """Number of names that start with an apostrophe only to keep them from being formulas."""
        return sum(restored_name(name) != name for name in self.given) if self.is_own else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the columns are used."""
        return self.columns.used

    @cached_property
    def is_plain(self) -> bool:
        """Whether polars accepts the names in the file, so that it can be read as is."""
        # polars numbers repeated names itself, and fails if a column has the resulting name. It
        # keeps doubled quotes in names as they are in the file.
        polars = list(_as_polars(self.given))
        return (
            self.is_there
            and len(set(polars)) == len(polars)
            and all(name.strip() and '"' not in name for name in self.given)
        )

    def handed(self, name: str) -> str:
        """Return the name that polars has for a column."""
        return self._handed.get(name, name)

    def own(self, handed: str) -> str:
        """Return the real name of a column from the name that polars has."""
        return self._own.get(handed, handed)

    @cached_property
    def _handed(self) -> dict[str, str]:
        if self.is_plain:
            return dict(zip(self.names, _as_polars(self.given), strict=True))
        mark = next(
            (mark for mark in STAND_INS if not any(mark in name for name in self.names)),
            STAND_INS[-1],
        )
        return {name: name.replace('"', mark) for name in self.names}

    @cached_property
    def _own(self) -> dict[str, str]:
        return {handed: name for name, handed in self._handed.items()}

    @property
    def may_be_data(self) -> bool:
        """Whether the names are numbers and text that occurs in the rows below.

        Excepted are 0, 1, 2, ..., which pandas writes by default.
        """
        counted = tuple(map(str, range(len(self.given))))
        text = {name for name in self.given if not _NUMBER.match(name)}
        is_data = len(text) < len(self.given) and text <= self.recurring
        return self.is_there and is_data and self.given != counted

    @property
    def numbers(self) -> list[str]:
        """Columns whose names in the file are numbers."""
        pairs = zip(self.given, self.names, strict=True)
        return [name for given, name in pairs if _NUMBER.match(given)]

    @property
    def notes(self) -> list[Note]:
        """Notes on missing and repeated names."""
        return self.columns.notes if self.is_there else []


def read_header(source: Path | bytes, dialect: Dialect, expected: Collection[str] = ()) -> Header:
    """Take names from the first line that is not blank; without a header, number the columns.

    ``expected`` are names that stay as they are in the file.
    """
    with opened(source, dialect) as text:
        reader = rows_of(text, dialect)
        given = next((tuple(row) for row in reader if row), ())
        if not dialect.header:
            return Header(given, ColumnNames(given, numbered(len(given))), 1, is_there=False)
        line = reader.line_num + 1
        own = is_own(given, None) and is_own(given, next((row for row in reader if row), None))
        real = tuple(map(restored_name, given)) if own else given
        columns = ColumnNames.of(real, expected, strips=not own)
        recurring = _recurring(source, dialect, given)
        return Header(given, columns, line, is_own=own, recurring=recurring)


def _recurring(source: Path | bytes, dialect: Dialect, given: Sequence[str]) -> frozenset[str]:
    """Return the names that are also cells of their column; none if no name is a number."""
    if not any(map(_NUMBER.match, given)):
        return frozenset()
    below = _rows_below(source, dialect)
    return frozenset(
        name
        for place, name in enumerate(given)
        if name.strip() and any(len(row) > place and row[place] == name for row in below)
    )


def _rows_below(source: Path | bytes, dialect: Dialect) -> list[list[str]]:
    """Return the first rows below the first line."""
    # A quote that is never closed must not read the whole file.
    text = beginning(source, HEAD_BYTES).decode(dialect.encoding, errors="replace")
    with long_cells():
        rows = list(csv.reader(text.splitlines()[:LINES], delimiter=dialect.separator))
    return [row for row in rows if row][1:]


def is_row(source: Path | bytes, dialect: Dialect, header: Header, named: Collection[str]) -> bool:
    """Whether the first line is certainly a row: its numbers are like those of their columns.

    Years, and other numbers that rise or fall from column to column, are names. So are words of
    the first line that options use (``named``).
    """
    if not header.may_be_data or not set(header.given).isdisjoint(named):
        return False
    below = _rows_below(source, dialect)
    numbers = {k: float(name) for k, name in enumerate(header.given) if _NUMBER.match(name)}
    are_all = len(numbers) == len(header.given)
    if len(below) < FEWEST_ROWS or (are_all and _is_scale(list(numbers.values()))):
        return False
    return _is_distinctive(header.given, numbers) and _are_like_columns(numbers, below)


def _is_distinctive(given: Sequence[str], numbers: Mapping[int, float]) -> bool:
    """Whether the first line has what names hardly have: text, fractions, repeats, many numbers.

    Its text occurs in the rows (``may_be_data``). A few integers may be sizes or distances.
    """
    has_text = len(numbers) < len(given)
    has_fraction = any(not number.is_integer() for number in numbers.values())
    return has_text or has_fraction or len(set(given)) < len(given) or len(numbers) >= MANY_NUMBERS


def _are_like_columns(numbers: Mapping[int, float], rows: Sequence[Sequence[str]]) -> bool:
    """Whether columns hold numbers, and most of the given ones, by column, lie between them."""
    columns = [_numbers_at(rows, place) for place in numbers]
    if not all(columns):
        return False
    pairs = zip(numbers.values(), columns, strict=True)
    inside = sum(min(known) <= number <= max(known) for number, known in pairs)
    return inside >= INSIDE * len(numbers)


def _numbers_at(rows: Sequence[Sequence[str]], place: int) -> list[float]:
    """Return the numbers of a column; none if too many of its cells are text."""
    cells = [row[place] for row in rows if len(row) > place and row[place].strip()]
    known = [float(cell) for cell in cells if _NUMBER.match(cell)]
    return known if len(known) >= NUMERIC * len(cells) else []


def _is_scale(numbers: Sequence[float]) -> bool:
    """Whether numbers are years, equal steps, or a longer series that only rises or only falls."""
    steps = [after - before for before, after in pairwise(numbers)]
    if not steps or not (min(steps) > 0 or max(steps) < 0):
        return False
    are_years = all(number.is_integer() and 1800 <= number <= 2100 for number in numbers)
    is_even = len(steps) > 1 and max(steps) - min(steps) <= 1e-6 * abs(steps[0])
    return are_years or is_even or len(steps) >= LONG_SERIES


def has_numbered_names(source: Path | bytes, dialect: Dialect) -> bool:
    """Whether a table expected to have no header starts with the names it would be given.

    This is the case for output that odefs wrote for such a table.
    """
    given = read_header(source, replace(dialect, header=True)).given
    return given == numbered(len(given))


def _as_polars(given: Sequence[str]) -> Iterator[str]:
    # polars' own names for repeated columns, which it does not let callers choose.
    before: Counter[str] = Counter()
    for name in given:
        yield f"{name}_duplicated_{before[name] - 1}" if before[name] else name
        before[name] += 1


def under_names(
    source: Path | bytes, dialect: Dialect, header: Header
) -> tuple[Path | bytes, Dialect]:
    """Return what polars should read: the file, or its content under unique names."""
    if header.is_plain:
        return source, dialect
    if dialect.encoding not in BYTEWISE:
        with opened(source, dialect) as text:
            source, dialect = (
                text.read().encode(errors="replace"),
                replace(dialect, encoding="utf-8"),
            )
    out = io.BytesIO()
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
        _copy(content, out, dialect, header)
    return out.getvalue(), dialect


def copied_under_names(source: Path, target: Path, dialect: Dialect, header: Header) -> Path:
    """Like :func:`under_names`, for files."""
    if header.is_plain:
        return source
    with open(source, "rb") as content, open(target, "wb") as out:
        _copy(content, out, dialect, header)
    return target


def _copy(content: BinaryIO, out: BinaryIO, dialect: Dialect, header: Header) -> None:
    names = io.StringIO()
    csv.writer(names, delimiter=dialect.separator, lineterminator="\n").writerow(
        map(header.handed, header.names)
    )
    out.write(names.getvalue().encode(dialect.encoding, errors="replace"))
    # Behind the new header, the mark would be part of the first cell of a file without a header.
    if content.read(len(BYTE_MARK)) != BYTE_MARK:
        content.seek(0)
    for _ in range(header.line - 1):
        content.readline()
    shutil.copyfileobj(content, out, COPIED_BYTES)
