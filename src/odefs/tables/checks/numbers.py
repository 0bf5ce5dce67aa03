"""Checks of numbers: codes for missing values, zeros and negative numbers.

Impossible values are in :mod:`odefs.tables.checks.ranges` and :mod:`odefs.tables.checks.years`,
extreme ones in :mod:`odefs.tables.checks.extreme_values`. A cell is named by one check only,
the most specific one; the other checks leave it out.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from odefs.tables.checks.extreme_values import FEW_VALUES, extreme_suspects
from odefs.tables.checks.facts import LEAST_CELLS, NumberFacts, TextFacts, quantiles
from odefs.tables.checks.gather import CODES, ColumnTally
from odefs.tables.checks.ranges import are_changes, impossible
from odefs.tables.checks.years import year_suspects
from odefs.tables.records.checks import Suspect

CODE_GAP = 0.5
"""Least distance of a code from all other values, relative to the span of their middle 98 %."""
SMALL_CODES = (9.0, -9.0, -8.0, 99.0, -99.0, 88.0, -88.0, 98.0)
"""Codes that are ordinary numbers in many columns: they must lie further away."""
SMALL_CODE_GAP = 1.5
ZERO_SHARE, NEGATIVE_SHARE, INFINITE_SHARE = 0.05, 0.01, 0.05
"""More cells than these are no errors but a property of the column."""
CODED_SHARE, CODED_VALUES = 0.1, 2
"""The same for negative numbers that are codes, and the most distinct ones."""
ZERO_DEVIATIONS = 4.0
SIZES = 5
"""Least number of distinct values of a column of sizes; those with fewer hold grades or codes."""
SKEWED = 2.0
"""Ratio of the upper to the lower half of the middle 90 %."""
MIRRORED, MIRRORED_CELLS = 3.0, 100
"""Least number of values between zero and the size of a single negative one, per logarithm of the
number of values, of which there are enough.

Of samples of normal, logistic, Laplace and gamma distributions, moved so that one value is
negative, 1 to 3 % are beyond this; of t distributions, 3 % with 5 and 6 % with 3 degrees of
freedom.
"""
RELIABLE = 200
"""Number of values from which on skewness is not an accident."""


def infinite_suspects(tally: ColumnTally, text: TextFacts | None) -> list[Suspect]:
    """Return the infinite cells of a column of numbers, which count as missing, if they are few."""
    if text is not None:
        if text.style is None:
            return []
        chosen = np.isinf(text.read)
        count, n = int(text.counts[chosen].sum()), text.n
        infinite = text.suspect(
            "infinite_value", 0.9, [text.levels[k] for k in np.flatnonzero(chosen).tolist()]
        )
    else:
        count, n = tally.n_infinite, 0 if tally.numbers is None else tally.numbers.n
        infinite = Suspect("infinite_value", tally.name, 0.9, of="category")
    # Of a column of logarithms or ratios, many may be infinite.
    return [infinite] if 0 < count <= max(1, INFINITE_SHARE * n) else []


def number_suspects(facts: NumberFacts, today: float) -> list[Suspect]:
    """Return the suspects of a column of numbers; ``today`` is the start of the day."""
    if facts.n < LEAST_CELLS:
        return []
    found, named = [], set[float]()
    for code in _codes(facts):
        found.append(code)
        named.update(code.numbers)
    implied = impossible(facts, named)
    beyond = year_suspects(facts, today, named) if implied is None else [implied]
    low = max((one.below for one in beyond), default=-np.inf)
    high = min((one.above for one in beyond), default=np.inf)
    zero = _zeros(facts, named)
    negative = None if low >= 0 else _negatives(facts, named)
    if negative:
        low = 0.0
    named |= {0.0} if zero else set()
    found += [*beyond, *(one for one in (zero, negative) if one is not None)]
    return [*found, *extreme_suspects(facts, named, low, high)]


class _OtherValues(NamedTuple):
    """The values of a column that are not codes."""

    lowest: float
    highest: float
    span: float
    """Length of the range of the middle 98 %."""
    is_positive: bool
    """Whether these are many values without a negative one."""
    whole: bool

    def exclude(self, code: float) -> bool:
        """Whether a repeated code lies apart from these values."""
        if code == -1:
            return self.is_positive and self.whole and self.highest > 20
        # Where a repeated code is the only negative number, no further distance is needed.
        if code < 0 and self.is_positive:
            return True
        least = self.span * (SMALL_CODE_GAP if code in SMALL_CODES else CODE_GAP)
        return max(self.lowest - code, code - self.highest) > least


def _codes(facts: NumberFacts) -> list[Suspect]:
    """Repeated codes that lie apart from all other values."""
    # Codes often come in pairs, such as 998 and 999.
    present = [c for c in CODES if facts.tally.special[c] >= 2]
    others = _values_except(facts, present) if present else None
    codes = [] if others is None else [code for code in present if others.exclude(code)]
    if not codes:
        return []
    # The range includes numbers that look like codes, but are not reported as such.
    usual = (float(facts.lowest(codes)[0]), float(facts.highest(codes)[0]))
    return [facts.suspect("code", 0.9, (code,), usual=usual) for code in codes]


def _values_except(facts: NumberFacts, codes: Collection[float]) -> _OtherValues | None:
    """Return the values other than some codes; ``None`` if they are too few or all equal."""
    rest = facts.typical(codes)
    if rest.size < LEAST_CELLS // 2 or rest[0] == rest[-1]:
        return None
    low, high = facts.lowest(codes), facts.highest(codes)
    if not low.size:
        return None
    lowest, highest = float(low[0]), float(high[0])
    q01, q99 = quantiles(rest, 0.01, 0.99)
    is_positive = lowest >= 0 and np.unique(rest).size > FEW_VALUES
    return _OtherValues(lowest, highest, q99 - q01 or highest - lowest, is_positive, facts.whole)


def _n_negative(facts: NumberFacts, named: set[float]) -> int:
    """Return the number of negative cells, without values that other checks name."""
    return facts.tally.n_negative - sum(facts.tally.special[v] for v in named if v < 0)


def _zeros(facts: NumberFacts, named: set[float]) -> Suspect | None:
    """Zeros among sizes: all others are positive and far from zero."""
    count = facts.tally.special[0.0]
    if not 0 < count <= max(1, ZERO_SHARE * facts.n) or _n_negative(facts, named):
        return None
    rest = facts.typical(named | {0.0})
    rest = rest[rest > 0]
    distinct = np.unique(rest)
    if rest.size < LEAST_CELLS // 2 or distinct.size < SIZES:
        return None
    positive = facts.lowest(named | {0.0})
    lowest = float(positive[positive > 0][0])
    if not _are_far_from_zero(rest, lowest):
        return None
    if lowest < 1.5 * float(np.median(np.diff(distinct[: max(2, distinct.size // 20)]))):
        return None  # zero is the next value of an ordinary sequence
    usual = (lowest, float(facts.highest(named)[0]))
    return facts.suspect("zero", 0.85, (0.0,), usual=usual)


def _are_far_from_zero(sizes: np.ndarray, lowest: float) -> bool:
    """Whether zero lies far below the bulk of some sizes, and not next to the lowest one."""
    low, lower, median, upper = quantiles(sizes, 0.01, 0.05, 0.5, 0.95)
    # 1.645 standard deviations lie between median and 5 % quantile of a normal distribution.
    deviation = max(median - lower, (upper - median) / 2) / 1.645
    if low < 0.2 * median or median < ZERO_DEVIATIONS * deviation:
        return False
    return not (lowest < 0.1 * median and low < 0.5 * median)


def _negatives(facts: NumberFacts, named: set[float]) -> Suspect | None:
    """Negative numbers in a column whose other values stop at zero."""
    count = _n_negative(facts, named)
    if not 0 < count <= max(1, CODED_SHARE * facts.n) or are_changes(facts):
        return None
    typical = facts.typical(named)
    rest = typical[typical >= 0]
    if rest.size < LEAST_CELLS // 2:
        return None
    lowest = facts.lowest(named)
    # The lowest values are too few for those near zero, of which the sample has some.
    negative = np.sort(np.concatenate([lowest[lowest < 0], typical[typical < 0]]))
    # All others are positive, though a sample may miss the zeros.
    are_coded = not facts.tally.special[0.0] and _are_coded(negative, count, rest)
    if not are_coded and (
        count > max(1, NEGATIVE_SHARE * facts.n)
        or _are_ordinary_tail(negative, rest, facts.n, count)
    ):
        return None
    usual = (float(facts.lowest_from_zero(named)[0]), float(facts.highest(named)[0]))
    certainty = 0.8 if count <= 0.001 * facts.n + 1 else 0.6
    excluded = tuple(sorted(named))
    return facts.suspect("negative", certainty, excluded=excluded, below=0.0, usual=usual)


def _are_coded(negative: np.ndarray, count: int, rest: np.ndarray) -> bool:
    """Whether ``count`` negative numbers are one or two that are repeated, among sizes or grades.

    Such as -1 and -2 for what is unknown. ``rest`` are positive values.
    """
    n_distinct = np.unique(negative).size
    return n_distinct <= min(CODED_VALUES, count - 1) and np.unique(rest).size >= SIZES


def _are_ordinary_tail(negative: np.ndarray, rest: np.ndarray, n: int, count: int) -> bool:
    """Whether ``count`` negative numbers among ``n`` continue the distribution of the others.

    ``negative`` are some of them and ``rest`` other values, both in ascending order.
    """
    low, lower, middle, upper = quantiles(rest, 0.01, 0.05, 0.5, 0.95)
    if middle <= 0:
        return True
    # -5 below hundreds of values from 1 to 58: a tail that went on would not stop at zero.
    if count == 1 and n >= MIRRORED_CELLS:
        n_mirrored = int(np.count_nonzero(rest <= -negative[0])) * n / (rest.size + 1)
        if n_mirrored >= MIRRORED * np.log(n):
            return False
    if upper - middle > SKEWED * (middle - lower):
        return n < RELIABLE and int(np.count_nonzero(rest <= -negative[0])) < 10 * count
    # How low values would reach if they became rare as in a normal distribution, of which the
    # lowest of n values is about sqrt(2 log n) standard deviations below the mean.
    deviation = max((middle - lower) / 1.645, (middle - low) / 2.326)
    reach = middle - 1.3 * np.sqrt(2 * np.log(max(n, 3))) * deviation
    return bool(negative[-1] > reach or rest[0] - negative[-1] < deviation)
