"""The biased walk over the values of all columns (:mod:`odefs.detectors.coupling`)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from odefs.detectors.value_cuts import Cuts

DAMPING = 0.95
MAX_STEPS = 500
TOLERANCE = 1e-8
"""A step of the walk changes no probability by more than this share of the mean one."""

FEW_CELLS = 2**16
"""Cells up to which products with a table of values do not need scipy.sparse.

It is up to four times as fast, but importing it takes a tenth of a short command.
"""


class ValueTable:
    """The value of each column in each row, as a sparse matrix, and how often values occur.

    The most frequent value of a column stands for all cells that the matrix does not hold. Missing
    cells count as that value: they are neither rare nor found together with anything.
    """

    def __init__(self, codes: np.ndarray, unseen: np.ndarray | None, blocks: list[slice]) -> None:
        """``unseen`` marks missing cells; ``None`` if there are none."""
        n_rows, n_blocks = codes.shape[0], len(blocks)
        start = np.array([block.start for block in blocks])
        widths = np.array([block.stop for block in blocks]) - start
        sizes = np.where(widths > 1, widths, codes.max(axis=0)[start].astype(np.intp) + 1)
        self.first = np.cumsum(sizes) - sizes
        """Number of each column's first value."""
        self.block = np.repeat(np.arange(n_blocks), sizes)
        """Column of each value."""
        numbers = np.add(np.take(codes, start, axis=1), self.first, dtype=np.intp)
        is_missing = np.zeros(numbers.shape, dtype=bool)
        if unseen is not None:
            # The value of a one-hot block is that of the column that is on, missing or not.
            is_missing = unseen[:, start] & (widths == 1)
        for place in np.flatnonzero(widths > 1):
            own = codes[:, blocks[place]]
            if unseen is not None:
                own = own - unseen[:, blocks[place]]
            numbers[:, place] = self.first[place] + own.argmax(axis=1)
        counts = np.bincount(
            numbers.ravel() if unseen is None else numbers[~is_missing], minlength=self.block.size
        )
        # By column, then by frequency; of equally frequent values the first one is the mode.
        order = np.lexsort((-counts, self.block))
        self.mode = order[self.first]
        """Number of each column's most frequent value."""
        counts[self.mode] += np.count_nonzero(is_missing, axis=0)
        self.occurs = counts > 0
        # Empty bins must not divide by 0; occurs tells them apart.
        self.counts = np.maximum(counts, 1).astype(np.float64)
        self.share = self.counts / n_rows
        is_other = (numbers != self.mode) & ~is_missing
        indices = numbers[is_other]
        ends = np.cumsum(np.count_nonzero(is_other, axis=1))
        self.others = _occurrences(indices, ends, self.block.size)
        """Which of the less frequent values each row has."""
        self._rows_of_others = self.others.T

    def sums(self, amounts: np.ndarray) -> np.ndarray:
        """Sum of the amounts of the values that each row has."""
        # The sum of the modes, corrected where a row has another value: the matrix holds only
        # these.
        usual = amounts[self.mode]
        return np.asarray(usual.sum() + self.others @ (amounts - usual[self.block]))

    def totals(self, of_rows: np.ndarray) -> np.ndarray:
        """Sum of the rows' amounts for each value that they have."""
        found = np.asarray(self._rows_of_others @ of_rows)
        found[self.mode] = of_rows.sum() - self.over_columns(np.add, found)
        return found

    def over_columns(self, reduce: np.ufunc, amounts: np.ndarray) -> np.ndarray:
        """Reduce over the values of each column."""
        return np.asarray(reduce.reduceat(amounts, self.first))

    def by_column(self, scores: np.ndarray, cut: Cuts) -> np.ndarray:
        """The scores as a table, shape ``(n_cuts + 1, n_columns)``.

        Another value in a column that was constant is as rare as the rarest one.
        """
        table = np.zeros((len(cut.cuts) + 1, cut.cuts.shape[1]))
        highest = scores.max()
        bounds = [*self.first.tolist(), self.block.size]
        for place, block in enumerate(cut.blocks):
            number = slice(bounds[place], bounds[place + 1])
            # A value without training rows is at least as rare as the rarest of its column.
            own = np.where(self.occurs[number], scores[number], scores[number].max())
            if block.stop - block.start > 1:
                table[1, block] = own
            elif cut.n_values[block.start] < 2:
                table[[0, 2], block.start] = highest
            else:
                table[: own.size, block.start] = own
        return table


class _Cells:
    """A matrix of ones, given by the row and column numbers of its cells.

    Products add up in the order of the cells, as those of scipy's sparse matrices do, so that both
    give the same bits.
    """

    def __init__(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape

    @property
    def T(self) -> "_Cells":
        return _Cells(self.columns, self.rows, self.shape[::-1])

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        return np.bincount(self.rows, vector[self.columns], minlength=self.shape[0])


def _occurrences(values: np.ndarray, ends: np.ndarray, n_values: int) -> Any:
    """A matrix with a one for each value of a row; ``ends`` are the rows' ends in ``values``."""
    shape = (ends.size, n_values)
    if values.size <= FEW_CELLS:
        return _Cells(np.repeat(np.arange(ends.size), np.diff(ends, prepend=0)), values, shape)
    from scipy.sparse import csr_array

    return csr_array((np.ones(values.size), values, np.concatenate([[0], ends])), shape=shape)


def coupling(values: ValueTable) -> np.ndarray:
    """``rel(f) pi(v)`` of every value."""
    pi = stationary(values)
    return values.over_columns(np.add, pi)[values.block] * pi


def stationary(values: ValueTable) -> np.ndarray:
    """The stationary distribution of the biased walk over the values.

    The matrix of co-occurrences is never formed: a step is a product with the values of the rows
    and one with their transpose. Values of one column never occur together, so that only the
    diagonal has to be left out.

    The walk is reversible: weighted by what leaves each value, steps are as likely forwards as
    backwards. The distribution therefore solves symmetric equations, which takes conjugate
    gradients a quarter of the steps of walking.
    """
    highest = values.share[values.mode][values.block]
    delta = ((1 - highest) + (highest - values.share) / highest) / 2
    bias = np.where(values.occurs, delta / values.counts, 0.0)

    def co_occurring(amounts: np.ndarray) -> np.ndarray:
        return values.totals(values.sums(amounts)) - values.counts * amounts

    leaving = co_occurring(bias)
    per_step = np.divide(1.0, leaving, out=np.zeros_like(leaving), where=leaving > _TINY)
    restart = (1 - DAMPING) * values.occurs / values.occurs.sum()
    # No step leads to a value with bias 0: it has the probability of a restart.
    known = np.where(bias > 0, 0.0, restart) * per_step
    fixed = restart + DAMPING * bias * co_occurring(known)
    half = np.sqrt(bias * per_step)
    root = np.divide(half, bias, out=np.zeros_like(bias), where=bias > 0)

    def walked(z: np.ndarray) -> np.ndarray:
        return z - DAMPING * half * co_occurring(half * z)

    bound = TOLERANCE * restart.max() / (1 - DAMPING)
    start = half * leaving / max(float(bias @ leaving), _TINY)
    z = _conjugate_gradients(walked, root * fixed, start, half * leaving, bound)
    # half * z is pi / leaving of the values with a bias. A step of the walk gives pi of all values.
    pi = fixed + DAMPING * bias * co_occurring(half * z)
    # Rounding may leave tiny negative probabilities, and scores must not be negative.
    return np.maximum(pi / pi.sum(), 0.0)


def _conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    start: np.ndarray,
    scale: np.ndarray,
    bound: float,
) -> np.ndarray:
    """Solve ``product(z) = right`` until the residual, times ``scale``, is within the bound."""
    z = start
    residual = right - product(z)
    direction, square = residual, float(residual @ residual)
    for _ in range(MAX_STEPS):
        if float(np.abs(scale * residual).max()) <= bound:
            break
        through = product(direction)
        length = square / float(direction @ through)
        z = z + length * direction
        residual = residual - length * through
        last, square = square, float(residual @ residual)
        direction = residual + square / last * direction
    return z


_TINY = 1e-9
"""Weights below are rounding errors: no step leads away from such a value."""
