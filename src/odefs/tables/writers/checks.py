"""Columns of the file of values to check: one line for each cell or row."""

from typing import Any

from odefs.tables.detection import TableDetection
from odefs.tables.displayed_rows import shown_checks
from odefs.tables.messages import check_cell


def check_columns(found: TableDetection) -> dict[str, list[Any]]:
    """Return kind, column, row number, id, value and sentence; ids where the table has them.

    Ids and values are text, so that all files have the same types.
    """
    lines = [(check, k) for check in shown_checks(found) for k in range(len(check.rows))]
    columns: dict[str, list[Any]] = {
        "kind": [str(check.kind) for check, _ in lines],
        "column": [check.column for check, _ in lines],
        "row": [check.rows[k] + 1 for check, k in lines],
    }
    if found.named and found.identifier not in found.hidden:
        columns["id"] = [
            None if check.names[k] is None else str(check.names[k]) for check, k in lines
        ]
    columns["value"] = [check_cell(check, k) for check, k in lines]
    columns["sentence"] = [str(check) for check, _ in lines]
    return columns
