"""Totals of groups between the rows of a table at whose end totals are left out.

Such a row has cells in the same columns as a total at the end, where the rows of the table have
more, or its label is that of a subtotal.
"""

from collections.abc import Sequence

import numpy as np

from odefs.tables.readers.layout.cells import Grid, is_absent, is_total, is_value

SUBTOTAL = "sub"
"""How the label of a subtotal begins, in lower case."""


def inner_totals(
    grid: Grid, rows: range, columns: Sequence[int], totals: Sequence[int]
) -> tuple[int, ...]:
    """Return the rows between the first and the last that have totals as those at the end do."""
    inside = grid.filled[rows.start : rows.stop][:, list(columns)]
    found: set[int] = set()
    for total in totals:
        filled = grid.filled[total, list(columns)]
        label = columns[int(filled.argmax())]
        # Of a row with a cell in each column, only the label tells.
        is_sparse = not (inside.mean(axis=0)[~filled] <= 0.5).all()
        for place in np.flatnonzero((inside == filled).all(axis=1)).tolist():
            row = rows.start + place
            if _is_total(grid, row, label, columns, is_sparse):
                found.add(row)
    return tuple(sorted(found))


def _is_total(grid: Grid, row: int, label: int, columns: Sequence[int], is_sparse: bool) -> bool:
    text = grid.cell(row, label)
    if text is None or not is_total(text):
        return False
    others = [cell for k in columns if k != label and not is_absent(cell := grid.cell(row, k))]
    is_sure = is_sparse or text.casefold().startswith(SUBTOTAL)
    return is_sure and bool(others) and all(map(is_value, others))
