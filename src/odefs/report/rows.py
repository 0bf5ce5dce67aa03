"""The foremost rows with their values and reasons; identical rows stand once, with their count."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.inspection.reason import Reason
from odefs.report.protocol import Detected
from odefs.report.scores import plain
from odefs.tables.displayed_rows import Extent

MAX_ROWS, MIN_ROWS = 200, 50
MAX_CANDIDATES = 20_000
"""Rows looked at in search of identical ones."""
MAX_REASONS = 4
LEAST_REASON = 0.25
"""A reason's excess is at least this share of the foremost one's."""
LONGEST_TEXT = 200
NAMED_TWINS = 20


def foremost_rows(
    detection: Detected, order: np.ndarray, wanted: int | None = None
) -> list[list[int]]:
    """Groups of identical rows, most outlying first: as many as are wanted, by default twice as many as are flagged, within bounds."""
    if wanted is None:
        wanted = int(np.clip(2 * np.count_nonzero(detection.is_outlier), MIN_ROWS, MAX_ROWS))
    candidates = _candidates(detection.scores, order, wanted)
    columns = [detection.table[name].values[candidates] for name in detection.encoder.columns]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(candidates):
        cells = tuple(_comparable(column[place]) for column in columns)
        groups.setdefault((float(detection.scores[row]), *cells), []).append(int(row))
    return list(groups.values())[:wanted]


def _candidates(scores: np.ndarray, order: np.ndarray, wanted: int) -> np.ndarray:
    """Rows with one of the ``wanted`` highest scores: identical rows have the same score, so all of them are among these."""
    head = scores[order[:MAX_CANDIDATES]]
    falls = np.flatnonzero(np.diff(head) < 0)
    return order[: falls[wanted - 1] + 1] if falls.size >= wanted else order[:MAX_CANDIDATES]


def collect_rows(
    detection: Detected, extent: Extent, groups: Sequence[Sequence[int]], names: Sequence[Any]
) -> list[dict[str, Any]]:
    """One record per group; ``row`` is its number in the table, ``place`` where it stands in the order of falling score."""
    first = np.array([group[0] for group in groups], dtype=np.intp)
    agreement = getattr(detection, "agreement", None)
    reasons = detection.reasons([int(row) for row in first], k=MAX_REASONS)
    return [
        {
            "row": int(extent.numbers[row]) + 1,
            "name": plain(names[int(row)]),
            "score": float(detection.scores[row]),
            "rank": int(rank),
            "place": int(place),
            "agreement": None if agreement is None else float(agreement[row]),
            "flagged": bool(detection.is_outlier[row]),
            "count": len(group),
            "twins": [plain(names[twin]) for twin in group[1 : NAMED_TWINS + 1]],
            "reasons": [_reason(reason, detection.hidden) for reason in _foremost(found)],
        }
        for row, rank, place, group, found in zip(
            first, extent.ranks(first), extent.places(first), groups, reasons, strict=True
        )
    ]


def cell(value: Any, longest: int = LONGEST_TEXT) -> Any:
    """A cell as JSON can hold it: numbers, text of bounded length, nothing."""
    value = plain(value)
    if isinstance(value, str) and len(value) > longest:
        return value[: longest - 1] + "…"
    return value


def _comparable(value: Any) -> Any:
    return None if value is None or value != value else value


def _foremost(reasons: Sequence[Reason]) -> list[Reason]:
    return [
        reason
        for reason in reasons
        if reason.excess > 0 and reason.excess >= LEAST_REASON * reasons[0].excess
    ]


def _reason(reason: Reason, hidden: frozenset[str]) -> dict[str, Any]:
    """Of a hidden column only its name and weight are said: percentiles and quartiles would give its values away."""
    known: dict[str, Any] = {
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
    return known | {
        "value": cell(reason.value),
        "percentile": plain(reason.percentile),
        "equal": plain(reason.equal),
        "frequency": plain(reason.frequency),
        "usual": usual,
        "direction": _direction(reason),
    }


def _direction(reason: Reason) -> str:
    """Where a value lies: high, low, within (the usual range), missing, or for values without an order: value."""
    value = plain(reason.value)
    if value is None:
        return "missing"
    if reason.kind not in ("number", "time"):
        return "value"
    usual = [plain(part) for part in reason.usual] if reason.usual is not None else [None, None]
    low, high = usual
    if high is not None and value > high:
        return "high"
    if low is not None and value < low:
        return "low"
    return "within"
