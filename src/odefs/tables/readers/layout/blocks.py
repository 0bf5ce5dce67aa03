"""Tables on one sheet: rectangles of cells that blank rows or columns separate.

A blank row alone does not end a table: the rows below it belong to the same table unless they
start with a header of their own. Likewise, a blank column separates two tables only if they begin
or end in different rows.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from odefs.tables.readers.layout.cells import Block, Grid, is_absent, is_name, numeric_columns
from odefs.tables.readers.layout.find import Layout, find_layout

MAX_BANDS = 1000
"""Groups of rows between blank rows; later ones belong to the last table."""
MIN_TABLE_ROWS = 3
"""Rows of a further table, with its header."""


def find_tables(grid: Grid, expected: Collection[str] = ()) -> list[Layout]:
    """Return the tables of a sheet, the largest first.

    ``expected`` are names that a header probably has; a table that has them comes first.
    """
    found = [
        layout
        for block in find_blocks(grid)
        if (layout := find_layout(grid, block, expected=expected)) is not None
        and layout.last_row >= layout.first_row
    ]
    wanted = set(expected)
    found.sort(key=lambda one: (-len(wanted.intersection(one.names)), -one.n_cells))
    return [one for place, one in enumerate(found) if not place or _is_table(one)]


def _is_table(layout: Layout) -> bool:
    """Whether a further part of a sheet is a table, not a few cells next to one."""
    n_rows = layout.last_row - layout.block.first_row + 1
    return bool(layout.header_rows) and n_rows >= MIN_TABLE_ROWS


def find_blocks(grid: Grid) -> list[Block]:
    """Return the rectangles that may be tables, from top to bottom."""
    return [part for rows in _row_blocks(grid) for part in _side_by_side(grid, rows)]


def runs(filled: np.ndarray) -> list[range]:
    """Return the runs of consecutive true values."""
    edges = np.flatnonzero(np.diff(filled.astype(np.int8), prepend=0, append=0))
    return [range(int(k), int(m)) for k, m in edges.reshape(-1, 2)]


def _row_blocks(grid: Grid) -> Iterator[range]:
    """Yield groups of rows; a table with blank rows in it is one group."""
    bands = runs(grid.filled_rows)
    if len(bands) > MAX_BANDS:
        bands[MAX_BANDS - 1 :] = [range(bands[MAX_BANDS - 1].start, bands[-1].stop)]
    table: range | None = None
    for band in bands:
        if _is_sparse(grid, band):
            # A title or note; if rows of the same table follow, it is between them.
            continue
        if table is not None and _starts_table(grid, table, band):
            yield table
            table = band
        else:
            table = band if table is None else range(table.start, band.stop)
    if table is not None:
        yield table


def _is_sparse(grid: Grid, band: range) -> bool:
    """Whether no row has two cells: titles, notes, or labels of a section."""
    return bool(grid.filled[band.start : band.stop].sum(axis=1).max() < 2)


def _starts_table(grid: Grid, table: range, band: range) -> bool:
    """Whether rows below a blank row have a header of their own, or other columns."""
    if _is_sparse(grid, band):
        return False
    # Columns without a common one cannot be those of the same table.
    before, here = (grid.filled[rows.start : rows.stop].any(axis=0) for rows in (table, band))
    if not (before & here).any():
        return True
    counts = grid.filled[band.start : band.stop].sum(axis=1)
    header = band.start + int(np.argmax(counts >= 2))
    if len(band) < 2 or header >= band.stop - 1:
        return False
    # A header without rows above is not a table yet.
    return len(table) > 1 and _is_header(grid, header, band.stop)


def _is_header(grid: Grid, header: int, stop: int) -> bool:
    """Whether a row has names without gaps, and the rows below it, up to a row, have numbers."""
    columns = np.flatnonzero(grid.filled[header]).tolist()
    cells = [grid.cell(header, k) for k in columns]
    numeric = numeric_columns(grid, range(header + 1, stop), columns)
    names = [grid.cell(header, k) for k in numeric]
    return bool(numeric) and all(map(is_name, names)) and not any(map(is_absent, cells))


def _side_by_side(grid: Grid, rows: range) -> Iterator[Block]:
    """Split a group of rows at blank columns where the parts begin or end in different rows."""
    inside = grid.filled[rows.start : rows.stop]
    parts = runs(np.asarray(inside.any(axis=0)))
    extents = [_extent(inside[:, part.start : part.stop]) for part in parts]
    is_table = [
        len(part) > 1 and extent is not None for part, extent in zip(parts, extents, strict=True)
    ]
    chosen = [extent for extent, is_one in zip(extents, is_table, strict=True) if is_one]
    # Parts with the same rows are one table with a blank column in it.
    if len(chosen) < 2 or len(set(chosen)) == 1:
        yield Block(rows.start, rows.stop - 1, parts[0].start, parts[-1].stop - 1)
        return
    yield from _joined(rows, parts, extents, is_table)


def _joined(
    rows: range,
    parts: Sequence[range],
    extents: Sequence[tuple[int, int] | None],
    is_table: Sequence[bool],
) -> Iterator[Block]:
    """Join neighbouring parts with the same rows; a single column belongs to the part before."""
    current: Block | None = None
    of: tuple[int, int] | None = None
    for part, extent, is_one in zip(parts, extents, is_table, strict=True):
        if current is not None and (not is_one or of is None or extent == of):
            current = Block(
                current.first_row, current.last_row, current.first_column, part.stop - 1
            )
        else:
            if current is not None:
                yield current
            current = Block(rows.start, rows.stop - 1, part.start, part.stop - 1)
        of = extent if is_one else of
    if current is not None:
        yield current


def _extent(inside: np.ndarray) -> tuple[int, int] | None:
    """Return the first and last row with two cells, ``None`` if no row has."""
    rows = np.flatnonzero(inside.sum(axis=1) >= 2)
    return (int(rows[0]), int(rows[-1])) if rows.size else None
