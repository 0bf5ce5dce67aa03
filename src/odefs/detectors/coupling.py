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

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from odefs.detectors.base import Detector
from odefs.detectors.value_cuts import Cuts, codes_of, cut_columns, some_rows
from odefs.detectors.value_walk import ValueTable, coupling
from odefs.kernels.chunking import block_rows, row_blocks

MAX_BINS = 256


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

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> CouplingState:
        rows = some_rows(rows)
        return self.prepare_cut(rows, cut_columns(rows, self.n_bins))

    def prepare_cut(self, rows: np.ndarray, cut: Cuts) -> CouplingState:
        """Learn the state from rows that have been cut into values."""
        codes, unseen = codes_of(rows, cut.cuts), np.isnan(rows)
        is_complete = not unseen.any()
        values = ValueTable(codes, None if is_complete else unseen, cut.blocks)
        # Coupling and rarity have different units. Divided by the deviations of their row sums,
        # both count alike.
        scores = _in_deviations(values, coupling(values))
        if self.frequencies:
            # -log p is for distinct values. Bins of continuous columns are coupled, but not called
            # rare (FEW_VALUES).
            rarity = np.where(cut.is_discrete[values.block], -np.log(values.share), 0.0)
            scores = scores + _in_deviations(values, rarity)
        table = values.by_column(scores, cut)
        found = _looked_up(table, codes)
        if not is_complete:
            found[unseen] = 0.0
        means = found.sum(axis=0) / np.maximum(1, len(rows) - np.count_nonzero(unseen, axis=0))
        return CouplingState(cut.cuts, table, means)

    def linearise(
        self, X: np.ndarray, state: CouplingState, w: np.ndarray | None = None
    ) -> np.ndarray:
        # Scores of the values as sums of the steps between them: the torch engine and ONNX graphs
        # have no look-up and add steps, and must get the same sums. Steps up and down may leave a
        # rounding error, also a negative one, where a value's score is 0.
        steps = np.concatenate([state.values[:1], np.diff(state.values, axis=0)])
        table = np.maximum(np.add.accumulate(steps, axis=0), 0.0)
        G = _looked_up(table, codes_of(X, state.cuts))
        unseen = np.isnan(X)
        if unseen.any():
            G = np.where(unseen, np.maximum(state.missing, 0.0), G)
            G[unseen.all(axis=1)] = np.nan  # A row without observed cells has no score.
        return G

    def score(self, X: np.ndarray, state: CouplingState, w: np.ndarray | None = None) -> np.ndarray:
        # Engines cut blocks for the compiled kernel of the distances, which are higher than what
        # stays in cache here. Lower blocks take a third less time.
        scores = np.empty(X.shape[0])
        for rows in row_blocks(X.shape[0], block_rows(self.bytes_per_row(X.shape[1]))):
            scores[rows] = super().score(X[rows], state, w)
        return scores

    def calls_blas(self, n_columns: int) -> bool:
        return False


def _looked_up(table: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The entry of each cell's value in its column."""
    # In the type of an index: codes are bytes, whose products would overflow.
    places = np.multiply(codes, table.shape[1], dtype=np.intp)
    places += np.arange(table.shape[1])
    return table.ravel().take(places)


def _in_deviations(values: ValueTable, scores: np.ndarray) -> np.ndarray:
    """Scores of values divided by the standard deviation of the rows' sums of them."""
    sums = values.sums(scores)
    std = float(sums.std())
    # In a balanced table all sums are equal, up to rounding.
    return scores / std if std > 1e-9 * float(np.abs(sums).mean()) else scores
