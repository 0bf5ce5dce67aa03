"""Values outside the range that the name of their column implies, such as a pH of 71."""

import numpy as np

from odefs.tables.checks.facts import NumberFacts, name_words, quantiles
from odefs.tables.records.checks import Suspect

CIRCLE = 360.0
"""Degrees of a full circle, for angles such as wind directions."""

IMPOSSIBLE_SHARE = 0.01
"""More values outside the range show that it is not that of the column."""
RANGES = {
    "lat": (-90.0, 90.0),
    "latitude": (-90.0, 90.0),
    "lon": (-180.0, 180.0),
    "lng": (-180.0, 180.0),
    "longitude": (-180.0, 180.0),
    "percent": (0.0, 100.0),
    "percentage": (0.0, 100.0),
    "pct": (0.0, 100.0),
    "humidity": (0.0, 100.0),
    "age": (0.0, 120.0),
    "month": (1.0, 12.0),
    "hour": (0.0, 24.0),
    "minute": (0.0, 60.0),
    "probability": (0.0, 1.0),
    "prob": (0.0, 1.0),
    "proportion": (0.0, 1.0),
    "ph": (0.0, 14.0),
    **dict.fromkeys(("dir", "direction", "bearing", "heading", "azimuth"), (0.0, CIRCLE)),
}
"""Ranges of columns by a word of their name."""
CHANGES = frozenset(
    ["change", "growth", "diff", "difference", "increase", "decrease", "return", "returns", "delta"]
)
"""Words of a name that make negative numbers and more than 100 percent ordinary."""


PHYSICAL = frozenset(
    ["temp", "temperature", "speed", "vibration", "pressure", "load", "count", "size", "id"]
)
"""Words of properties that are not angles: a bearing may be a part of a machine."""


def _named_range(facts: NumberFacts) -> tuple[float, float] | None:
    """Return the range that the name of the column implies, if it implies one."""
    ranges = {RANGES[word] for word in name_words(facts.name) if word in RANGES}
    is_known = len(ranges) == 1 and PHYSICAL.isdisjoint(name_words(facts.name))
    return ranges.pop() if is_known and not are_changes(facts) else None


def _degrees(angles: np.ndarray) -> tuple[float, float]:
    """Return the range of angles: from 0, or from -180 where hardly any is beyond 180."""
    has_large = np.count_nonzero(angles > CIRCLE / 2) > IMPOSSIBLE_SHARE * angles.size
    return (0.0, CIRCLE) if has_large else (-CIRCLE / 2, CIRCLE)


def are_changes(facts: NumberFacts) -> bool:
    """Whether a column holds changes or times, which have no range and may be negative."""
    return facts.of == "time" or not CHANGES.isdisjoint(name_words(facts.name))


def impossible(facts: NumberFacts, named: set[float]) -> Suspect | None:
    """Values outside the range that the name of the column implies."""
    implied = _named_range(facts)
    if implied is None:
        return None
    rest = facts.typical(named)
    low, high = _degrees(rest) if implied == (0.0, CIRCLE) else implied
    outside = [v for v in (*facts.lowest(named), *facts.highest(named)) if not low <= v <= high]
    limit = max(2, IMPOSSIBLE_SHARE * facts.n)
    in_range = rest[(rest >= low) & (rest <= high)]
    if not outside or rest.size - in_range.size > limit * rest.size / facts.n or not in_range.size:
        return None
    # A column of 0 to 1 with some values above may count percentages.
    if high == 100 and quantiles(in_range, 0.9)[0] <= 1:
        return None
    return facts.suspect(
        "impossible_value",
        0.95,
        excluded=tuple(sorted(named)),
        below=low,
        above=high,
        usual=(low, high),
    )
