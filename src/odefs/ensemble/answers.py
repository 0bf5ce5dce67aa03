"""What answered rows teach about other rows: the memory of a model that has been reviewed.

Random draws of reference rows divide the space into cells, one around each reference, as LeSiNN's
subsets do. Two rows resemble each other by the share of draws in which they have the same nearest
reference, a kernel ``k(x, y)``. Every answer ``j`` has an amount ``a_j``, positive where the row is
confirmed (:mod:`odefs.review.posterior` computes them), and

    ``log s'(x) = log s(x) + unit sum_j a_j k(x, j)``

is the score after the review. The sum is a look-up: each reference holds the amounts of the answers
in its cell, and a row adds those of its nearest references. Scores stay positive, and rows that
resemble no answered row keep theirs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.kernels.distances_with_missing import masked_squared
from odefs.kernels.nearest_members import nearest_members

ROWS_PER_BLOCK = 256

MAX_SHIFT = 30.0
"""Largest change of the logarithm of a score: scores stay finite."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of one size, scaled: row ``p * n_draws + d`` is member ``p`` of draw ``d``.

    A draw that looks at some columns only has 0 in all others, which then add the same to the
    distances of all its members.
    """

    rows: np.ndarray
    n_draws: int

    @property
    def size(self) -> int:
        """Number of references of a draw, at most 256: cells are stored in a byte."""
        return len(self.rows) // self.n_draws

    @cached_property
    def _is_complete(self) -> bool:
        return not np.isnan(self.rows).any()

    @cached_property
    def _references(self) -> np.ndarray:
        return self.rows.astype(np.float64)

    def of_block(self, X: np.ndarray) -> np.ndarray:
        """The cell of each scaled row in each draw."""
        if self._is_complete and not np.isnan(X).any():
            return nearest_members(X, self._references, self.n_draws) // self.n_draws
        squares = masked_squared(X, self._references, None)
        # A row that shares no column with any reference is in the first cell.
        squares = np.where(np.isnan(squares), np.inf, squares)
        return squares.reshape(self.size, self.n_draws, X.shape[0]).argmin(axis=0)


@dataclass(frozen=True, eq=False)
class Cells:
    """Draws of several sizes, which divide the space into cells."""

    groups: tuple[Draws, ...]

    @property
    def n_draws(self) -> int:
        return sum(group.n_draws for group in self.groups)

    @property
    def n_references(self) -> int:
        return sum(len(group.rows) for group in self.groups)

    @property
    def size(self) -> int:
        """Number of references of the largest draw."""
        return max(group.size for group in self.groups)

    def of(self, X: np.ndarray) -> np.ndarray:
        """The cell of each scaled row in each draw, ``(n_draws, n_rows)`` bytes."""
        found = np.empty((self.n_draws, X.shape[0]), dtype=np.uint8)
        for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
            block = X[rows].astype(np.float64)
            found[:, rows] = np.concatenate([group.of_block(block) for group in self.groups])
        return found


def resemblance(cells: np.ndarray, one: np.ndarray) -> np.ndarray:
    """The kernel: share of the draws in which rows are in the cell of another row."""
    same = np.zeros(cells.shape[1], dtype=np.uint16)
    for of_draw, cell in zip(cells, one, strict=True):
        same += of_draw == cell
    return same / len(cells)


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

    @cached_property
    def _of_cells(self) -> np.ndarray:
        """Amounts of the answers in each cell, ``(n_draws, size)``."""
        return amounts_of_cells(self.cells, self.amounts, self.draws.size)

    def shifts(self, X: np.ndarray) -> np.ndarray:
        """What the answers add to the logarithms of the scores of scaled rows."""
        return shifts_of_cells(self.draws.of(X), self._of_cells) * self.unit

    def apply(self, X: np.ndarray, scores: np.ndarray) -> None:
        """Change the scores of scaled rows in place."""
        scores *= np.exp(np.clip(self.shifts(X), -MAX_SHIFT, MAX_SHIFT))

    def resemblances(self, X: np.ndarray) -> np.ndarray:
        """The kernel of scaled rows and answered rows, ``(n_rows, n_answers)``."""
        cells = self.draws.of(X)
        return np.stack([resemblance(cells, one) for one in self.cells.T], axis=1)


def amounts_of_cells(cells: np.ndarray, amounts: np.ndarray, size: int) -> np.ndarray:
    """Amounts of the answers in each cell of each draw, divided by the number of draws."""
    return np.stack([np.bincount(of, weights=amounts, minlength=size) for of in cells]) / len(cells)


def shifts_of_cells(cells: np.ndarray, of_cells: np.ndarray) -> np.ndarray:
    """Sum over the draws of the amounts of the cells that rows are in."""
    out = np.zeros(cells.shape[1])
    for of_draw, amounts in zip(cells, of_cells, strict=True):
        if amounts.any():
            out += amounts.take(of_draw)
    return out
