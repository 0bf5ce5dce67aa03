"""The memory of a model that has learned from answers: it changes the scores of other rows.

With ``k(x, j)`` the resemblance of a row and an answered row (:mod:`odefs.answers.cells`) and
``a_j`` the amount of an answer (:mod:`odefs.answers.posterior`),

    ``log s'(x) = log s(x) + unit (sum_j a_j k(x, j) + direction(x))``

is the score after the answers. The sum is a look-up: each reference holds the amounts of the
answers in its cell, and a row adds those of its nearest references. Scores stay positive, and rows
that resemble no answered row keep theirs.

The direction is learned from outliers that were known before the fit: columns in which they are
shifted together. For ``k`` known outliers with means ``m_j`` and standard deviations ``s_j`` in
columns that are standardised over all rows, ``w_j = sign(m_j) (|m_j| - t_j / 2)`` where ``|m_j|``
exceeds ``t_j = sqrt(2 log(2 p) / k) max(1, s_j)``, and 0 elsewhere. The limit is about what the
largest of ``p`` means of ``k`` ordinary rows reaches: known cases that have nothing in common
rarely have a direction. ``w . x - |w|^2 / 2`` is the log likelihood ratio of the shift. It only
raises scores, and by a bounded amount: most rows keep theirs, and outliers of another kind are not
hidden.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odefs.answers.cells import Cells, amounts_of_cells, resemblance, shifts_of_cells
from odefs.detectors.base import row_sums

FEWEST_KNOWN = 3

CLIP = 5.0
"""Standardised values are clipped here: one extreme value must not decide alone."""

MAX_ADDED = 5.0
"""Limit of what is added, in standard deviations of log scores; approached smoothly."""
MAX_SHIFT = 30.0
"""Largest change of the logarithm of a score: scores stay finite."""


@dataclass(frozen=True, eq=False)
class Direction:
    """Columns with their means, standard deviations and weights."""

    columns: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    w: np.ndarray

    def of(self, X: np.ndarray) -> np.ndarray:
        """What the direction adds to scaled rows; missing cells count as means."""
        # row_sums, so that a row's score does not depend on its batch.
        ratio = row_sums(_standardised(X[:, self.columns], self.mean, self.std) * self.w)
        ratio -= float(np.square(self.w).sum()) / 2
        # tanh has slope 1 at 0: small ratios count as they are, and the order of large ones is
        # kept.
        return np.asarray(MAX_ADDED * np.tanh(np.maximum(ratio, 0.0) / MAX_ADDED))


def find_direction(sample: np.ndarray, known: np.ndarray) -> Direction | None:
    """The direction of known outliers, given a sample of all rows; both are scaled."""
    if len(known) < FEWEST_KNOWN:
        return None
    sample = sample.astype(np.float64)
    seen = ~np.isnan(sample)
    count = np.maximum(1, seen.sum(axis=0))
    mean = np.where(seen, sample, 0.0).sum(axis=0) / count
    std = np.sqrt((np.where(seen, sample - mean, 0.0) ** 2).sum(axis=0) / count)
    # A column that is constant up to rounding would give huge standardised values.
    varies = std > 1e-9 * np.maximum(1.0, np.abs(mean))
    std = np.where(varies, std, 1.0)
    z = _standardised(known, mean, std)
    middle, spread = z.mean(axis=0), z.std(axis=0, ddof=1)
    # The expected maximum of p standard normal values is about sqrt(2 log p); 2 p for both signs.
    limit = np.sqrt(2 * np.log(2 * sample.shape[1]) / len(z)) * np.maximum(1.0, spread)
    columns = np.flatnonzero(varies & (np.abs(middle) > limit))
    if not columns.size:
        return None
    w = np.sign(middle[columns]) * (np.abs(middle[columns]) - limit[columns] / 2)
    return Direction(columns, mean[columns], std[columns], w)


def _standardised(X: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    z = (X.astype(np.float64) - mean) / std
    return np.clip(np.nan_to_num(z, nan=0.0), -CLIP, CLIP)


def factors(shifts: np.ndarray) -> np.ndarray:
    """By what scores are multiplied if their logarithms change by ``shifts``."""
    return np.asarray(np.exp(np.clip(shifts, -MAX_SHIFT, MAX_SHIFT)))


@dataclass(frozen=True, eq=False)
class AnswerMemory:
    """Answers by the cells of their rows, and what they add to the logarithm of a score."""

    draws: Cells
    unit: float
    """Standard deviation of the logarithms of the training scores."""
    cells: np.ndarray
    """Cells of the answered rows, ``(n_draws, n_answers)``."""
    gaps: np.ndarray
    """How far the log score of each row was from where its answer puts it."""
    amounts: np.ndarray
    """Amount of each answer, in units of ``unit`` like the gaps."""
    is_outlier: np.ndarray
    """Whether each answered row was confirmed."""
    numbers: np.ndarray
    """Numbers of the answered rows in the table of the review."""
    direction: Direction | None = None

    @cached_property
    def _of_cells(self) -> np.ndarray:
        """Amounts of the answers in each cell, ``(n_draws, size)``."""
        return amounts_of_cells(self.cells, self.amounts, self.draws.size)

    def shifts(self, X: np.ndarray) -> np.ndarray:
        """What the answers add to the logarithms of the scores of scaled rows."""
        shifts = np.zeros(X.shape[0])
        if self.amounts.any():
            shifts += shifts_of_cells(self.draws.of(X), self._of_cells)
        if self.direction is not None:
            shifts += self.direction.of(X)
        return shifts * self.unit

    def apply(self, X: np.ndarray, scores: np.ndarray) -> None:
        """Change the scores of scaled rows in place."""
        scores *= factors(self.shifts(X))

    def resemblances(self, X: np.ndarray) -> np.ndarray:
        """The kernel of scaled rows and answered rows, ``(n_rows, n_answers)``."""
        cells = self.draws.of(X)
        return np.stack([resemblance(cells, one) for one in self.cells.T], axis=1)
