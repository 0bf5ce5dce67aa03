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

DRAWS = 8
"""Number of columns drawn blindly for a node before all columns are examined."""

SCAN_CELLS = 2**22
"""Number of cells examined at once."""


@dataclass(frozen=True, eq=False)
class IForestState:
    """Complete binary trees in heap order, one per row of the arrays.

    A leaf above the last level is followed by splits that all go left. Leaves of the last level
    hold the credit of their path: the columns of its splits, the credit of each, and the sum.
    """

    column: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    leaf_score: np.ndarray
    path_column: np.ndarray
    path_credit: np.ndarray


def reach_leaves(X: np.ndarray, state: IForestState) -> np.ndarray:
    """Return the number of the leaf on the last level that each row reaches in each tree."""
    n_inner = state.column.shape[1]
    trees = np.arange(state.column.shape[0])
    node = np.zeros((X.shape[0], trees.size), dtype=np.intp)
    with_holes = bool(np.isnan(X).any())
    for _ in range(int(np.log2(n_inner + 1))):
        value = np.take_along_axis(X, state.column[trees, node], axis=1)
        right = value > state.threshold[trees, node]
        if with_holes:
            right = np.where(np.isnan(value), state.missing_right[trees, node], right)
        node = 2 * node + 1 + right
    return node - n_inner


def grow_trees(
    rows: np.ndarray, members: np.ndarray, depth: int, odds: np.ndarray, rng: np.random.Generator
) -> IForestState:
    """Grow all trees level by level, with one pass of grouped minima and maxima per level."""
    n_trees, size = members.shape
    n_inner = 2**depth - 1
    column = np.zeros((n_trees, n_inner), dtype=np.int32)
    # An infinite threshold sends every row to the left, which continues a leaf to the last level.
    threshold = np.full((n_trees, n_inner), np.inf)
    missing_right = np.zeros((n_trees, n_inner), dtype=bool)
    # Per node of the current level: rows in it, splits above it, and the columns and bits of those
    # splits.
    count = np.full((n_trees, 1), size)
    splits = np.zeros((n_trees, 1), dtype=np.int64)
    path_column = np.zeros((n_trees, 1, depth), dtype=np.int32)
    path_bits = np.zeros((n_trees, 1, depth))
    place = np.zeros((n_trees, size), dtype=np.int64)
    for level in range(depth):
        width = 2**level
        here = slice(width - 1, 2 * width - 1)
        nodes = (np.arange(n_trees)[:, None] * width + place).ravel()
        split, drawn, cut = _draw_splits(rows, members.ravel(), nodes, n_trees * width, odds, rng)
        column[:, here] = drawn.reshape(n_trees, width)
        threshold[:, here] = cut.reshape(n_trees, width)
        value = rows[members.ravel(), drawn[nodes]]
        right = value > cut[nodes]
        holes = np.isnan(value) & split[nodes]
        n_right = np.bincount(nodes, weights=right & ~holes, minlength=n_trees * width)
        n_seen = np.bincount(nodes, weights=~holes, minlength=n_trees * width)
        # Missing cells follow the majority, also later in scoring (missing_right).
        to_right = n_right > n_seen - n_right
        missing_right[:, here] = (to_right & split).reshape(n_trees, width)
        right = np.where(holes, to_right[nodes], right)
        place = 2 * place + right.reshape(n_trees, size)
        child_nodes = (np.arange(n_trees)[:, None] * 2 * width + place).ravel()
        child_count = np.bincount(child_nodes, minlength=n_trees * 2 * width).reshape(
            n_trees, 2 * width
        )
        did_split = np.repeat(split.reshape(n_trees, width), 2, axis=1)
        parent_count = np.repeat(count, 2, axis=1)
        path_column, path_bits = np.repeat(path_column, 2, axis=1), np.repeat(path_bits, 2, axis=1)
        path_column[:, :, level] = np.repeat(drawn.reshape(n_trees, width), 2, axis=1)
        bits = np.log2(parent_count / np.maximum(1, child_count))
        path_bits[:, :, level] = np.where(did_split, bits, 0.0)
        splits = np.repeat(splits, 2, axis=1) + did_split
        # The right child of a leaf is never reached; it keeps the leaf's count to avoid a division
        # by zero.
        count = np.where(did_split, child_count, parent_count)
    length = splits + _expected_path(count)
    path_credit = path_bits / np.where(length > 0, length, 1.0)[:, :, None]
    return IForestState(
        column, threshold, missing_right, path_credit.sum(axis=2), path_column, path_credit
    )


def _draw_splits(
    rows: np.ndarray,
    members: np.ndarray,
    nodes: np.ndarray,
    n_nodes: int,
    odds: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each node whether it can be split, a random column that varies in it, and a cut.

    Columns are drawn by their odds, and again if they do not vary; cuts are uniform. After a few
    rounds all columns of the remaining nodes are examined, which gives the same distribution and
    always terminates.
    """
    split = np.zeros(n_nodes, dtype=bool)
    drawn = np.zeros(n_nodes, dtype=np.int64)
    low, high = np.zeros(n_nodes), np.zeros(n_nodes)
    crowded = (np.bincount(nodes, minlength=n_nodes) > 1)[nodes]
    # reduceat needs the rows of a node next to each other.
    order = np.flatnonzero(crowded)[np.argsort(nodes[crowded], kind="stable")]
    members, nodes = members[order], nodes[order]
    cumulative = np.cumsum(odds)
    for attempt in range(DRAWS + 1):
        if not nodes.size:
            break
        open_nodes, starts, place = np.unique(nodes, return_index=True, return_inverse=True)
        if attempt < DRAWS:
            # Rounding may put the draw at the very end; the index must stay in range.
            pick = np.searchsorted(
                cumulative, rng.random(open_nodes.size) * cumulative[-1], side="right"
            )
            pick = np.minimum(pick, odds.size - 1)
            values = rows[members, pick[place]]
            # fmin and fmax skip missing cells. A node without observed cells has NaN at both ends,
            # and NaN > NaN is false: the column does not vary.
            bottom, top = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
        else:
            pick, bottom, top = _scan_columns(rows, members, starts, odds, rng)
        varies = top > bottom
        found = open_nodes[varies]
        split[found], drawn[found] = True, pick[varies]
        low[found], high[found] = bottom[varies], top[varies]
        left = ~varies[place]
        members, nodes = members[left], nodes[left]
    # A cut equal to the upper end would leave the right branch empty, so it moves to the lower end.
    cut = low + rng.random(n_nodes) * (high - low)
    return split, drawn, np.where(split, np.where(cut < high, cut, low), np.inf)


def _scan_columns(
    rows: np.ndarray,
    members: np.ndarray,
    starts: np.ndarray,
    odds: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a column that varies from all columns of the given groups of rows.

    If no column varies, the two returned ends are equal.
    """
    low = np.empty((starts.size, rows.shape[1]))
    high = np.empty_like(low)
    slab = max(1, SCAN_CELLS // members.size)
    for first in range(0, rows.shape[1], slab):
        part = slice(first, first + slab)
        values = rows[members, part]
        low[:, part] = np.fmin.reduceat(values, starts, axis=0)
        high[:, part] = np.fmax.reduceat(values, starts, axis=0)
    # Columns that do not vary have probability 0, those that do keep their ratios: the distribution
    # of repeated draws.
    cumulative = np.cumsum(np.where(high > low, odds, 0.0), axis=1)
    pick = (cumulative > (rng.random(starts.size) * cumulative[:, -1])[:, None]).argmax(axis=1)
    at = np.arange(starts.size)
    nothing = cumulative[:, -1] <= 0
    return pick, low[at, pick], np.where(nothing, low[at, pick], high[at, pick])


def _expected_path(count: np.ndarray) -> np.ndarray:
    """Return the mean path length of an unsuccessful search in a binary tree of ``count`` rows.

    It estimates the splits that a leaf of several rows would still need.
    """
    n = np.maximum(count, 2).astype(np.float64)
    # c(n) = 2 H(n - 1) - 2 (n - 1) / n of Liu et al., with H(k) taken as log(k) + gamma.
    length = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return np.where(count > 2, length, np.where(count == 2, 1.0, 0.0))


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
        # The height limit of Liu, Ting and Zhou (2008): outliers are isolated above the mean depth.
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
        # A row without observed cells would reach some leaf by its missing branches.
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
