"""Percentile of a score among the scores of the training rows, from a fixed number of quantiles."""

import numpy as np

from odefs.kernels.row_reductions import CHUNK_ROWS

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
    step = -(-scores.size // MOST_SCORES)
    sample = np.concatenate(
        [np.asarray(scores[k : k + CHUNK_ROWS])[-k % step :: step] for k in _starts(scores.size)]
    )
    known = np.minimum(sample[~np.isnan(sample)], np.finfo(np.float64).max)
    if not known.size:
        return np.zeros(SHARES.size)
    found = np.quantile(known.astype(np.float64), SHARES)
    if step > 1:
        found[-1] = max(float(np.nanmax(scores[k : k + CHUNK_ROWS])) for k in _starts(scores.size))
    return found


def percentiles(quantiles: np.ndarray | None, scores: np.ndarray) -> np.ndarray:
    """Return the percentage of training rows that score lower; NaN for NaN.

    Where training rows have equal scores, half of them count. All percentiles are NaN without
    quantiles, which model files of earlier versions lack.
    """
    if quantiles is None:
        return np.full(np.shape(scores), np.nan)
    known, first = np.unique(quantiles, return_index=True)
    last = np.append(first[1:], quantiles.size) - 1
    shares = (SHARES[first] + SHARES[last]) / 2
    found = 100 * np.interp(scores, known, shares, left=0.0, right=1.0)
    return np.where(np.isnan(scores), np.nan, np.round(found, DIGITS))


def _starts(size: int) -> range:
    return range(0, size, CHUNK_ROWS)
