"""Isolation forest with feature weights, the paper's second detector.

Trees split at random, and rows that are isolated after few splits are abnormal. Feature weights are
the probabilities with which split columns are drawn. To make the score additive over columns, a
path of ``h`` splits assigns credit: a split on column ``k`` that takes a row from ``n`` rows to
``n'`` gives ``log2(n / n') / H`` to ``k``, with ``H = h + c(n_leaf)`` the usual path length. The
credits of a path add up to ``log2(psi / n_leaf) / H``, which decreases with the path length as the
original score does.

While weights are learned the trees stay fixed, so ``G`` does not depend on ``w``; for the chosen
subset of columns the forest is grown again.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from odefs.detectors.base import Detector, row_sums
from odefs.detectors.isolation_trees import IForestState, grow_trees, reach_leaves


@dataclass(frozen=True)
class IForestDetector(Detector[IForestState]):
    """Mean isolation credit over ``n_trees`` trees grown on ``subset_size`` rows each."""

    n_trees: int = 100
    subset_size: int = 256

    name: ClassVar[str] = "iforest"
    depends_on_scale = False
    attribution: ClassVar[str | None] = (
        "each split on a row's path gives its column the bits of isolation it gained, divided by "
        "the path length"
    )
    chooses_columns: ClassVar[bool] = True
    handles_missing: ClassVar[bool] = True
    """A missing cell follows the branch with more rows."""

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> IForestState:
        size = min(self.subset_size, rows.shape[0])
        depth = max(1, int(np.ceil(np.log2(size))))
        members = np.stack(
            [rng.choice(rows.shape[0], size=size, replace=False) for _ in range(self.n_trees)]
        )
        odds = np.ones(rows.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
        return grow_trees(rows, members, depth, odds, rng)

    def score(self, X: np.ndarray, state: IForestState, w: np.ndarray | None = None) -> np.ndarray:
        if w is not None:
            return row_sums(self.linearise(X, state) * w)
        trees = np.arange(state.column.shape[0])
        scores = state.leaf_score[trees, reach_leaves(X, state)].mean(axis=1)
        scores[np.isnan(X).all(axis=1)] = np.nan
        return scores

    def linearise(
        self, X: np.ndarray, state: IForestState, w: np.ndarray | None = None
    ) -> np.ndarray:
        n_trees = state.column.shape[0]
        n_rows, n_columns = X.shape
        leaves = reach_leaves(X, state)
        columns = state.path_column[np.arange(n_trees), leaves]
        credit = state.path_credit[np.arange(n_trees), leaves]
        cells = np.arange(n_rows)[:, None, None] * n_columns + columns
        G = np.bincount(cells.ravel(), weights=credit.ravel(), minlength=n_rows * n_columns)
        G = G.reshape(n_rows, n_columns) / n_trees
        G[np.isnan(X).all(axis=1)] = np.nan
        return G

    def bytes_per_row(self, n_columns: int) -> int:
        return 40 * self.n_trees + 16 * n_columns
