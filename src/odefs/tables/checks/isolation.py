"""Values that are isolated: the gap to the next value exceeds the range of all others.

The tails of many columns fall as a power, so that the highest value of a few hundred is often twice
as high as the next: such a gap must also be improbable after the gaps that precede it. Distances
from the median in a tail that falls as a power have spacings ``i * log(d[i] / d[i + 1])`` that are
exponential with one mean for all ``i``, and smaller ones towards the end of lighter tails. The
quotient of one spacing and the mean of others then follows an F distribution.
"""

import numpy as np

from odefs.tables.checks.facts import quantiles

MOST = 2
"""Isolated values at one end of a column at most: more of them are a group of their own."""
FEWEST = 30
"""Least number of values."""
MOST_CHANCE = 1e-3
"""Highest probability of the gap in a tail that falls as a power."""
DEVIATIONS, LOG_DEVIATIONS = 7.0, 9.0
"""Least distance from the median. Logarithms of amounts from zero on have a long lower tail."""
NEXT, FEWEST_NEXT = 20, 5
"""Number of spacings that a gap is compared with; a tenth of the values if these are fewer."""


def isolated_values(
    lowest: np.ndarray, highest: np.ndarray, rest: np.ndarray, n: int
) -> tuple[int, int]:
    """Return how many of the lowest and of the highest of ``n`` values are isolated.

    ``lowest`` and ``highest`` are the furthest values first, ``rest`` are typical values in
    ascending order. Low values are also compared by their logarithms: 1 below prices from 10 to 30.
    """
    if n < FEWEST:
        return 0, 0
    found_high = _isolated(highest, float(lowest[0]), rest, n, DEVIATIONS)
    bound = float(highest[min(found_high, highest.size - 1)])
    found_low = _isolated(-lowest, -bound, -rest[::-1], n, DEVIATIONS)
    if not found_low and lowest[0] > 0 and rest[0] > 0:
        logs = -np.log(rest)[::-1]
        found_low = _isolated(-np.log(lowest), -np.log(bound), logs, n, LOG_DEVIATIONS)
    return found_low, found_high


def _isolated(ends: np.ndarray, other_end: float, rest: np.ndarray, n: int, least: float) -> int:
    """Return how many of the highest values, in descending order, are isolated.

    ``other_end`` is the lowest value.
    """
    for k in range(min(MOST, ends.size - 1 - FEWEST_NEXT), 0, -1):
        gap, span = ends[k - 1] - ends[k], ends[k] - other_end
        if not 0 < span <= gap:
            continue
        q25, middle, q75, q90 = quantiles(rest, 0.25, 0.5, 0.75, 0.9)
        deviation = max((q75 - q25) / 1.349, (q90 - middle) / 1.2816)
        is_far = ends[k - 1] - middle >= least * deviation > 0
        if is_far and _chance(ends - middle, k, n) <= MOST_CHANCE:
            return k
    return 0


def _chance(distances: np.ndarray, k: int, n: int) -> float:
    """Return the probability of a gap after the first ``k`` distances, given the next ones."""
    n_next = min(NEXT, max(FEWEST_NEXT, n // 10))
    next_ones = distances[k : k + n_next + 1]
    logs = np.log(next_ones[next_ones > 0])
    if logs.size <= FEWEST_NEXT:
        return 1.0
    spacings = np.arange(k + 1, k + logs.size) * -np.diff(logs)
    spacing = k * (np.log(distances[k - 1]) - logs[0])
    total = float(spacings.sum())
    # The tail of F(2, 2 m) at m * spacing / total, for m spacings.
    return float((1 + spacing / total) ** -spacings.size) if total else 0.0
