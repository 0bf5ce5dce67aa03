"""Where a table is in its file, as given by the user, instead of found from the cells."""

import re
from dataclasses import dataclass

from odefs.exceptions import TableError

MAX_LETTERS, MAX_DIGITS = 3, 7
_RANGE = re.compile(r"\$?([A-Za-z]+)\$?(\d*):\$?([A-Za-z]+)\$?(\d*)")


@dataclass(frozen=True)
class CellRange:
    """Rows and columns of a sheet, from 0; both ends are part of it, ``None`` means the last."""

    first_row: int
    last_row: int | None
    first_column: int
    last_column: int

    @classmethod
    def parse(cls, text: str) -> "CellRange":
        """Parse a range such as ``A3:H200``, ``A3:H`` or ``A:H``."""
        found = _RANGE.fullmatch(text.strip())
        if found is None or max(map(len, found.group(1, 3))) > MAX_LETTERS:
            raise TableError(f"{text!r} is not a range of cells such as A3:H200.")
        if max(map(len, found.group(2, 4))) > MAX_DIGITS:
            raise TableError(f"{text!r} has more rows than a sheet.")
        left, right = column_number(found[1]), column_number(found[3])
        top = int(found[2] or 1) - 1
        bottom = int(found[4]) - 1 if found[4] else None
        if left > right or top < 0 or (bottom is not None and bottom < top):
            raise TableError(f"{text!r} is not a range of cells: it ends before it begins.")
        return cls(top, bottom, left, right)


def column_number(letters: str) -> int:
    """Return the number of a column from 0: 0 for A, 26 for AA."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def column_letters(number: int) -> str:
    """Return the letters of a column numbered from 0."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@dataclass(frozen=True)
class Placement:
    """Which rows of a file are the table; by default, it is found."""

    skip_rows: int = 0
    """Rows at the top of the file that are not looked at."""
    header_row: int | None = None
    """Row with the column names, from 1 as a spreadsheet shows it."""
    cells: CellRange | None = None

    @property
    def is_given(self) -> bool:
        return self.skip_rows > 0 or self.header_row is not None or self.cells is not None


FOUND = Placement()
"""The table is found from the cells."""
