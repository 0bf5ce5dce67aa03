"""The memory of a model that has learned from answers.

With ``k(x, j)`` the resemblance of a row and an answered row (:mod:`odefs.answers.cells`) and
``a_j`` the amount of an answer (:mod:`odefs.answers.posterior`),

    ``log s'(x) = log s(x) + unit (sum_j a_j k(x, j) + direction(x))``

is the score after the answers. The sum is a look-up: each reference holds the amounts of the
answers in its cell, and a row adds those of its nearest references. Scores stay positive, and rows
that resemble no answered row keep theirs. The direction (:mod:`odefs.answers.direction`) is learned
from outliers that were known before the fit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odefs.answers.cells import Cells, amounts_of_cells, resemblance, shifts_of_cells
from odefs.answers.direction import Direction

MAX_SHIFT = 30.0
"""Largest change of the logarithm of a score: scores stay finite."""


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
        scores *= np.exp(np.clip(self.shifts(X), -MAX_SHIFT, MAX_SHIFT))

    def resemblances(self, X: np.ndarray) -> np.ndarray:
        """The kernel of scaled rows and answered rows, ``(n_rows, n_answers)``."""
        cells = self.draws.of(X)
        return np.stack([resemblance(cells, one) for one in self.cells.T], axis=1)
