"""Columns of the file of values to check: one line for each cell or row."""

from collections.abc import Callable

from odefs.tables.checks.record import ValueCheck
from odefs.tables.detection import TableDetection
from odefs.tables.displayed_rows import shown_checks
from odefs.tables.messages import check_cell

CheckCell = str | int | None


def _id(check: ValueCheck, k: int) -> str | None:
    return None if check.names[k] is None else str(check.names[k])


COLUMNS: dict[str, Callable[[ValueCheck, int], CheckCell]] = {
    "kind": lambda check, k: str(check.kind),
    "column": lambda check, k: check.column,
    "row": lambda check, k: check.rows[k] + 1,
    "id": _id,
    "value": check_cell,
    "sentence": lambda check, k: str(check),
}
"""What each column holds of a check and its row number ``k``."""


def check_columns(found: TableDetection) -> dict[str, list[CheckCell]]:
    """Return kind, column, row number, id, value and sentence; ids where the table has them.

    Ids and values are text, so that all files have the same types.
    """
    lines = [(check, k) for check in shown_checks(found) for k in range(len(check.rows))]
    has_ids = found.named and found.identifier not in found.hidden
    return {
        name: [cell(check, k) for check, k in lines]
        for name, cell in COLUMNS.items()
        if has_ids or name != "id"
    }
