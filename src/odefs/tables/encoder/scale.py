"""Common scale for columns of all kinds, so that equally unusual values count equally.

A number is divided by the square root of half its range times its standard deviation
(:mod:`odefs.tables.encoder.moments`), much like ``scaling="rootstd"``: a normal column then has a
standard deviation of ``sqrt(2 / NORMAL_RANGE)``. A category is placed at a distance that depends on
its rarity: with ``P`` the share of rows whose value is at least as rare, the distance is
``ln(1 / P)``, the quantile of an exponential distribution, but at least one, divided by
``sqrt(NORMAL_RANGE)``. Numbers in real tables have such tails rather than normal ones, and there
is nothing between a common and a rare category. If all categories are equally frequent, none is
unusual (``P = 1``), and two different rows are 0.7 times as far apart as two typical numbers,
however many categories there are; a value that occurs in one row of a thousand counts like a number
4.9 standard deviations from the mean.
"""

from collections.abc import Sequence

import numpy as np

NORMAL_RANGE = 7.0
"""Range of some thousand values of a normal column, in standard deviations."""


def median_of(values: np.ndarray) -> float:
    """Return the median, also if the sum of the two middle values overflows."""
    with np.errstate(over="ignore"):
        found = float(np.median(values))
    return found if np.isfinite(found) else 2 * float(np.median(values / 2))


def distances_out(counts: Sequence[float] | np.ndarray, rarer: float = 0.0) -> tuple[float, ...]:
    """Return the distance of each category, given how often each occurs.

    ``rarer`` is the total count of all rarer categories; if it is positive, their common distance
    is appended.
    """
    occurring = np.asarray(counts, dtype=np.float64)
    total = occurring.sum() + rarer
    if total == 0:
        return tuple(0.0 for _ in counts)
    as_rare = [occurring[occurring <= count].sum() + rarer for count in occurring] + (
        [rarer] if rarer else []
    )
    z = np.log(total / np.maximum(as_rare, 1e-300))
    return tuple(float(v) for v in np.sqrt(np.maximum(1.0, z * z) / NORMAL_RANGE))
