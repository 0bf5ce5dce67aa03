"""Outlier candidates: the rows whose bare score exceeds ``mu + a sigma`` (the paper's Eq. 3, Cantelli's rule).

Cantelli's inequality bounds the share of *all* rows above the threshold by ``1 / (1 + a^2)``. It says nothing about how many of those rows
are outliers; see :mod:`odefs.theory`.
"""

from dataclasses import dataclass

import numpy as np

FEWEST = 10
"""With fewer rows above the threshold than this, the rows with the highest scores stand in."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Row numbers in ascending order, the threshold, and how many rows were above it."""

    rows: np.ndarray
    threshold: float
    n_above: int


def cantelli_threshold(scores: np.ndarray, rate: float) -> float:
    """``mu + a sigma`` of the scores; rows without a score (NaN) do not count."""
    known = scores[~np.isnan(scores)]
    if not known.size:
        return np.inf
    with np.errstate(over="ignore"):
        return float(known.mean() + rate * known.std())


def find_candidates(scores: np.ndarray, rate: float) -> Candidates:
    """Rows above the threshold, or the ``FEWEST`` highest where there are too few; the lower row number wins ties."""
    threshold = cantelli_threshold(scores, rate)
    rows = np.flatnonzero(scores > threshold)
    n_above = rows.size
    if n_above < FEWEST:
        order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        rows = np.sort(order[:FEWEST])
    return Candidates(rows, threshold, int(n_above))
