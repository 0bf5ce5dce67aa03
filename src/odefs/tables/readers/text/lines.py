"""Lines of a text file split into fields, and whether runs of spaces separate them."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from odefs.tables.readers.layout.cells import Grid, is_name, is_value, numeric_columns
from odefs.tables.readers.text.dialect import detect_delimiter, long_cells

COMMENT = "#"
SPACE, TAB = " ", "\t"
AGREEMENT = 0.9
"""Share of the lines that must split into the same number of fields at runs of spaces."""
FEWEST_ROWS = 10
"""Rows of numbers without a header that show runs of spaces between fields."""


@dataclass(frozen=True)
class Line:
    """A row of the file: its first line, from 0, its fields, and its text."""

    number: int
    fields: list[str]
    text: str

    @property
    def is_comment(self) -> bool:
        return self.text.startswith(COMMENT)


def split_fields(line: str, delimiter: str, by_spaces: bool) -> list[str]:
    """Split one line into fields."""
    with long_cells():
        line = _with_spaces(line) if by_spaces else line
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=by_spaces), [])


def split_rows(lines: Sequence[str], delimiter: str, by_spaces: bool) -> Iterator[Line]:
    """Yield the rows that are not blank; a row with line breaks in quotes has its first line."""
    with long_cells():
        given = [f"{_with_spaces(line) if by_spaces else line}\n" for line in lines]
        reader = csv.reader(given, delimiter=delimiter, skipinitialspace=by_spaces)
        begin = 0
        for fields in reader:
            if any(cell.strip() for cell in fields):
                yield Line(begin, fields, lines[begin])
            begin = reader.line_num


def _with_spaces(line: str) -> str:
    """Return a line without space around it, and with spaces for the tabs outside of quotes."""
    parts = line.strip().split('"')
    parts[::2] = [part.replace(TAB, SPACE) for part in parts[::2]]
    return '"'.join(parts)


def is_split_by_spaces(lines: Sequence[str], delimiter: str | None) -> bool:
    """Whether fields are separated by runs of spaces, maybe with tabs, and by nothing else."""
    lines = list(filter(None, map(str.strip, lines)))
    if delimiter is not None:
        return delimiter == SPACE and any("  " in line or TAB in line for line in lines)
    if len(lines) < 3 or SPACE not in lines[-1]:
        return False
    # A delimiter in the first line alone, such as the comma of a title, decides nothing.
    other = detect_delimiter("\n".join(lines))
    if any(other in line for line in lines[1:]) and (other != TAB or _are_tabs_regular(lines)):
        return False
    return _is_table([split_fields(line, SPACE, by_spaces=True) for line in lines])


def _are_tabs_regular(lines: Sequence[str]) -> bool:
    """Whether tabs are the delimiter: they separate as many names as fields of the other lines.

    Rows may have a name without one in the first line. Tabs next to runs of spaces in nearly all
    lines do neither; two in a row have an empty cell between them.
    """
    names, *fields = (len(split_fields(line, TAB, by_spaces=False)) for line in lines)
    ((usual, _),) = Counter(fields).most_common(1)
    n_with_runs = sum("  " in line for line in lines[1:])
    is_between = n_with_runs < AGREEMENT * len(fields) or any(2 * TAB in line for line in lines)
    return is_between or usual - 1 <= names <= usual


def _is_table(rows: Sequence[list[str]]) -> bool:
    """Whether rows have a header, and below it mostly the same number of fields, with numbers.

    A table without a header has numbers alone.
    """
    if _are_all_numbers(rows):
        return True
    width, count = Counter(map(len, rows)).most_common(1)[0]
    first = next((k for k, row in enumerate(rows) if len(row) >= width - 1), 0)
    same = [row for row in rows[first + 1 :] if len(row) == width]
    if width < 2 or count < AGREEMENT * (len(rows) - first) or not all(map(is_name, rows[first])):
        return False
    grid = Grid.of(same)
    return bool(same) and bool(numeric_columns(grid, range(len(same)), range(width)))


def _are_all_numbers(rows: Sequence[list[str]]) -> bool:
    """Whether many rows have the same number of fields, which are all numbers."""
    # Two fields may be one number with a space between thousands.
    is_even = len(rows[0]) > 2 and len(set(map(len, rows))) == 1
    return is_even and len(rows) >= FEWEST_ROWS and all(map(is_value, chain(*rows)))
