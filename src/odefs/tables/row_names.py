"""What the rows of a table are called: by a column, by the index of a pandas frame, or by numbers from 1."""

from collections.abc import Callable, Sequence
from typing import Any

from odefs._row_selection import frame_index, index_labels
from odefs.exceptions import TableError
from odefs.tables.columns import Columns
from odefs.tables.frames import column_cells, columns_of


def split_identifier(
    frame: Any, name: str | None, wanted: Callable[[str], bool] = lambda column: True
) -> tuple[str, Sequence[Any], Columns]:
    """The column that names the rows, cell by cell as it is, apart from the others, of which those that are not wanted are not read.

    Without such a column the frame's own index, or row numbers from 1.
    """
    table = columns_of(frame, lambda column: column != name and wanted(column))
    if name is None:
        index = index_labels(frame_index(frame))
        if index is None:
            return "row", range(1, table.n_rows + 1), table
        return str(index.name or "index"), [plain_cell(cell) for cell in index], table
    if name not in table:
        raise TableError(f"there is no column {name!r}; the columns are {', '.join(table.names)}.")
    return name, [plain_cell(cell) for cell in column_cells(frame, name)], table.without([name])


def row_labels(named: bool, row_names: Sequence[Any], index: Any) -> Sequence[Any] | None:
    """Names by which rows can be chosen: ids or labels of an index, but not row numbers from 1."""
    return row_names if named or index_labels(index) is not None else None


def plain_cell(cell: Any) -> Any:
    """Numbers and text as they are, dates and the like as text."""
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)
