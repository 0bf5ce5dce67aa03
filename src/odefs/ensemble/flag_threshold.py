"""The score above which rows are flagged, from the scores of a table alone.

In tables without outliers, logarithms of scores above their median are distributed much like the
upper half of a normal distribution, whatever the table's size and kind
(``docs/explanation/flags.md``). The model of the bulk is therefore

    log(score) = log(median) + scale * z ** shape,

where ``z`` is the positive half of a standard normal variable. The 75 % and 90 % quantiles, which
up to a tenth of the rows cannot move far, give scale and shape; the shape is drawn towards 1 in
tables of few rows. The threshold is the score that ``max_false_flags`` of such rows, say k, are
expected to exceed. It is never above the k-th highest score, which k of as many new rows exceed on
average, whatever the distribution, nor above a wide gap below a few of the highest scores.

A score that one or two columns carry has a heavier tail, since it is no mean of many distances: the
smallest shape is larger there.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.kernels.row_reductions import count_and_mean, percentile_of_known

FEWEST_ROWS = 30
"""Quantiles of fewer scores say too little about their tail."""

QUANTILES = 0.75, 0.9
Z_LOWER, Z_UPPER = map(NormalDist().inv_cdf, QUANTILES)

SHAPES = 1.0, 1.8
"""Smallest and largest shape. Lighter tails than the normal one are not made use of."""

SHAPES_OF_FEW_COLUMNS = {1: 1.9, 2: 1.4}
"""The smallest shape where all columns but this number are noise.

Among normal numbers with one value of 8 in one column, the others being noise, 4 to 45 rows of
1,000 to 20,000 were flagged without it, and 1 to 4 are with it. Larger shapes lose true outliers.
"""

GAP = 2.0
FEWEST_ROWS_WITH_GAP = 200
GROUP_ABOVE_GAP = 0.005, 5
"""A score that is this number of times the next is above a gap, and the rows above are flagged if
they are at most this share of the rows, or this number.

Where the scores fall into two groups, as those of a frequent and a rare category, the quantiles
measure the distance of the groups, and the threshold would be far too high. No table without
outliers of 1,000 rows and more, generated or shuffled, has such a gap below its highest score; some
of 30 rows have.
"""

LEAST_SHARE, LARGEST_LOGARITHM = 1e-300, 300.0
"""Bounds that keep the arithmetic finite."""

ROWS_AT_ONCE = 2**16

TIES = 3
"""The k highest scores may be shared by this number of times k rows."""

TIE_MARGIN = 0.05
"""A tie of more rows that is not further above the threshold than this share of it is not flagged.

In a table of few values many rows are equal, and a step between two such groups is not a tail.
"""

TWINS = 0.005, 10.0
"""Rows are not divided by the threshold if their scores differ by at most this share, and the next
score is this number of times as far away.
"""

ROUNDING = 1e-6
"""Scores whose relative difference is smaller count as equal."""

CLEARANCE = 1e-3
"""Relative distance of a threshold from a score that is not flagged, or half the way to the next.

A threshold equal to a score would flag it wherever the last digits of scores differ, as those of
other processors and of an ONNX graph do.
"""

PRIOR_ROWS = 1000
"""The shape is averaged with 1, which counts as much as this number of rows."""


CLEAR = (0.001, 1.5), (0.01, 2.0), (1.0, 3.0)
"""Ordinary rows expected to score as high as a clear outlier, and its score relative to the next.

One pair is enough. The model of the bulk is uncertain in its tail, above all in small tables and
where few columns carry the score, so that a larger distance from all others makes up for it.
"""


def tail_threshold(
    scores: np.ndarray, max_false_flags: float, n_columns: int | None = None
) -> float | None:
    """Return the score that ``max_false_flags`` ordinary rows are expected to exceed.

    ``None`` if there are fewer than ``FEWEST_ROWS`` scores. Rows without a score (NaN) do not
    count. Where so many scores are equal that the quantiles do not differ, only the highest scores
    are flagged. ``n_columns`` is the number of columns that are not noise, if some are.
    """
    count, _ = count_and_mean(scores)
    if count < FEWEST_ROWS:
        return None
    highest = _below_highest(scores, count, int(max_false_flags))
    least_shape = (
        SHAPES[0] if n_columns is None else SHAPES_OF_FEW_COLUMNS.get(n_columns, SHAPES[0])
    )
    bulk = _bulk(scores, count, least_shape)
    if bulk is None and highest == math.inf:
        return _just_above(scores, percentile_of_known(scores, count, 100.0))
    if bulk is None:
        return highest
    threshold = bulk.exceeded_by(max_false_flags)
    # Where the highest scores equal the bulk up to rounding, none of them stands out: the highest
    # scores then do not limit the threshold.
    limited = min(threshold, highest) if highest > bulk.upper * (1 + ROUNDING) else threshold
    limited = min(limited, _in_gap(scores, count, bulk.upper))
    limited = _above_ties(scores, limited, max(TIES, int(TIES * max_false_flags)))
    return _above_equal(scores, limited)


@dataclass(frozen=True)
class _Bulk:
    """The model of the bulk of some scores."""

    count: int
    median: float
    upper: float
    """The 90 % quantile."""
    shape: float

    @property
    def height(self) -> float:
        return math.log(self.upper / self.median)

    def exceeded_by(self, rows: float) -> float:
        """Return the score that a number of rows is expected to exceed."""
        # inv_cdf raises an error for 0, and half of the rows exceed the median: lower thresholds
        # are outside the model.
        share = min(0.5, max(rows / self.count, LEAST_SHARE))
        z = max(0.0, -NormalDist().inv_cdf(share))
        logarithm = self.height * (z / Z_UPPER) ** self.shape
        threshold = self.median * math.exp(min(logarithm, LARGEST_LOGARITHM))
        # The last digits of logarithms and powers differ between processors: rounding drops them,
        # so that the same rows are flagged.
        return float(f"{min(threshold, sys.float_info.max):.12g}")


def _bulk(scores: np.ndarray, count: int, least_shape: float = SHAPES[0]) -> _Bulk | None:
    """Return the model of ``count`` known scores; ``None`` if the quantiles do not differ."""
    shares = (0.5, *QUANTILES)
    median, lower, upper = (percentile_of_known(scores, count, 100 * share) for share in shares)
    # Scores may be 0 (equal rows) and huge. Quantiles are divided and their logarithms taken.
    if not 0 < median < upper < math.inf or upper / median == math.inf:
        return None
    height, shape = math.log(upper / median), 1.0
    if lower > median:
        # Two quantiles q1, q2 with log(q / median) = scale z^shape give shape = log(h2 / h1) /
        # log(z2 / z1).
        found = math.log(height / math.log(lower / median)) / math.log(Z_UPPER / Z_LOWER)
        shape = (count * found + PRIOR_ROWS) / (count + PRIOR_ROWS)
    return _Bulk(count, median, upper, max(min(shape, SHAPES[1]), least_shape))


@dataclass(frozen=True)
class ClearOutliers:
    """Rows whose scores lie far above those of all others."""

    count: int
    margin: float
    """Lowest of their scores, relative to the next one."""


def clear_outliers(scores: np.ndarray, most: int) -> ClearOutliers | None:
    """Return those of the ``most`` highest scores that tables without outliers hardly ever have.

    By one of the pairs of ``CLEAR``, few ordinary rows are expected to score as high, and the next
    score is lower by a large enough factor. ``None`` if there are no such scores.
    """
    count, _ = count_and_mean(scores)
    bulk = _bulk(scores, count) if count >= FEWEST_ROWS else None
    if bulk is None or bulk.upper < bulk.median * (1 + ROUNDING):
        return None
    top = _highest(scores, most + 1)
    limits = [(bulk.exceeded_by(expected), margin) for expected, margin in CLEAR]
    # The largest group comes first: two outliers that score alike have no gap between them, but one
    # below both.
    for k in range(min(most, top.size - 1), 0, -1):
        if any(top[k - 1] > limit and top[k - 1] >= margin * top[k] for limit, margin in limits):
            margin = float(top[k - 1]) / max(float(top[k]), sys.float_info.min)
            return ClearOutliers(k, min(margin, sys.float_info.max))
    return None


def _below_highest(scores: np.ndarray, count: int, k: int) -> float:
    """Return a number between the k-th highest score and the next lower one.

    ``count`` is the number of scores that are not NaN. Infinity if many rows share the k-th highest
    score, since all of them would be flagged.
    """
    if not 0 < k < count:
        return math.inf
    # One more than may be flagged: the score below the tie is needed to set the threshold between.
    top = _highest(scores, TIES * k + 1)
    reaching = int(np.count_nonzero(top >= top[k - 1] * (1 - ROUNDING)))
    if reaching == top.size:
        return math.inf
    nearly, times = TWINS
    for last in range(reaching, top.size - 1):
        distance, gap = top[k - 1] - top[last], top[last] - top[last + 1]
        if distance <= nearly * top[k - 1] and gap >= times * distance:
            reaching = last + 1
    # Halved first: the sum may overflow.
    return float(top[reaching - 1] / 2 + top[reaching] / 2)


def _in_gap(scores: np.ndarray, count: int, upper: float) -> float:
    """Return the middle of the lowest wide gap below a few of the highest scores.

    Infinity if there is none. ``upper`` is the 90 % quantile of the ``count`` scores: a gap below
    it would be part of the bulk.
    """
    if count < FEWEST_ROWS_WITH_GAP:
        return math.inf
    share, fewest = GROUP_ABOVE_GAP
    most = max(int(share * count), fewest)
    top = _highest(scores, most + 1)
    # Divided, since the product may overflow.
    above = np.flatnonzero((top[:-1] / GAP >= top[1:]) & (top[:-1] > upper))
    if not above.size:
        return math.inf
    low, high = float(top[above[-1] + 1]), float(top[above[-1]])
    # Not (low + high) / 2, which may overflow.
    return max(low, upper) + (high - max(low, upper)) / 2


def _above_ties(scores: np.ndarray, threshold: float, most: int) -> float:
    """Return a threshold above ties of more than ``most`` rows that are close to the given one."""
    limit = threshold * (1 + TIE_MARGIN)
    near = np.sort(
        np.concatenate([part[(part > threshold) & (part <= limit)] for part in _parts(scores)])
    )
    start, tie = 0, None
    while near.size - start > most:
        stop = int(np.searchsorted(near, near[start] * (1 + ROUNDING), side="right"))
        if stop - start > most:
            tie = float(near[stop - 1])
        start = stop
    return threshold if tie is None else _just_above(scores, tie)


def _above_equal(scores: np.ndarray, threshold: float) -> float:
    """Return a threshold above the scores that equal the given one up to rounding."""
    equal = [part[np.abs(part - threshold) <= ROUNDING * threshold] for part in _parts(scores)]
    highest = max(float(part.max(initial=-math.inf)) for part in equal)
    return threshold if highest == -math.inf else _just_above(scores, highest)


def _just_above(scores: np.ndarray, score: float) -> float:
    """Return a threshold that separates a score from the next higher one."""
    higher = min(float(part[part > score].min(initial=math.inf)) for part in _parts(scores))
    return min(score + (higher - score) / 2, score * (1 + CLEARANCE), sys.float_info.max)


def _highest(scores: np.ndarray, size: int) -> np.ndarray:
    """Return the highest scores in descending order."""
    top = np.empty(0)
    for part in _parts(scores):
        top = np.concatenate([top, part[~np.isnan(part)]])
        # partition is linear, and top never holds more than a block and the highest scores.
        if top.size > size:
            top = np.partition(top, top.size - size)[top.size - size :]
    return np.sort(top)[::-1]


def _parts(scores: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the scores, which may lie in a file, a block at a time."""
    for part in row_blocks(scores.size, ROWS_AT_ONCE):
        yield np.asarray(scores[part])
