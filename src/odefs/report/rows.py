"""Top-ranked rows with their reasons; identical rows are listed once, with their count."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.inspection.explanation import Reason
from odefs.report.scores import plain
from odefs.tables.messages.reasons import Cell, ReasonRecord, RowRecord
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent
from odefs.tables.results.row_checks import RowChecks

MAX_ROWS, MIN_ROWS = 500, 50
MAX_CANDIDATES = 20_000
"""Number of top-ranked rows that are searched for identical ones."""
LONGEST_TEXT = 200
NAMED_TWINS = 20


def foremost_rows(
    detection: TableDetection, order: np.ndarray, wanted: int | None = None
) -> list[list[int]]:
    """Return groups of identical rows, most outlying first.

    By default there are twice as many groups as flagged rows, within bounds.
    """
    if wanted is None:
        wanted = int(np.clip(2 * np.count_nonzero(detection.is_outlier), MIN_ROWS, MAX_ROWS))
    candidates = _candidates(detection.scores, order, wanted)
    columns = [detection.table[name].values[candidates] for name in detection.encoder.columns]
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(candidates):
        cells = tuple(_comparable(column[place]) for column in columns)
        groups.setdefault((float(detection.scores[row]), *cells), []).append(int(row))
    return list(groups.values())[:wanted]


def _candidates(scores: np.ndarray, order: np.ndarray, wanted: int) -> np.ndarray:
    """Return the rows with one of the ``wanted`` highest scores, which identical rows share."""
    head = scores[order[:MAX_CANDIDATES]]
    falls = np.flatnonzero(np.diff(head) < 0)
    return order[: falls[wanted - 1] + 1] if falls.size >= wanted else order[:MAX_CANDIDATES]


def collect_rows(
    detection: TableDetection,
    extent: Extent,
    groups: Sequence[Sequence[int]],
    names: Sequence[object],
) -> list[RowRecord]:
    """Return one record per group.

    ``row`` is the number in the table, ``place`` the position by descending score.
    """
    first = np.array([group[0] for group in groups], dtype=np.intp)
    agreement = getattr(detection, "agreement", None)
    reasons = detection.reasons([int(row) for row in first])
    return [
        {
            "row": int(extent.numbers[row]) + 1,
            "name": plain(names[int(row)]),
            "score": float(detection.scores[row]),
            "rank": int(rank),
            "percentile": plain(detection.percentiles[row]),
            "p_value": None
            if detection.reference is None
            else float(detection.reference.p_values(detection.scores[row])),
            "place": int(place),
            "agreement": None if agreement is None else float(agreement[row]),
            "flagged": bool(detection.is_outlier[row]),
            "count": len(group),
            "twins": [plain(names[twin]) for twin in group[1 : NAMED_TWINS + 1]],
            "reasons": [reason_record(reason, detection.hidden) for reason in found],
            "checks": text,
        }
        for row, rank, place, group, found, text in zip(
            first,
            extent.ranks(first),
            extent.places(first),
            groups,
            reasons,
            row_checks(detection, extent.numbers[first]),
            strict=True,
        )
    ]


def row_checks(detection: TableDetection, numbers: np.ndarray) -> list[str | None]:
    """Return the values to check of rows, with row numbers from 1 as in files."""
    checks = RowChecks.of(detection)
    if checks is None or detection.origin is None:
        return [None] * numbers.size
    return checks.of_rows(detection.origin, numbers, lambda row: row + 1)


def cell(value: object, longest: int = LONGEST_TEXT) -> Cell:
    """Return a cell for JSON: a number, text of limited length, or ``None``."""
    value = plain(value)
    if isinstance(value, str) and len(value) > longest:
        return value[: longest - 1] + "…"
    return value


def _comparable(value: object) -> object:
    # NaN is unequal to itself: rows with missing numbers would never be identical.
    return None if value is None or value != value else value


def reason_record(reason: Reason, hidden: frozenset[str]) -> ReasonRecord:
    """Keep only name and weight of a hidden column: percentiles would reveal its values."""
    known: ReasonRecord = {
        "column": reason.column,
        "kind": reason.kind,
        "hidden": reason.column in hidden,
        "contribution": float(reason.contribution),
        "excess": float(reason.excess),
        "share": plain(reason.share),
    }
    if reason.column in hidden:
        return known
    usual = None if reason.usual is None else [cell(part) for part in reason.usual]
    if reason.unit:
        known["unit"] = reason.unit
    if reason.group is not None:
        known["group"] = {name: cell(v) for name, v in reason.group if name not in hidden}
    if reason.alone:
        known["alone"] = True
    known.update(
        {
            "value": cell(reason.value),
            "percentile": plain(reason.percentile),
            "equal": plain(reason.equal),
            "frequency": plain(reason.frequency),
            "usual": usual,
            "of_training": reason.of_training,
            "direction": _direction(reason),
        }
    )
    return known


def _direction(reason: Reason) -> str:
    """Return high, low, within (the usual range), missing, or value (for unordered values)."""
    value: Any = plain(reason.value)
    if value is None:
        return "missing"
    if reason.kind not in ("number", "time"):
        return "value"
    if reason.usual is None:
        return _direction_in_column(reason.percentile)
    low, high = (plain(part) for part in reason.usual)
    return _direction_from_range(value, low, high)


def _direction_from_range(value: float, low: float | None, high: float | None) -> str:
    """Return where a value lies as seen from the usual range; a bound may be unknown."""
    if high is not None and value > high:
        return "high"
    if low is not None and value < low:
        return "low"
    return "within"


def _direction_in_column(percentile: float | None) -> str:
    """Return where a value lies as seen from the middle half of its column."""
    if percentile is None:
        return "within"
    return "high" if percentile > 75 else "low" if percentile < 25 else "within"
