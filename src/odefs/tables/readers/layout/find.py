"""The table in a grid of cells: where its header is, where its rows begin and end.

A sheet or text file may have titles above the table, units below the header, and totals, notes or
another table further down or to the right. All functions are pure: from cells to a
:class:`Layout`. Rows and columns are numbered from 0 here.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from odefs.tables.readers.layout.cells import (
    SAMPLED_ROWS,
    Block,
    Grid,
    cleaned,
    is_absent,
    is_note,
    is_sentence,
    is_total,
    is_unit,
    is_value,
    is_year,
    numeric_columns,
    sample_rows,
)
from odefs.tables.readers.layout.header_groups import HeaderLines, end_of_groups
from odefs.tables.readers.layout.inner_totals import inner_totals

MAX_HEADER_ROWS = 3
MAX_CUT_ROWS = 50
"""Rows that are examined at the end of a table for totals and notes."""


@dataclass(frozen=True)
class Layout:
    """A table: the rows of its header, the row of units, and where its data are.

    ``columns`` are those with a cell in the header or the data. ``totals`` and ``notes`` are rows
    below the last row that belong to the table but not to its data, ``inner_totals`` rows of totals
    between those of the data.
    """

    header_rows: tuple[int, ...]
    units_row: int | None
    first_row: int
    last_row: int
    columns: tuple[int, ...]
    names: tuple[str, ...]
    totals: tuple[int, ...] = ()
    notes: tuple[int, ...] = ()
    inner_totals: tuple[int, ...] = ()

    @property
    def block(self) -> Block:
        """The header and the data."""
        top = self.header_rows[0] if self.header_rows else self.first_row
        return Block(top, self.last_row, self.columns[0], self.columns[-1])

    @property
    def n_cells(self) -> int:
        return (self.last_row - self.first_row + 1) * len(self.columns)


def find_layout(
    grid: Grid,
    block: Block,
    header_row: int | None = None,
    cuts_end: bool = True,
    expected: Collection[str] = (),
) -> Layout | None:
    """Find the header and the data in a block; ``None`` if there are fewer than two columns.

    ``header_row`` is the first row of the header, if known. ``expected`` are names that a header
    probably has, for example those of a saved model.
    """
    inside = grid.filled[:, block.first_column : block.last_column + 1]
    counts = inside[block.first_row : block.last_row + 1].sum(axis=1)
    if not counts.size or counts.max() < 2:
        return None
    header, is_given = _header(grid, block, counts, header_row, expected)
    first = header[-1] + 1
    columns = _used_columns(inside, block, header)
    if len(columns) < 2:
        return None
    if not is_given and _is_data(grid, header, first, block.last_row, columns):
        first = header[0]
        header = ()
    units = _units_row(grid, first, block.last_row, columns) if header else None
    first = first if units is None else units + 1
    rows = np.flatnonzero(inside[first : block.last_row + 1].any(axis=1))
    last = first + int(rows[-1]) if rows.size else block.last_row
    last, totals, notes = _cut_end(grid, first, last, columns, cuts_end)
    names = _names(grid, header, columns)
    inner = inner_totals(grid, range(first, last + 1), columns, totals)
    return Layout(header, units, first, last, columns, names, totals, notes, inner)


def _header(
    grid: Grid,
    block: Block,
    counts: np.ndarray,
    header_row: int | None,
    expected: Collection[str],
) -> tuple[tuple[int, ...], bool]:
    """Return the rows of the header, and whether they are known from the row or the names given.

    ``counts`` are the numbers of cells in the rows of the block.
    """
    if header_row is not None:
        return _header_rows(grid, block, header_row), True
    known = _expected_row(grid, block, expected)
    if known is not None:
        return (known,), True
    # Titles, and lines such as "Author: Ann" above a table, have fewer cells than its rows.
    usual = float(np.quantile(counts[counts > 0], 0.75))
    row = block.first_row + int(np.argmax(counts >= max(2.0, usual / 2)))
    return _header_rows(grid, block, row), False


def _used_columns(inside: np.ndarray, block: Block, header: Sequence[int]) -> tuple[int, ...]:
    """Return the columns with a cell in the header or below it."""
    first = header[-1] + 1
    body = np.flatnonzero(inside[first : block.last_row + 1].any(axis=0)) if first else ()
    named = np.flatnonzero(inside[list(header)].any(axis=0))
    return tuple(block.first_column + int(k) for k in sorted({*body, *named}))


def _expected_row(grid: Grid, block: Block, expected: Collection[str]) -> int | None:
    """Return the first row that has most of the expected names."""
    if len(expected) < 2:
        return None
    for row in range(block.first_row, min(block.last_row, block.first_row + SAMPLED_ROWS) + 1):
        here = {cleaned(cell) for cell in grid.rows[row]}
        if 2 * len(here.intersection(expected)) > len(expected):
            return row
    return None


def _columns(block: Block) -> range:
    return range(block.first_column, block.last_column + 1)


def _header_rows(grid: Grid, block: Block, row: int) -> tuple[int, ...]:
    """Return the lines of the header around its row: group cells above, names below them."""
    rows = [row]
    while len(rows) < MAX_HEADER_ROWS and _names_groups_of(grid, block, rows[-1], rows[-1] + 1):
        rows.append(rows[-1] + 1)
    while (
        len(rows) < MAX_HEADER_ROWS
        and rows[0] > block.first_row
        and _names_groups_of(grid, block, rows[0] - 1, rows[0])
    ):
        rows.insert(0, rows[0] - 1)
    return tuple(rows)


def _names_groups_of(grid: Grid, block: Block, upper: int, lower: int) -> bool:
    """Whether the upper row has the groups, from merged cells, of the columns named below."""
    if lower >= block.last_row:
        return False
    above, below = ([grid.cell(row, k) for k in _columns(block)] for row in (upper, lower))
    lines = HeaderLines(above, below)
    if not lines.may_be_header:
        return False
    grouped = [block.first_column + k for k in lines.grouped]
    # Years may be names below groups, or the first row of a column of years.
    if lines.has_grouped_years and any(is_year(grid.cell(lower + 1, k)) for k in grouped):
        return False
    later = range(lower + 1, block.last_row + 1)
    return lines.has_ungrouped_columns or bool(numeric_columns(grid, later, grouped))


def _is_data(
    grid: Grid, header: Sequence[int], first: int, last: int, columns: Sequence[int]
) -> bool:
    """Whether the row found as header is one of numbers, and of text that occurs below it."""
    cells = {k: grid.cell(header[0], k) for k in columns}
    values = [k for k, cell in cells.items() if is_value(cell) and not is_year(cell)]
    if len(header) > 1 or not values:
        return False
    below = range(first, last + 1)
    sample = sample_rows(grid, below)
    others = set(columns).difference(values)
    if not all(_occurs(grid, sample, k, cells[k]) for k in others):
        return False
    return len(numeric_columns(grid, below, values)) == len(values)


def _occurs(grid: Grid, rows: Sequence[int], column: int, text: str | None) -> bool:
    return any(grid.cell(row, column) == text for row in rows)


def _units_row(grid: Grid, row: int, last: int, columns: Sequence[int]) -> int | None:
    """Return the row below the header if it has units where the rows below have numbers."""
    if row >= last:
        return None
    cells = {k: grid.cell(row, k) for k in columns}
    if any(is_value(cell) for cell in cells.values()):
        return None
    numeric = numeric_columns(grid, range(row + 1, last + 1), columns)
    units = [cells[k] for k in numeric if not is_absent(cells[k])]
    return row if units and all(map(is_unit, units)) else None


def _cut_end(
    grid: Grid, first: int, last: int, columns: Sequence[int], cuts_end: bool
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the last row of data, and the rows of totals and notes below it."""
    totals: list[int] = []
    notes: list[int] = []
    end = last
    examined = MAX_CUT_ROWS if cuts_end else 0
    for row in range(last, max(first + 1, last - examined), -1):
        cells = [grid.cell(row, k) for k in columns]
        if not any(cells):
            continue
        if is_note_row(cells, _is_apart(grid, row), _longest(grid, first, row, columns[0])):
            notes.insert(0, row)
        elif _is_total_row(grid, cells, first, row, columns):
            totals.insert(0, row)
        else:
            end = row
            break
        end = row - 1
    return end, tuple(totals), tuple(notes)


def _is_apart(grid: Grid, row: int) -> bool:
    return row > 0 and not grid.filled[row - 1].any()


def _longest(grid: Grid, first: int, row: int, column: int) -> int:
    """Return the length of the longest of some cells above a row."""
    cells = (grid.cell(k, column) for k in range(max(first, row - SAMPLED_ROWS), row))
    return max((len(cell) for cell in cells if cell is not None), default=0)


def is_note_row(cells: Sequence[str | None], is_apart: bool, longest: int) -> bool:
    """Whether a row below a table is a note: one text, where the table has several cells.

    ``is_apart``: a blank row is above it. ``longest`` is the length of texts in the first column.
    """
    filled = [cell for cell in cells if cell is not None]
    if not filled or is_value(filled[0]) or len(filled) > max(1, len(cells) // 2):
        return False
    text = filled[0]
    if len(filled) > 1:
        return is_note(text) and text.endswith(":")
    return is_apart or is_note(text) or _is_long_sentence(text, longest)


def _is_long_sentence(text: str, longest: int) -> bool:
    return is_sentence(text) and len(text) > 2 * longest


def _is_total_row(
    grid: Grid, cells: Sequence[str | None], first: int, row: int, columns: Sequence[int]
) -> bool:
    """Whether a row has totals: its label occurs in no other row, its other cells are numbers."""
    place = next(k for k, cell in enumerate(cells) if cell is not None)
    others = [cell for cell in cells[place + 1 :] if not is_absent(cell)]
    if not others or not all(map(is_value, others)):
        return False
    if not is_total(cells[place]):
        return False
    # "Total" may also be one of the categories of the column.
    above = range(max(first, row - 1000), row)
    return all(grid.cell(k, columns[place]) != cells[place] for k in above)


def _names(grid: Grid, header: Sequence[int], columns: Sequence[int]) -> tuple[str, ...]:
    """Join the lines of the header; a group names all its columns. Unnamed columns are empty."""
    if not header:
        return ("",) * len(columns)
    if len(header) == 1:
        row = header[0]
        return tuple("" if grid.cell(row, k) is None else grid.rows[row][k] or "" for k in columns)
    lines = [_line_names(grid, header[level:], columns) for level in range(len(header))]
    return tuple(" ".join(" ".join(parts).split()) for parts in zip(*lines, strict=True))


def _line_names(grid: Grid, header: Sequence[int], columns: Sequence[int]) -> list[str]:
    """Return what the first of some lines of the header adds to the name of each column."""
    names = []
    group = ""
    above = [grid.cell(header[0], k) for k in columns]
    below = [grid.cell(header[1], k) for k in columns] if len(header) > 1 else above
    end = end_of_groups(above, below)
    for place, (k, own) in enumerate(zip(columns, above, strict=True)):
        has_below = any(grid.cell(lower, k) is not None for lower in header[1:])
        if own is not None:
            group = own if has_below else ""
        elif place == end:
            group = ""
        names.append(own or (group if has_below else ""))
    return names
