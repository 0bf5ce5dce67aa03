"""Options on how a file is read, where its table is, and whether they apply to a kind of file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from odefs.exceptions import TableError
from odefs.tables.readers.file_kinds import EXCEL, TEXT

# The last cell of a sheet is XFD1048576.
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


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file."""

    sheet: str | None = None
    """Sheet of a workbook, by default the first."""
    text_columns: Sequence[str] = ()
    """Columns of a text file that are not converted to numbers."""
    delimiter: str | None = None
    least_rows: int = 2
    header: bool | None = True
    """Whether the first line of a text file contains the names. ``None``: it does not, as in
    training, unless it equals the names that were generated in training."""
    skip_rows: int = 0
    """Rows of a sheet, or lines of a text file, at its top that are not looked at."""
    header_row: int | None = None
    """Row of a sheet, or line of a text file, with the column names, from 1."""
    cell_range: str | None = None
    """Cells of a sheet, such as ``A3:H200``, with the names in the first row."""
    expected_names: Sequence[str] = ()
    """Names that the header probably has, for example those of a saved model."""
    named_columns: Sequence[str] = ()
    """Columns that options name."""
    keeps_spaces: bool | None = None
    """Whether cells of a text file keep spaces at delimiters, as in training. ``None``: they do
    not if all have them."""

    @property
    def kept_names(self) -> frozenset[str]:
        """Names that are used as they are in the file, with space around them."""
        return frozenset((*self.expected_names, *self.text_columns, *self.named_columns))

    @property
    def placement(self) -> Placement:
        """Where the table is in its file."""
        cells = None if self.cell_range is None else CellRange.parse(self.cell_range)
        return Placement(self.skip_rows, self.header_row, cells)

    table: str | None = None
    """Table of a database, member of a zip archive, or key of a JSON document."""
    query: str | None = None
    """SQL query of a database."""


PLAIN = ReadOptions()


def check_options(name: str, suffix: str, options: ReadOptions) -> None:
    """Raise if an option does not apply to this kind of file, or options contradict each other."""
    has_range, is_headless = options.cell_range is not None, options.header is False
    rules = (
        (options.sheet is not None, EXCEL, "--sheet is for Excel files."),
        (options.delimiter is not None, TEXT, "--delimiter is for csv and other delimited text."),
        (is_headless, TEXT, "--no-header is for csv and other delimited text."),
        (has_range, EXCEL, "--range is for Excel files; text files have --skip-rows."),
    )
    for is_given, suffixes, rule in rules:
        if is_given and suffix not in suffixes:
            raise TableError(f"{name}: {rule}")
    _check_placement(name, suffix, options)


def _check_placement(name: str, suffix: str, options: ReadOptions) -> None:
    """Raise if rows are given for a file without rows, or the place of the table twice."""
    by_rows = {"--skip-rows": options.skip_rows, "--header-row": options.header_row}
    given = [option for option, value in by_rows.items() if value]
    if given and suffix not in (*EXCEL, *TEXT):
        raise TableError(f"{name}: {given[0]} is for Excel and text files.")
    given += ["--range"] if options.cell_range is not None else []
    if len(given) > 1:
        raise TableError(
            f"{name}: {given[0]} and {given[1]} both say where the table is: give one."
        )
    if options.header is False and options.header_row is not None:
        raise TableError(f"{name}: --no-header and --header-row contradict each other: give one.")
