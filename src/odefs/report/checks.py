"""Values to check as plain records."""

from collections.abc import Sequence

from odefs.report.scores import plain
from odefs.tables.messages import row_name
from odefs.tables.records.checks import ValueCheck

SHOWN_CHECKS = 20
"""Checks in a report, the most certain ones."""
SHOWN_ROWS = 10
"""First rows of a check."""


def collect_checks(checks: Sequence[ValueCheck]) -> list[dict[str, object]]:
    """Return the most certain checks; fields that do not apply to a kind are absent."""
    return [_record(check) for check in checks[:SHOWN_CHECKS]]


def _record(check: ValueCheck) -> dict[str, object]:
    found: dict[str, object] = {
        "kind": check.kind,
        "column": check.column,
        "count": check.count,
        # Documents count rows from 1, as files and the command line do; Python counts from 0.
        "rows": [row + 1 for row in check.rows[:SHOWN_ROWS]],
        "names": [
            plain(row_name(name, row + 1))
            for name, row in zip(check.names[:SHOWN_ROWS], check.rows, strict=False)
        ],
        "certainty": check.certainty,
    }
    if check.values:
        found |= {"of": check.of, "values": list(check.values[:SHOWN_ROWS])}
    if check.usual:
        found["usual"] = list(check.usual)
    if check.apart_count:
        found |= {"apart": list(check.apart), "apart_count": check.apart_count}
    if check.unit:
        found["unit"] = check.unit
    if check.usual_count:
        found["usual_count"] = check.usual_count
    if check.summed:
        found["summed"] = list(check.summed)
    if check.columns:
        found["columns"] = list(check.columns)
    return found | {"message": str(check)}
