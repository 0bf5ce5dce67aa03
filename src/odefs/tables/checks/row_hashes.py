"""Hashes of rows, by which copies are found without comparing all pairs."""

import numpy as np

from odefs.tables.columns import Column, Columns

MAX_HASHED_ROWS = 2**24
"""Taller tables are not searched for copies: the hashes would take more than 128 MiB."""
MISSING = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


def row_hashes(table: Columns) -> np.ndarray:
    """Return one number per row: equal rows have equal numbers within one process."""
    total = np.zeros(table.n_rows, dtype=np.uint64)
    for place, column in enumerate(table):
        total += cell_hashes(column, place)
    return total


def cell_hashes(column: Column, place: int) -> np.ndarray:
    """Return one number per cell; it depends on the place of the column."""
    own = np.uint64((2 * place + 1) * 0xD6E8FEB86659FD93 % 2**64)
    if column.exact is not None:
        column = column.exact
    if column.kind == "category":
        # Python's own hash of text is fast, and differs between processes, which does no harm.
        hashed = np.array([*(hash(level) for level in column.levels), 0], dtype=np.int64)
        cells = _mixed(hashed.view(np.uint64))
        cells[-1] = MISSING
        return (cells * own)[column.category_codes]
    # Adding zero turns -0.0 into 0.0.
    cells = _mixed((column.values + 0.0).view(np.uint64))
    cells[column.missing] = MISSING
    return cells * own


def _mixed(bits: np.ndarray) -> np.ndarray:
    """Spread the differences between numbers over all bits."""
    for factor, shift in zip(_FACTORS, (np.uint64(30), np.uint64(27)), strict=True):
        bits = (bits ^ (bits >> shift)) * factor
    return bits ^ (bits >> np.uint64(31))
