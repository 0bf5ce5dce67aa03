"""What a review learns: the queue of rows to look at, and the memory of a model.

Both follow from the same answers (:mod:`odefs.answers.posterior`). The queue follows them further
than the model does, which must also be right about new rows.
"""

from collections.abc import Sequence

import numpy as np

from odefs.answers.cells import Cells, amounts_of_cells, resemblance, shifts_of_cells
from odefs.answers.memory import AnswerMemory, factors
from odefs.answers.posterior import (
    amounts_for_new_rows,
    answer_amounts,
    answer_gaps,
    kernel_of,
    posterior_variance,
    prior_of,
)
from odefs.kernels.chunking import row_blocks
from odefs.models.base import OutlierModel
from odefs.system.threads import available_threads, run_tasks

ROWS_PER_BLOCK = 2**16
"""Rows that are looked up at once: their sums stay in cache."""


class AnswerLearner:
    """Learns from answers to rows with known cells.

    ``queue`` holds what rows are ranked by, minus infinity for rows that are not to be asked.
    ``memory`` is what a model has learned, ``None`` without answers.
    """

    def __init__(
        self,
        model: OutlierModel,
        scores: np.ndarray,
        directed: np.ndarray,
        draws: Cells,
        cells: np.ndarray,
    ) -> None:
        self.before, self.directed, self.draws, self.cells = scores, directed, draws, cells
        self.n_threads = available_threads(model.n_jobs)
        self.earlier = model._model.answers
        self.prior = prior_of(scores, None if self.earlier is None else self.earlier.unit)
        self._known = same_rows(self.earlier, cells)
        self._lines = _Resemblances(cells)

    def learn(self, rows: np.ndarray, is_outlier: np.ndarray, asked: Sequence[int]) -> None:
        """Learn from the answers to ``rows``; ``asked`` may have rows that nobody could judge."""
        self.queue = self.prior.values + self.directed
        self.memory, self._kernel = self.earlier, np.empty((0, 0))
        if rows.size:
            self._join(rows, is_outlier)
        elif self.earlier is not None:
            self._kernel = kernel_of(self.earlier.cells)
            # The queue takes the full posterior; the stored amounts are those for new rows, halved
            # and with the sign of the answer.
            amounts = answer_amounts(self._kernel, self.earlier.gaps)
            self.queue += self._look_up(self.earlier.cells, amounts)
        self.queue[list(asked)] = -np.inf
        self.queue[self._known] = -np.inf

    def _join(self, rows: np.ndarray, is_outlier: np.ndarray) -> None:
        """Join the answers to those that the model knows already."""
        cells, gaps = self.cells[:, rows], answer_gaps(self.prior, rows, is_outlier)
        earlier, direction = self.earlier, None
        if earlier is None:
            # Answers come one by one: lines of earlier ones are kept and need not be computed
            # again.
            self._kernel = self._lines.of(rows)
        else:
            direction = earlier.direction
            # A row that is answered again has its new answer only.
            kept = ~np.isin(earlier.numbers, np.intersect1d(rows, self._known))
            cells = np.concatenate([earlier.cells[:, kept], cells], axis=1)
            gaps = np.concatenate([earlier.gaps[kept], gaps])
            is_outlier = np.concatenate([earlier.is_outlier[kept], is_outlier])
            rows = np.concatenate([earlier.numbers[kept], rows])
            self._kernel = kernel_of(cells)
        self.queue += self._look_up(cells, answer_amounts(self._kernel, gaps))
        amounts = amounts_for_new_rows(self._kernel, gaps, is_outlier)
        self.memory = AnswerMemory(
            self.draws, self.prior.std, cells, gaps, amounts, is_outlier, rows, direction
        )

    def scores(self) -> np.ndarray:
        """Scores of all rows as the model with the memory has them."""
        if self.memory is None:
            return self.before.copy()
        shifts = self._look_up(self.memory.cells, self.memory.amounts) + self.directed
        return self.before * factors(self.memory.unit * shifts)

    def chance(self, row: int, answers: Sequence[bool]) -> float:
        """The chance that a row is an outlier."""
        cells = self.cells[:, :0] if self.memory is None else self.memory.cells
        to_row = resemblance(cells, self.cells[:, row])
        value = float(self.queue[row])
        return chance_of_outlier(value, self.prior.targets, self._kernel, to_row, answers)

    def _look_up(self, cells: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        """What answers add to the standardised log scores of all rows."""
        of_cells = amounts_of_cells(cells, amounts, self.draws.size)
        found = np.empty(self.cells.shape[1])

        def look_up(rows: slice) -> None:
            found[rows] = shifts_of_cells(self.cells[:, rows], of_cells)

        run_tasks(look_up, list(row_blocks(found.size, ROWS_PER_BLOCK)), self.n_threads)
        return found


class _Resemblances:
    """Resemblances of answered rows to each other; a new answer adds one line."""

    def __init__(self, cells: np.ndarray) -> None:
        self._cells = cells
        self._lines: dict[int, dict[int, float]] = {}

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The matrix for some rows."""
        wanted = rows.tolist()
        kept = set(wanted)
        self._lines = {row: line for row, line in self._lines.items() if row in kept}
        for row in wanted:
            if row not in self._lines:
                alike = resemblance(self._cells[:, rows], self._cells[:, row]).tolist()
                self._lines[row] = dict(zip(wanted, alike, strict=True))
                for other, share in self._lines[row].items():
                    if other in self._lines:
                        self._lines[other][row] = share
        found = [[self._lines[row][other] for other in wanted] for row in wanted]
        return np.array(found).reshape(len(wanted), len(wanted))


def same_rows(earlier: AnswerMemory | None, cells: np.ndarray) -> np.ndarray:
    """Numbers of the rows that were answered before.

    The table may be another one: a row is the same if its number and all its cells are.
    """
    if earlier is None:
        return np.empty(0, dtype=np.intp)
    inside = np.flatnonzero(earlier.numbers < cells.shape[1])
    numbers = earlier.numbers[inside]
    return np.unique(numbers[(cells[:, numbers] == earlier.cells[:, inside]).all(axis=0)])


INTERCEPT, OF_MEAN, OF_VARIANCE, OF_RATE = -0.56, 1.98, -0.99, 0.63
"""Coefficients of :func:`chance_of_outlier`."""
MEMORY = 0.9
"""Weight of an answer relative to that of the next one."""

PRIOR_HITS, PRIOR_LOOKS = 0.3, 1.0
SMOOTHING = 0.05


def chance_of_outlier(
    value: float,
    targets: dict[bool, float],
    kernel: np.ndarray,
    to_row: np.ndarray,
    answers: Sequence[bool],
) -> float:
    """The chance that the next row is an outlier.

    A logistic regression on the posterior mean and variance of the row and on the rate of recent
    answers. Its coefficients were fitted to reviews of half of 25 datasets and checked on the
    other half; ``python -m benchmarks review`` prints how often it was right.
    """
    span = targets[True] - targets[False]
    # Position of the row between the targets of a no and a yes.
    place = float(np.clip((value - targets[False]) / span, 0.0, 1.5)) if span > 0 else 0.0
    hits, looks = PRIOR_HITS, PRIOR_LOOKS
    for answer in answers:
        hits, looks = MEMORY * hits + answer, MEMORY * looks + 1
    rate = np.log((hits + SMOOTHING) / (looks - hits + SMOOTHING))
    variance = posterior_variance(kernel, to_row)
    odds = INTERCEPT + OF_MEAN * place + OF_VARIANCE * variance + OF_RATE * rate
    return float(1 / (1 + np.exp(-odds)))
