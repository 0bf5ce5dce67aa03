"""Percentile of a score among the scores of the training rows, from a fixed number of quantiles."""

import numpy as np

from odefs.kernels.row_reductions import row_chunks

MOST_SCORES = 2**17
"""Scores that quantiles are computed from."""

SHARES = np.concatenate([np.linspace(0, 0.99, 199), 1 - np.geomspace(0.01, 1e-6, 57)[1:], [1.0]])
"""Shares of the training rows at the stored quantiles: denser where scores are high."""

DIGITS = 4
"""Decimal places of percentiles."""


def score_quantiles(scores: np.ndarray) -> np.ndarray:
    """Return the scores at ``SHARES``.

    More than ``MOST_SCORES`` are represented by every k-th of them and the highest one.
    """
    # Rows 0, step, 2 step, ... of the whole table, wherever a chunk starts: the quantiles do not
    # depend on whether the scores are in memory or in a file.
    step = -(-scores.size // MOST_SCORES)
    sample = np.concatenate(
        [np.asarray(scores[part])[-part.start % step :: step] for part in row_chunks(scores.size)]
    )
    # Model files refuse quantiles that are not finite.
    known = np.minimum(sample[~np.isnan(sample)], np.finfo(np.float64).max)
    if not known.size:
        return np.zeros(SHARES.size)
    found = np.quantile(known.astype(np.float64), SHARES)
    if step > 1:
        # The highest score may not be in the sample: without it, all rows above the sample would
        # have percentile 100.
        found[-1] = max(float(np.nanmax(scores[part])) for part in row_chunks(scores.size))
    return found


def percentiles(quantiles: np.ndarray | None, scores: np.ndarray) -> np.ndarray:
    """Return positions among the training scores, 0 for the lowest and 100 for the highest.

    They are interpolated between the quantiles; a score that many training rows have is in the
    middle of their range. NaN for NaN. All percentiles are NaN without quantiles, which model files
    of earlier versions lack.
    """
    if quantiles is None:
        return np.full(np.shape(scores), np.nan)
    # interp needs ascending values. Equal quantiles mean that many rows share a score.
    known, first = np.unique(quantiles, return_index=True)
    last = np.append(first[1:], quantiles.size) - 1
    shares = (SHARES[first] + SHARES[last]) / 2
    found = 100 * np.interp(scores, known, shares, left=0.0, right=1.0)
    return np.where(np.isnan(scores), np.nan, np.round(found, DIGITS))
