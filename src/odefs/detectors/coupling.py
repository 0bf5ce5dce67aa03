"""Additive detector for discrete columns: rare values, above all those that occur together.

Value coupling (CBRW: Pang, Cao and Chen, IJCAI 2016) is a biased random walk over the values of all
columns. With ``p(v)`` the frequency of a value and ``m`` the most frequent one of its column,
``delta(v) = ((1 - p(m)) + (p(m) - p(v)) / p(m)) / 2``; a step leads from ``u`` to a value ``v`` of
another column with weight ``delta(v) P(u | v)``, and the walk restarts with probability
``1 - DAMPING``. ``pi`` is its stationary distribution, and ``rel(f)`` the sum of ``pi`` over the
values of column ``f``: ``G_f(x) = rel(f) pi(x_f)``.

A value thus scores high if it is rare and occurs in rows with other rare values. To this,
``-log p(x_f)`` is added, which looks at each column alone; each part is divided by its standard
deviation over the rows. Two common values that never go together are not noticed.

Columns of more than twenty values are cut into bins of about equal width. Neighbouring two-valued
columns of which exactly one is on in every row are one column, encoded one-hot.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from odefs.detectors.base import Detector

DAMPING = 0.95
MAX_STEPS = 500
TOLERANCE = 1e-8
"""The walk ends when no probability changes by more than this share of the mean one."""

FEW_VALUES = 20
"""Columns with more values are continuous: their bins are coupled, but are not called rare."""

MAX_BINS = 256

MAX_CELLS = 2**22
FEWEST_ROWS = 512
"""Rows that are looked at: as many as make ``MAX_CELLS`` cells, at least ``FEWEST_ROWS``."""


class Cuts(NamedTuple):
    """How the columns are cut into values."""

    cuts: np.ndarray
    """Ascending limits of each column, shape ``(n_cuts, n_columns)``, padded with infinity."""
    blocks: list[slice]
    """Columns that form one column each: one-hot blocks and single columns."""
    is_discrete: np.ndarray
    """Whether each block has few values."""
    n_values: np.ndarray
    """Number of values of each column."""
    largest_share: np.ndarray
    """Share of the most frequent value of each column."""


@dataclass(frozen=True, eq=False)
class CouplingState:
    """A score for each value of each column."""

    cuts: np.ndarray
    """Ascending limits between the values, shape ``(n_cuts, n_columns)``, padded with infinity."""
    values: np.ndarray
    """Scores of the values, shape ``(n_cuts + 1, n_columns)``."""
    missing: np.ndarray
    """Score of a missing cell: the mean of the column."""


@dataclass(frozen=True)
class CouplingDetector(Detector[CouplingState]):
    """Rare values, and rare values that occur together, learned from ``n_references`` rows.

    Without ``frequencies`` it is value coupling alone.
    """

    n_references: int = 8192
    n_bins: int = 10
    frequencies: bool = True

    def __post_init__(self) -> None:
        if self.n_references < 1:
            raise ValueError(f"n_references={self.n_references} must be at least 1.")
        if not 2 <= self.n_bins <= MAX_BINS:
            raise ValueError(f"n_bins={self.n_bins} must be between 2 and {MAX_BINS}.")

    name: ClassVar[str] = "coupling"
    depends_on_scale = False
    handles_missing: ClassVar[bool] = True

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        return np.sort(rng.choice(n_rows, size=min(n_rows, self.n_references), replace=False))

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> CouplingState:
        rows = some_rows(rows)
        cut = cut_columns(rows, self.n_bins)
        codes = codes_of(rows, cut.cuts)
        values = ValueTable(codes, cut.blocks)
        scores = _in_deviations(values, coupling(values))
        if self.frequencies:
            rarity = np.where(cut.is_discrete[values.block], -np.log(values.share), 0.0)
            scores = scores + _in_deviations(values, rarity)
        table = values.by_column(scores, cut)
        return CouplingState(cut.cuts, table, _means(table, codes))

    def linearise(
        self, X: np.ndarray, state: CouplingState, w: np.ndarray | None = None
    ) -> np.ndarray:
        G = np.repeat(state.values[:1], X.shape[0], axis=0)
        for limits, below, above in zip(
            state.cuts, state.values[:-1], state.values[1:], strict=True
        ):
            columns = np.flatnonzero(limits < np.inf)
            if columns.size < X.shape[1]:
                G[:, columns] += (X[:, columns] > limits[columns]) * (above - below)[columns]
            else:
                G += (limits < X) * (above - below)
        unseen = np.isnan(X)
        if unseen.any():
            G = np.where(unseen, state.missing, G)
            G[unseen.all(axis=1)] = np.nan  # A row without observed cells has no score.
        # Steps up and down may leave a trace of rounding where the value's score is 0.
        return np.maximum(G, 0.0)

    def calls_blas(self, n_columns: int) -> bool:
        return False


def some_rows(rows: np.ndarray) -> np.ndarray:
    """As many rows as are looked at, evenly spaced: rows may be sorted."""
    n_rows = max(FEWEST_ROWS, MAX_CELLS // max(1, rows.shape[1]))
    if n_rows >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, n_rows).astype(np.intp)]


def cut_columns(rows: np.ndarray, n_bins: int) -> Cuts:
    """Find the values of each column, and the columns that belong together."""
    found = [_limits(column[~np.isnan(column)], n_bins) for column in rows.T]
    cuts = np.full((max(limits.size for limits, *_ in found), len(found)), np.inf)
    for column, (limits, *_) in enumerate(found):
        cuts[: limits.size, column] = limits
    n_values = np.array([n_values for _, n_values, _ in found])
    blocks = list(_blocks(rows, cuts[0], n_values))
    few = min(FEW_VALUES, max(2, rows.shape[0] // 5))
    is_discrete = n_values[[block.start for block in blocks]] <= few
    return Cuts(cuts, blocks, is_discrete, n_values, np.array([share for *_, share in found]))


def _limits(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, int, float]:
    """Limits between the values of a column or between its bins, the number of values, and the
    share of the most frequent one.
    """
    distinct, counts = np.unique(values, return_counts=True)
    share = float(counts.max(initial=0)) / max(1, values.size)
    if distinct.size < 2:
        value = distinct[0] if distinct.size else values.dtype.type(0)
        # A value is above the first limit if it is not smaller than the constant.
        return np.array([np.nextafter(value, -np.inf), value], dtype=np.float64), 1, share
    distinct = distinct.astype(np.float64)
    between = distinct[:-1] / 2 + distinct[1:] / 2
    if distinct.size <= max(n_bins, FEW_VALUES):
        return between, distinct.size, share
    # Limits lie half-way between values: rounding must not decide on which side one falls.
    limits = np.linspace(distinct[0], distinct[-1], n_bins + 1)[1:-1]
    limits = between[np.unique(np.searchsorted(distinct, limits)) - 1]
    return limits, distinct.size, share


def _blocks(rows: np.ndarray, limits: np.ndarray, n_values: np.ndarray) -> Iterator[slice]:
    """Neighbouring columns of which exactly one is on in every row, and all others one by one."""
    n_rows, n_columns = rows.shape
    two_valued = n_values == 2
    on = (rows > limits) & two_valued
    counts = np.where(two_valued, on.sum(axis=0), n_rows + 1)
    ends = np.cumsum(counts)
    start = 0
    while start < n_columns:
        stop = start + 1
        # Only as many columns as have n_rows cells on can be a block.
        end = int(np.searchsorted(ends, ends[start] - counts[start] + n_rows))
        is_full = start < end < n_columns and ends[end] - ends[start] + counts[start] == n_rows
        if is_full and (on[:, start : end + 1].sum(axis=1) == 1).all():
            stop = end + 1
        yield slice(start, stop)
        start = stop


def codes_of(rows: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Number of each cell's value in its column; -1 where the cell is missing."""
    codes = np.zeros(rows.shape, dtype=np.int16)
    for limits in cuts:
        codes += rows > limits
    codes[np.isnan(rows)] = -1
    return codes


class ValueTable:
    """The value of each column in each row, as a sparse matrix, and how often values occur.

    The most frequent value of a column stands for all cells that the matrix does not hold. Missing
    cells count as that value: they are neither rare nor found together with anything.
    """

    def __init__(self, codes: np.ndarray, blocks: list[slice]) -> None:
        from scipy.sparse import csr_array

        n_rows = codes.shape[0]
        of_blocks = np.empty((n_rows, len(blocks)), dtype=np.int64)
        sizes = np.empty(len(blocks), dtype=np.int64)
        for place, block in enumerate(blocks):
            is_one_hot = block.stop - block.start > 1
            of_blocks[:, place] = (
                codes[:, block].argmax(axis=1) if is_one_hot else codes[:, block.start]
            )
            sizes[place] = (block.stop - block.start) if is_one_hot else codes[:, block].max() + 1
        sizes = np.maximum(sizes, 1)
        self.first = np.cumsum(sizes) - sizes
        """Number of each column's first value."""
        self.block = np.repeat(np.arange(len(blocks)), sizes)
        """Column of each value."""
        observed = of_blocks >= 0
        numbers = of_blocks + self.first
        counts = np.bincount(numbers[observed], minlength=self.block.size)
        order = np.lexsort((-counts, self.block))
        self.mode = order[self.first]
        """Number of each column's most frequent value."""
        counts[self.mode] += (~observed).sum(axis=0)
        self.occurs = counts > 0
        self.counts = np.maximum(counts, 1).astype(np.float64)
        self.share = self.counts / n_rows
        rows, columns = np.nonzero(observed & (numbers != self.mode))
        self.others = csr_array(
            (np.ones(rows.size), (rows, numbers[rows, columns])), shape=(n_rows, self.block.size)
        )
        """Which of the less frequent values each row has."""

    def sums(self, amounts: np.ndarray) -> np.ndarray:
        """Sum of the amounts of the values that each row has."""
        usual = amounts[self.mode]
        return np.asarray(usual.sum() + self.others @ (amounts - usual[self.block]))

    def totals(self, of_rows: np.ndarray) -> np.ndarray:
        """Sum of the rows' amounts for each value that they have."""
        found = np.asarray(of_rows @ self.others)
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
        for place, block in enumerate(cut.blocks):
            number = np.arange(*np.searchsorted(self.block, (place, place + 1)))
            own = np.where(self.occurs[number], scores[number], scores[number].max())
            if block.stop - block.start > 1:
                table[1, block] = own
            elif cut.n_values[block.start] < 2:
                table[[0, 2], block.start] = scores.max()
            else:
                table[: own.size, block.start] = own
        return table


def _means(table: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Mean score of the observed cells of each column."""
    found = np.take_along_axis(table, np.maximum(codes, 0), axis=0)
    observed = codes >= 0
    return np.asarray((found * observed).sum(axis=0) / np.maximum(1, observed.sum(axis=0)))


def _in_deviations(values: ValueTable, scores: np.ndarray) -> np.ndarray:
    """Scores of values divided by the standard deviation of the rows' sums of them."""
    sums = values.sums(scores)
    std = float(sums.std())
    # In a balanced table all sums are equal, up to rounding.
    return scores / std if std > 1e-9 * float(np.abs(sums).mean()) else scores


def coupling(values: ValueTable) -> np.ndarray:
    """``rel(f) pi(v)`` of every value."""
    pi = stationary(values)
    return values.over_columns(np.add, pi)[values.block] * pi


def stationary(values: ValueTable) -> np.ndarray:
    """The stationary distribution of the biased walk over the values.

    The matrix of co-occurrences is never formed: a step is a product with the values of the rows
    and one with their transpose. Values of one column never occur together, so that only the
    diagonal has to be left out.
    """
    highest = values.share[values.mode][values.block]
    delta = ((1 - highest) + (highest - values.share) / highest) / 2
    bias = np.where(values.occurs, delta / values.counts, 0.0)

    def co_occurring(amounts: np.ndarray) -> np.ndarray:
        return values.totals(values.sums(amounts)) - values.counts * amounts

    leaving = co_occurring(bias)
    per_step = np.divide(1.0, leaving, out=np.zeros_like(leaving), where=leaving > _TINY)
    restart = values.occurs / values.occurs.sum()
    pi = restart
    for _ in range(MAX_STEPS):
        following = (1 - DAMPING) * restart + DAMPING * bias * co_occurring(pi * per_step)
        following /= following.sum()
        change = float(np.abs(following - pi).max())
        pi = following
        if change <= TOLERANCE * restart.max():
            break
    return np.maximum(pi, 0.0)


_TINY = 1e-9
"""Weights below are rounding errors: such a value occurs with nothing that could be left for."""
