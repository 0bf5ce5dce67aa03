"""Where the table of a text file begins: below titles, or below several header lines."""

from collections.abc import Sequence

from odefs.tables.readers.layout.cells import Block, Grid, is_name, numeric_columns
from odefs.tables.readers.layout.find import Layout, find_layout
from odefs.tables.readers.options import Placement
from odefs.tables.readers.text.lines import Line

LAYOUT_ROWS = 60
"""Rows in which the header and the units are looked for."""


def find_text_table(
    rows: Sequence[Line],
    width: int,
    place: Placement,
    expected: Sequence[str],
    is_header_replaced: bool,
) -> Layout | None:
    """Return where the table is, unless it is read as it is, from its first row on."""
    rows = rows[:LAYOUT_ROWS]
    if place.header_row is not None:
        return _given(rows, width)
    return None if is_header_replaced else _found(rows, width, expected)


def _found(rows: Sequence[Line], width: int, expected: Sequence[str]) -> Layout | None:
    """Return where the table is, if it does not simply start with its header."""
    if width < 2 or len(rows) < 2:
        return None
    grid = Grid.of([row.fields for row in rows])
    # Titles have fewer fields than the table, even those with delimiters in them.
    full = next((k for k, row in enumerate(rows) if len(row.fields) >= width), len(rows) - 1)
    block = Block(full, len(rows) - 1, 0, width - 1)
    # These rows end with the head of the file, not with the table: ``copies`` cuts off its notes.
    layout = find_layout(grid, block, cuts_end=False, expected=expected)
    if layout is None:
        return None
    if layout.block.first_row == 0:
        return layout if _has_further_lines(layout) else None
    return layout if _is_below_titles(layout, grid, rows, width) else None


def _has_further_lines(layout: Layout) -> bool:
    """Whether a table has several header lines, or units below its header."""
    return len(layout.header_rows) > 1 or layout.units_row is not None


def _is_below_titles(layout: Layout, grid: Grid, rows: Sequence[Line], width: int) -> bool:
    """Whether a table starts with names, and all rows above it are titles."""
    top = layout.block.first_row
    names = filter(None, (grid.cell(top, k) for k in range(width)))
    if not all(map(is_name, names)) or len(rows[top].fields) < width:
        return False  # a header of one field above decimal commas, for example
    later = range(layout.first_row, len(rows))
    has_numbers = bool(numeric_columns(grid, later, range(width)))
    return all(_is_title(row.fields, width, has_numbers) for row in rows[:top])


def _is_title(fields: Sequence[str], width: int, has_numbers: bool) -> bool:
    """Whether a row is a title; one with delimiters is, if the table below it has numbers."""
    if len(fields) == 1 or not has_numbers:
        return len(fields) == 1
    filled = [k for k, cell in enumerate(fields) if cell.strip()]
    return len(fields) < width or filled == [0]


def _given(rows: Sequence[Line], width: int) -> Layout | None:
    """Return where the table is if its header is the first of the rows."""
    if width < 2 or len(rows) < 2:
        return None
    grid = Grid.of([row.fields for row in rows])
    return find_layout(grid, Block(0, len(rows) - 1, 0, width - 1), 0, cuts_end=False)
