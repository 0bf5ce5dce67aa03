"""The direction of known outliers: columns in which they are shifted together.

For ``k`` known outliers with means ``m_j`` and standard deviations ``s_j`` in columns that are
standardised over all rows, ``w_j = sign(m_j) (|m_j| - t_j / 2)`` where ``|m_j|`` exceeds
``t_j = sqrt(2 log(2 p) / k) max(1, s_j)``, and 0 elsewhere. The limit is about what the largest of
``p`` means of ``k`` ordinary rows reaches: known cases that have nothing in common rarely have a
direction. ``w . x - |w|^2 / 2`` is the log likelihood ratio of the shift. It only raises scores,
and by a bounded amount: most rows keep theirs, and outliers of another kind are not hidden.
"""

from dataclasses import dataclass

import numpy as np

from odefs.detectors.base import row_sums

FEWEST_KNOWN = 3

CLIP = 5.0
"""Standardised values are clipped here: one extreme value must not decide alone."""

MOST = 5.0
"""Limit of what is added, in standard deviations of log scores; approached smoothly."""


@dataclass(frozen=True, eq=False)
class Direction:
    """Columns with their means, standard deviations and weights."""

    columns: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    w: np.ndarray

    def of(self, X: np.ndarray) -> np.ndarray:
        """What the direction adds to scaled rows; missing cells count as means."""
        ratio = row_sums(_standardised(X[:, self.columns], self.mean, self.std) * self.w)
        ratio -= float(np.square(self.w).sum()) / 2
        return np.asarray(MOST * np.tanh(np.maximum(ratio, 0.0) / MOST))


def find_direction(sample: np.ndarray, known: np.ndarray) -> Direction | None:
    """The direction of known outliers, given a sample of all rows; both are scaled."""
    if len(known) < FEWEST_KNOWN:
        return None
    sample = sample.astype(np.float64)
    seen = ~np.isnan(sample)
    count = np.maximum(1, seen.sum(axis=0))
    mean = np.where(seen, sample, 0.0).sum(axis=0) / count
    std = np.sqrt((np.where(seen, sample - mean, 0.0) ** 2).sum(axis=0) / count)
    varies = std > 1e-9 * np.maximum(1.0, np.abs(mean))
    std = np.where(varies, std, 1.0)
    z = _standardised(known, mean, std)
    middle, spread = z.mean(axis=0), z.std(axis=0, ddof=1)
    limit = np.sqrt(2 * np.log(2 * sample.shape[1]) / len(z)) * np.maximum(1.0, spread)
    columns = np.flatnonzero(varies & (np.abs(middle) > limit))
    if not columns.size:
        return None
    w = np.sign(middle[columns]) * (np.abs(middle[columns]) - limit[columns] / 2)
    return Direction(columns, mean[columns], std[columns], w)


def _standardised(X: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    z = (X.astype(np.float64) - mean) / std
    return np.clip(np.nan_to_num(z, nan=0.0), -CLIP, CLIP)
