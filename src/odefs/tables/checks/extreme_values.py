"""Numbers and times that are far from all others of their column.

A value is far if it lies at least twice as far from the median as every other value, and many
robust deviations away. Where a column is skewed or has heavy tails, distances are those of
logarithms, so that a long tail does not count as far. Logarithms of columns that range over several
orders of magnitude have large deviations; in these a value is also far if the gap to all others is
much wider than the gaps between the next ones. In small tables a single value is compared with the
others alone. One or two values may also be isolated (:mod:`odefs.tables.checks.isolation`): 33 in a
skewed column from 0 to 11 is not far by logarithms.
"""

from collections.abc import Callable, Collection

import numpy as np

from odefs.tables.checks.facts import NumberFacts, quantiles
from odefs.tables.checks.isolation import isolated_values
from odefs.tables.records.checks import Suspect

DEVIATIONS, LOG_DEVIATIONS = 7.0, 6.0
"""Least distance from the median; on a logarithmic scale large distances are small."""
REACH = 2.0
"""Distance of an extreme value, relative to the furthest other value on its side of the median."""
LOW_REACH = 3.0
"""The same for low values on a logarithmic scale, on which values near zero are far out."""
FEW_VALUES, REACH_OF_FEW = 10, 5.0
"""Columns with few distinct values are grades or small counts: a value must stand out more."""
SKEW, HEAVY = 1.3, 4.5
"""Ratio of the upper to the lower tail, and of the middle 98 % to the middle half (normal: 3.4)."""
GAP = 30.0
"""Least ratio of the distances of an extreme value and the next one, if the next ones lie close."""
WIDE_GAP = 1000.0
"""The same in the heaviest tail, that of a Cauchy distribution; few columns have it by chance."""
NEXT_VALUES, FEWEST_NEXT = 20, 5
"""Number of next values by which the heaviness of a tail is judged; a tenth of all if fewer."""
SMALL = 300
"""With fewer values, a single one changes the tails by which the scale is chosen."""
ALONE_DEVIATIONS, ALONE_CELLS, ALONE_REACH = 15.0, 800.0, 5.0
"""Least distance of a value that is compared with the others only: in deviations, of few
values in deviations times their number, and relative to the furthest other value.
"""
ALONE_SKEW, ALONE_HEAVY, LIGHT_TAIL = 2.0, 3.2, 1.15
"""Largest ratios for these others: of the tails, of the middle 90 % to the middle half (normal:
2.4), and of the furthest value to that of a normal distribution.
"""
CERTAINTY_PER_POWER, MOST_CERTAINTY_GAINED = 0.1, 0.2
"""Certainty that a value gains for each power of ten of its distance, and the most it gains."""
ROUNDING = 1e-9
"""Smaller distances from the median, relative to it, are rounding errors of equal values."""
LARGEST = 1e150
"""Differences of larger numbers may overflow: these are compared after a division."""
DIVISOR = 2.0**512
"""A power of two, so that a division changes no digit."""

Transform = Callable[[np.ndarray], np.ndarray]


def extreme_suspects(
    facts: NumberFacts, named: Collection[float], low: float = -np.inf, high: float = np.inf
) -> list[Suspect]:
    """Return extreme values, without values ``named`` by other checks, or below or above bounds."""
    rest, lowest, highest = (
        values[(values >= low) & (values <= high)]
        for values in (facts.typical(named), _lowest(facts, named, low), facts.highest(named))
    )
    if rest.size < 10 or not highest.size or not lowest.size:
        return []
    ends = lowest, highest
    if max(abs(float(highest[0])), abs(float(lowest[0]))) > LARGEST:
        rest, lowest, highest = rest / DIVISOR, lowest / DIVISOR, highest / DIVISOR
    found_low, found_high = _far_by_any_rule(facts, lowest, highest, rest)
    if not found_high and not found_low:
        return []
    far = np.concatenate([highest[:found_high], lowest[:found_low]])
    usual = np.array([lowest[found_low], highest[found_high]])
    (middle,) = quantiles(rest, 0.5)
    certainty = 0.75 if np.unique(far).size <= 3 else 0.65
    certainty += _absurdity(far - middle, usual - middle)
    low_ends, high_ends = (end.tolist() for end in ends)
    numbers = sorted({*high_ends[:found_high], *low_ends[:found_low]})
    quoted = low_ends[found_low], high_ends[found_high]
    return [facts.suspect("extreme_value", certainty, numbers, usual=quoted)]


def _lowest(facts: NumberFacts, named: Collection[float], low: float) -> np.ndarray:
    """Return the lowest values, from zero on if ``low`` is zero."""
    # Of a large column, all of the lowest values that are kept may be negative.
    return facts.lowest_from_zero(named) if low == 0 else facts.lowest(named)


def _far_by_any_rule(
    facts: NumberFacts, lowest: np.ndarray, highest: np.ndarray, rest: np.ndarray
) -> tuple[int, int]:
    """Return how many of the lowest and of the highest values are far by deviation or by gap.

    Where neither finds any in a small table, a single value is compared with the others alone.
    """
    reach = REACH if facts.n_distinct >= FEW_VALUES else REACH_OF_FEW
    most_low, most_high = _most_far(lowest, highest, rest, facts.n)
    found_low, found_high = _far_at_ends(lowest, highest, rest, reach, most_low, most_high)
    (middle,) = quantiles(rest, 0.5)
    # By the median, not the largest value: next to a total of 4e13 all values of a column would be
    # rounding errors.
    least = ROUNDING * abs(middle)
    # On a logarithmic scale, a total of 3.8 million below counts of 26 to 2,854 is not far by its
    # deviation, but by the gap.
    found_high = found_high or _beyond_gap(highest - middle, facts.n, most_high, least)
    found_low = found_low or _beyond_gap(middle - lowest, facts.n, most_low, least)
    if not found_high and not found_low and rest.size < SMALL:
        found_low, found_high = _far_alone(rest)
    if facts.n_distinct >= FEW_VALUES and not (found_low and found_high):
        isolated_low, isolated_high = isolated_values(
            lowest[found_low:], highest[found_high:], rest, facts.n
        )
        found_low, found_high = found_low or isolated_low, found_high or isolated_high
    return found_low, found_high


def _most_far(lowest: np.ndarray, highest: np.ndarray, rest: np.ndarray, n: int) -> tuple[int, int]:
    """Return how many of the lowest and of the highest of ``n`` values may be far at most."""
    most = max(2, min(20, n // 500))
    if not lowest[0] < 0 < highest[0]:
        return most, most
    # Next to values of up to 900 million, -11 million is as good as zero, however far from the
    # other negative numbers it is by logarithms.
    q01, middle, q99 = quantiles(rest, 0.01, 0.5, 0.99)
    ordinary = max(q99 - middle, middle - q01)
    most_low = min(most, int(np.count_nonzero(middle - lowest > ordinary)))
    most_high = min(most, int(np.count_nonzero(highest - middle > ordinary)))
    return most_low, most_high


def _absurdity(extreme: np.ndarray, usual: np.ndarray) -> float:
    """Return what distances from the median add to the certainty: a tenth per power of ten.

    They count relative to the furthest usual value on the same side of the median.
    """
    gained = [0.0]
    for side in (-1, 1):
        ours, others = (side * extreme).max(), (side * usual).max()
        if ours > 0 and others > 0:
            gained.append(CERTAINTY_PER_POWER * np.log10(ours / (REACH * others)))
    return float(min(max(gained), MOST_CERTAINTY_GAINED))


def _far_at_ends(
    lowest: np.ndarray,
    highest: np.ndarray,
    rest: np.ndarray,
    reach: float,
    most_low: int,
    most_high: int,
) -> tuple[int, int]:
    """Return how many of the lowest and how many of the highest values are far."""
    transform = _scale(rest, float(lowest[0]))
    middle = transform(np.array(quantiles(rest, 0.5)))[0]
    ordinary = transform(rest)
    least = DEVIATIONS if transform is _unchanged else LOG_DEVIATIONS
    found_high = _far(transform(highest) - middle, ordinary - middle, reach, least, most_high)
    reach = max(reach, LOW_REACH) if transform is np.log else reach
    found_low = _far(middle - transform(lowest), (middle - ordinary)[::-1], reach, least, most_low)
    return found_low, found_high


def _scale(rest: np.ndarray, lowest: float) -> Transform:
    """Choose the scale on which the bulk of the values is about symmetric with light tails."""
    q01, q10, q25, q50, q75, q90, q99 = quantiles(rest, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
    is_skewed = q90 - q50 > SKEW * (q50 - q10) or q99 - q50 > 1.5 * SKEW * (q50 - q01)
    is_heavy = q99 - q01 > HEAVY * (q75 - q25)
    is_left_skewed = q50 - q10 > SKEW * (q90 - q50) or q50 - q01 > 1.5 * SKEW * (q99 - q50)
    if lowest > 0 and is_skewed:
        return np.log
    deviation = (q90 - q10) / 2.56
    if (is_skewed or is_left_skewed or is_heavy) and deviation > 0:
        # A difference of zero stays zero, small ones stay proportional.
        return lambda values: np.sign(values - q50) * np.log1p(np.abs(values - q50) / deviation)
    return _unchanged


def _unchanged(values: np.ndarray) -> np.ndarray:
    return values


def _far(ends: np.ndarray, others: np.ndarray, reach: float, least: float, most: int) -> int:
    """Return how many of the values at one end are far; distances are from the median.

    ``ends`` are the distances at this end, furthest first, and ``others`` those of all values, in
    ascending order.
    """
    # Both quotients are the standard deviation of a normal distribution. The second one is that of
    # this side, which is larger where the distribution is skewed.
    q25, q75, q90 = quantiles(others, 0.25, 0.75, 0.9)
    deviation = max((q75 - q25) / 1.349, q90 / 1.2816)
    if deviation <= 0:
        return 0
    for k in range(min(most, ends.size - 1), 0, -1):
        ordinary = max(float(ends[k]), 1.5 * deviation)
        if ends[k - 1] >= max(reach * ordinary, least * deviation):
            return k
    return 0


def _far_alone(values: np.ndarray) -> tuple[int, int]:
    """Return how many of the lowest and of the highest values are far: one of them, or none.

    In a small table, one extreme value makes a normal distribution look heavy-tailed. It is far if
    the others, in ascending order, have about the shape of a normal distribution.
    """
    (middle,) = quantiles(values, 0.5)
    is_high = values[-1] - middle > middle - values[0]
    far, others = (values[-1], values[:-1]) if is_high else (values[0], values[1:])
    q05, q10, q25, q50, q75, q90, q95 = quantiles(others, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    below, above = q50 - q10, q90 - q50
    deviation = max((q75 - q25) / 1.349, below / 1.2816, above / 1.2816)
    furthest = float(np.abs(others - q50).max())
    is_normal = (
        0 < max(below, above) <= ALONE_SKEW * min(below, above)
        and q95 - q05 <= ALONE_HEAVY * (q75 - q25)
        and furthest <= LIGHT_TAIL * np.sqrt(2 * np.log(others.size)) * deviation
    )
    # The fewer values, the more often those of a heavy tail look like a normal distribution.
    least = max(ALONE_DEVIATIONS, ALONE_CELLS / values.size) * deviation
    if not is_normal or abs(far - q50) < max(least, ALONE_REACH * furthest):
        return 0, 0
    if values[0] > 0 and is_high:
        # So may those of a skewed distribution, of which logarithms are less extreme.
        logs = np.log(others)
        q10, q50, q90 = quantiles(logs, 0.1, 0.5, 0.9)
        if np.log(far) - q50 < LOG_DEVIATIONS * (q90 - q10) / 2.563:
            return 0, 0
    return (0, 1) if is_high else (1, 0)


def _beyond_gap(ends: np.ndarray, n: int, most: int, least: float) -> int:
    """Return how many of the values at one end are far by the gap between them and the others.

    In a tail that falls as a power, ``i * log(d[i] / d[i + 1])`` of the i-th largest distances has
    one distribution for all i, with the inverse of the power as its mean (1 in Cauchy's tail), and
    smaller means towards the end in lighter tails. ``ends`` are the distances from the median among
    ``n`` values, furthest first; those up to ``least`` do not count.
    """
    ends = ends[ends > least]
    n_next = min(NEXT_VALUES, max(FEWEST_NEXT, n // 10))
    for k in range(min(most, ends.size - FEWEST_NEXT), 0, -1):
        others = ends[k : k + n_next]
        gaps = np.arange(k + 1, k + others.size) * np.log(others[:-1] / others[1:])
        heaviness = min(1.0, float(gaps.mean()))
        if ends[k - 1] >= max(GAP, WIDE_GAP**heaviness) * others[0]:
            return k
    return 0
