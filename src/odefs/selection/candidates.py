"""Outlier candidates: rows whose bare score exceeds ``mu + a sigma`` (Eq. 3, Cantelli's rule).

Cantelli's inequality bounds the share of *all* rows above the threshold by ``1 / (1 + a^2)``. It
does not bound how many of those rows are outliers; see :mod:`odefs.theory`.
"""

from dataclasses import dataclass

import numpy as np

from odefs.kernels.row_reductions import mean_and_std, row_chunks

FEWEST = 10
"""With fewer rows above the threshold, the rows with the highest scores are used instead.

The paper does not consider this case, which small tables have.
"""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Row numbers in ascending order, the threshold, and how many rows were above it.

    Only rows that may be candidates are counted.
    """

    rows: np.ndarray
    threshold: float
    n_above: int


def cantelli_threshold(scores: np.ndarray, rate: float) -> float:
    """``mu + a sigma`` of the scores; rows without a score (NaN) do not count."""
    count, mean, std = mean_and_std(scores)
    return mean + rate * std if count else np.inf


def find_candidates(scores: np.ndarray, rate: float, never: np.ndarray | None = None) -> Candidates:
    """Rows above the threshold, or the ``FEWEST`` highest if there are fewer.

    Ties go to the lower row number. Rows in ``never`` are not candidates.
    """
    threshold = cantelli_threshold(scores, rate)
    parts = list(row_chunks(scores.size))
    # Strictly above the threshold, as in Eq. 3.
    rows = np.concatenate([np.flatnonzero(scores[part] > threshold) + part.start for part in parts])
    barred = np.empty(0, dtype=np.intp) if never is None else never
    rows = np.setdiff1d(rows, barred, assume_unique=True)
    n_above = rows.size
    if n_above < FEWEST:
        # Every barred row may be among the highest of a chunk, and FEWEST others must be left.
        room = FEWEST + barred.size
        highest = np.concatenate([_highest(scores[part], room) + part.start for part in parts])
        highest = np.setdiff1d(highest, barred, assume_unique=True)
        rows = np.sort(highest[_highest(scores[highest])])
    return Candidates(rows, threshold, int(n_above))


def _highest(scores: np.ndarray, size: int = FEWEST) -> np.ndarray:
    """Places of the highest scores in ascending order."""
    # A stable sort gives ties to the lower row number. Rows without a score come last.
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return np.sort(order[:size])
