"""Row names of a table: an id column, the index of a pandas frame, or numbers from 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs._row_selection import frame_index, index_labels
from odefs.tables.frames import column_cells
from odefs.tables.table import HeldTable, Table


def name_rows(
    table: Table, id: str | None, numbers: np.ndarray | None = None
) -> tuple[str, Sequence[Any]]:
    """Return the source of the names and the names; ``numbers`` selects rows, default all."""
    if id is not None:
        frame = (
            table.frame
            if isinstance(table, HeldTable) and numbers is None
            else _take(table, id, numbers)
        )
        return id, [plain_cell(cell) for cell in column_cells(frame, id)]
    if numbers is not None:
        return "row", (numbers + 1).tolist()
    index = index_labels(table_index(table))
    if index is None:
        return "row", range(1, table.n_rows + 1)
    return str(index.name or "index"), [plain_cell(cell) for cell in index]


def _take(table: Table, id: str, numbers: np.ndarray | None) -> Any:
    return table.take(np.arange(table.n_rows) if numbers is None else numbers, [id])


def table_index(table: Table) -> Any:
    """Return the index of a pandas frame; ``None`` for other tables."""
    return frame_index(table.frame) if isinstance(table, HeldTable) else None


def row_labels(named: bool, row_names: Sequence[Any], index: Any) -> Sequence[Any] | None:
    """Return names by which rows can be selected: ids or index labels, but not row numbers."""
    return row_names if named or index_labels(index) is not None else None


def plain_cell(cell: Any) -> Any:
    """Return numbers and text unchanged, dates and other types as text."""
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)
