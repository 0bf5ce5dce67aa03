"""The score above which rows are flagged, from the scores of a table alone.

In tables without outliers, logarithms of scores above their median are distributed much like the
upper half of a normal distribution, whatever the table's size and kind
(``docs/explanation/flags.md``). The model of the bulk is therefore

    log(score) = log(median) + scale * z ** shape,

where ``z`` is the positive half of a standard normal variable. The 75 % and 90 % quantiles, which
up to a tenth of the rows cannot move far, give scale and shape; the shape is drawn towards 1 in
tables of few rows. The threshold is the score that ``max_false_flags`` of such rows, say k, are
expected to exceed. It is never above the k-th highest score, which k of as many new rows exceed on
average, whatever the distribution.
"""

import math
import sys
from statistics import NormalDist

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.kernels.row_reductions import count_and_mean, percentile_of_known

FEWEST_ROWS = 30
"""Quantiles of fewer scores say too little about their tail."""

QUANTILES = 0.75, 0.9

SHAPES = 1.0, 1.8
"""Smallest and largest shape. Lighter tails than the normal one are not made use of."""

LEAST_SHARE, LARGEST_LOGARITHM = 1e-300, 300.0
"""Bounds that keep the arithmetic finite."""

ROWS_AT_ONCE = 2**16

TIES = 3
"""The k highest scores may be shared by this number of times k rows."""

ROUNDING = 1e-6
"""Scores whose relative difference is smaller count as equal."""

PRIOR_ROWS = 1000
"""The shape is averaged with 1, which counts as much as this number of rows."""


def tail_threshold(scores: np.ndarray, max_false_flags: float) -> float | None:
    """Return the score that ``max_false_flags`` ordinary rows are expected to exceed.

    ``None`` if there are fewer than ``FEWEST_ROWS`` scores. Rows without a score (NaN) do not
    count. Where so many scores are equal that the quantiles do not differ, only the highest scores
    are flagged.
    """
    count, _ = count_and_mean(scores)
    if count < FEWEST_ROWS:
        return None
    shares = (0.5, *QUANTILES)
    median, lower, upper = (percentile_of_known(scores, count, 100 * share) for share in shares)
    highest = _below_highest(scores, count, int(max_false_flags))
    if not 0 < median < upper < math.inf or upper / median == math.inf:
        return highest if highest < math.inf else percentile_of_known(scores, count, 100.0)
    normal = NormalDist()
    z_lower, z_upper = map(normal.inv_cdf, QUANTILES)
    height, shape = math.log(upper / median), 1.0
    if lower > median:
        found = math.log(height / math.log(lower / median)) / math.log(z_upper / z_lower)
        shape = (count * found + PRIOR_ROWS) / (count + PRIOR_ROWS)
    shape = min(max(shape, SHAPES[0]), SHAPES[1])
    # Half of the rows exceed the median: lower thresholds are outside the model.
    z = max(0.0, -normal.inv_cdf(min(0.5, max(max_false_flags / count, LEAST_SHARE))))
    threshold = median * math.exp(min(height * (z / z_upper) ** shape, LARGEST_LOGARITHM))
    threshold = min(threshold, sys.float_info.max)
    # The last digits of logarithms and powers differ between processors.
    threshold = float(f"{threshold:.12g}")
    # Of nearly equal scores, none is high.
    return min(threshold, highest) if highest > upper * (1 + ROUNDING) else threshold


def _below_highest(scores: np.ndarray, count: int, k: int) -> float:
    """Return a number between the k-th highest score and the next lower one.

    ``count`` is the number of scores that are not NaN. Infinity if many rows share the k-th highest
    score, since all of them would be flagged.
    """
    if not 0 < k < count:
        return math.inf
    top = _highest(scores, TIES * k + 1)
    reaching = int(np.count_nonzero(top >= top[k - 1]))
    return float(top[k - 1] + top[reaching]) / 2 if reaching < top.size else math.inf


def _highest(scores: np.ndarray, size: int) -> np.ndarray:
    """Return the highest scores in descending order."""
    top = np.empty(0)
    for part in row_blocks(scores.size, ROWS_AT_ONCE):
        found = np.asarray(scores[part], dtype=np.float64)
        top = np.concatenate([top, found[~np.isnan(found)]])
        if top.size > size:
            top = np.partition(top, top.size - size)[top.size - size :]
    return np.sort(top)[::-1]
