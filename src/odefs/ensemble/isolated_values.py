"""Columns with a value far beyond all others: learned subsets without them would hide its row.

Contrast, stability and tail are measured on many rows, which a single absurd value does not change:
a wind speed of 1,048 among speeds of up to 40 is evidence neither for a subset with that column nor
against one without it. But its row is what a person wants to see first, so subsets that leave such
a column out get only a small share of the score.
"""

import numpy as np

from odefs.scaling import CLIP_UNSCALED, TAIL_SIGMAS, ColumnRanges, Scaling, middle_and_sigma

TIMES_AS_FAR = 6.0
"""How many times as far from the median as nearly all others the farthest value must be.

Among 25 real datasets the highest are wafer with 5.2 and musk with 5.3; a decimal point in the
wrong place makes it ten.
"""

TIMES_THE_TAIL = 3.0
"""How much longer than the step from the farthest hundredth to nearly all values the gap must be.

Long tails, such as those of amounts, go on at their pace.
"""

FEW_ROWS = 5
FEW_SHARE = 0.001
"""Nearly all rows are all but ``FEW_ROWS``, or all but a thousandth if that is more."""

FEWEST_ROWS = 100


def isolated_columns(ranges: ColumnRanges, scaling: Scaling, sample: np.ndarray) -> np.ndarray:
    """Numbers of the columns whose lowest or highest value is far beyond nearly all others.

    ``ranges`` are those of all rows, ``sample`` some of the rows, scaled.
    """
    if len(sample) < FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    middle, sigma = middle_and_sigma(sample)
    # Scaled values grow with the logarithm of the distance beyond TAIL_SIGMAS, so that differences
    # of them are ratios of distances. Rows that come unscaled are those of an encoder, which does
    # the same; after other scalings it is done here.
    is_linear = scaling.tails is None and scaling.clip != CLIP_UNSCALED

    def drawn_in(distances: np.ndarray, reach: np.ndarray) -> np.ndarray:
        if not is_linear:
            return distances
        beyond = np.maximum(distances / np.maximum(reach, np.finfo(np.float64).tiny), 1.0)
        return np.minimum(distances, reach * (1 + np.log(beyond)))

    ends = np.stack([ranges.low, ranges.high])
    ends = scaling.apply(np.where(ranges.count > 0, ends, 0.0), np.empty(ends.shape))
    farthest = drawn_in(np.abs(ends - middle).max(axis=0), TAIL_SIGMAS * sigma)
    # Most columns are ruled out by their spread alone.
    needed = np.log(TIMES_AS_FAR) * TAIL_SIGMAS * sigma
    columns = np.flatnonzero((sigma > 0) & (farthest > needed))
    distances = np.abs(sample[:, columns] - middle[columns])
    distances = drawn_in(distances, TAIL_SIGMAS * sigma[columns])
    # Two values are a category: its rarer one is not far from others, but rare.
    is_two_valued = ((distances < 1e-6) | (distances > farthest[columns] - 1e-6)).all(axis=0)
    distances = np.sort(np.nan_to_num(distances), axis=0)
    n_few = max(FEW_ROWS, int(FEW_SHARE * len(sample)))
    nearly_all, most = distances[-1 - n_few], distances[-1 - 10 * n_few]
    gap = farthest[columns] - nearly_all
    is_far = gap > np.maximum(needed[columns], TIMES_THE_TAIL * (nearly_all - most))
    return columns[is_far & ~is_two_valued]
