"""The kind of each flagged row, in the words of the report.

The report groups the top-ranked rows. Other flagged rows belong to the first of its groups whose
traits they have.
"""

from collections.abc import Sequence

import numpy as np

from odefs.inspection.explanation import Reason
from odefs.report.outlier_groups import collect_kinds
from odefs.report.rows import collect_rows, foremost_rows, reason_record
from odefs.tables.detection import TableDetection
from odefs.tables.displayed_rows import extent_of, shown_names
from odefs.tables.messages.reasons import kind
from odefs.tables.messages.records import KindRecord, ReasonRecord, SharedTraits, TraitRecord


def row_kinds(
    detection: TableDetection, rows: np.ndarray, reasons: Sequence[Sequence[Reason]]
) -> list[str | None]:
    """Return the kinds of rows, given by their numbers and reasons; ``None`` without a flag."""
    extent = extent_of(detection)
    groups = foremost_rows(detection, extent.order)
    records = collect_rows(detection, extent, groups, shown_names(detection)[1])
    kinds = collect_kinds(records)
    grouped = {
        row: kinds[record["kind"]]
        for group, record in zip(groups, records, strict=True)
        if record["kind"] is not None
        for row in group
    }
    found: list[str | None] = []
    for row, why in zip(rows.tolist(), reasons, strict=True):
        known: SharedTraits | None = grouped.get(row)
        if known is None and detection.is_outlier[row]:
            known = _matching(kinds, [reason_record(reason, detection.hidden) for reason in why])
        found.append(None if known is None else kind(known))
    return found


def _matching(kinds: Sequence[KindRecord], reasons: Sequence[ReasonRecord]) -> SharedTraits:
    for known in kinds:
        if known["traits"] and all(_has(trait, reasons) for trait in known["traits"]):
            return known
    return {"traits": []}


def _has(trait: TraitRecord, reasons: Sequence[ReasonRecord]) -> bool:
    for reason in reasons:
        if reason["column"] != trait["column"]:
            continue
        if reason["hidden"]:
            return bool(trait["what"] == "hidden")
        if trait["what"] == "any":
            return bool(reason["direction"] == "value")
        if trait["what"] == "value":
            return reason["direction"] == "value" and reason["value"] in trait["values"]
        return bool(reason["direction"] == trait["what"])
    return False
