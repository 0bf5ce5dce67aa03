"""LeSiNN (Pang, Ting and Albrecht 2015), the paper's detector (its Eq. "lesinn").

``s(x) = 1/c sum_i nn_dist_i(x)``: the mean over ``c`` random subsets of ``psi`` rows of the
distance to the nearest row of the subset, with ``dist(x, y, w) = sum_k w_k (x_k - y_k)^2`` or its
root. Inside the training objective the squared distance is used for either metric: with the nearest
references held fixed it is linear in ``w``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from odefs.detectors.base import METRICS, Detector, Metric
from odefs.kernels.chunking import padded_rows
from odefs.kernels.compiled import Packed, mean_nearest, pack_references
from odefs.kernels.distances import References, nearest_squared, prepare_references
from odefs.kernels.distances_with_missing import masked_squared
from odefs.kernels.nearest_members import mean_squares_to_nearest, nearest_members, total_shares
from odefs.kernels.shared_library import level_for

Layout = TypeVar("Layout", References, Packed)
LayoutKey = tuple[str | bool, bytes | None]

KEPT_LAYOUTS = 4
"""Number of reference layouts that a state caches: complete and for missing cells, with and without
weights.
"""


@dataclass(frozen=True, eq=False)
class LeSiNNState:
    """Reference rows, member-major: row ``p * n_subsets + g`` is member ``p`` of subset ``g``."""

    rows: np.ndarray
    n_subsets: int

    @cached_property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return not np.isnan(self.rows).any()

    def references(self, w: np.ndarray | None) -> References:
        """Return the references prepared for the matrix product under weights."""
        key = ("product", None if w is None else w.tobytes())
        return self._remember(key, lambda: prepare_references(self.rows, self.n_subsets, w))

    def packed(self, w: np.ndarray | None, has_missing: bool) -> Packed:
        """Return the references packed for the compiled kernel under weights."""
        key = (has_missing, None if w is None else w.tobytes())

        def make() -> Packed:
            return pack_references(self.rows, self.n_subsets, w, has_missing=has_missing)

        return self._remember(key, make)

    def _remember(self, key: LayoutKey, make: Callable[[], Layout]) -> Layout:
        """Cache a layout: thousands of blocks are scored, mostly under the same weights."""
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= KEPT_LAYOUTS:
                self._kept.clear()
            # Two threads may make the same layout at the same time: either can be used.
            found = self._kept[key] = make()
        return found

    @cached_property
    def _kept(self) -> dict[LayoutKey, Any]:
        return {}

    def __getstate__(self) -> dict[str, object]:
        # Layouts hold addresses of this process, which cannot be pickled; they are made again on
        # use.
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}


@dataclass(frozen=True)
class LeSiNNDetector(Detector[LeSiNNState]):
    """Mean distance to the nearest row of ``n_subsets`` random subsets of ``subset_size`` rows."""

    n_subsets: int = 50
    subset_size: int = 8
    metric: Metric = "euclidean"

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            allowed = ", ".join(map(repr, METRICS))
            raise ValueError(f"metric={self.metric!r} is not one of {allowed}.")

    name: ClassVar[str] = "lesinn"
    attribution: ClassVar[str | None] = (
        "a distance d with squared parts q_k is split as q_k / d (squared distances as q_k), "
        "averaged over the subsets"
    )
    handles_missing: ClassVar[bool] = True

    def effective_subset_size(self, n_rows: int) -> int:
        """Return ``subset_size``, or half the rows if there are fewer.

        Otherwise every row would be its own reference.
        """
        return self.subset_size if n_rows > self.subset_size else max(1, n_rows // 2)

    def shortage(self, n_rows: int) -> str | None:
        size = self.effective_subset_size(n_rows)
        if size == self.subset_size:
            return None
        return (
            f"{n_rows} rows are too few for subsets of {self.subset_size}: "
            f"subsets of {size} are used."
        )

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        size = self.effective_subset_size(n_rows)
        # Without replacement within a subset; a row may be in several subsets, and may be its own
        # reference.
        subsets = [rng.choice(n_rows, size=size, replace=False) for _ in range(self.n_subsets)]
        # Member-major: first the first members of all subsets, then the second ones (LeSiNNState).
        return np.stack(subsets, axis=1).ravel()

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> LeSiNNState:
        return LeSiNNState(rows, self.n_subsets)

    def score(self, X: np.ndarray, state: LeSiNNState, w: np.ndarray | None = None) -> np.ndarray:
        return self._score(X, None, state, w)

    def score_columns(
        self, X: np.ndarray, columns: np.ndarray, state: LeSiNNState, w: np.ndarray | None = None
    ) -> np.ndarray:
        return self._score(X, None if columns.size == X.shape[1] else columns, state, w)

    def _score(
        self, X: np.ndarray, columns: np.ndarray | None, state: LeSiNNState, w: np.ndarray | None
    ) -> np.ndarray:
        if not state.is_complete:
            return self._score_masked(X, columns, state, w)
        level = level_for(state.rows.shape[1])
        if level is None:
            scores = self._score_by_product(
                X if columns is None else np.take(X, columns, axis=1), state, w
            )
        else:
            scores = mean_nearest(
                X, state.packed(w, False), level=level, root=self._takes_root, columns=columns
            )
        # Rows with missing cells got NaN. They are scored separately, so that no row's score
        # depends on missing cells of its neighbours.
        holes = np.isnan(scores)
        if holes.any():
            scores[holes] = self._score_masked(X[holes], columns, state, w)
        return scores

    @property
    def _takes_root(self) -> bool:
        return self.metric == "euclidean"

    def _score_by_product(
        self, X: np.ndarray, state: LeSiNNState, w: np.ndarray | None
    ) -> np.ndarray:
        nearest = nearest_squared(X, state.references(w))
        if self._takes_root:
            np.sqrt(nearest, out=nearest)
        # Summed with the padding, which is cut off afterwards (see nearest_squared).
        return np.add.reduce(nearest, axis=0)[: X.shape[0]].astype(np.float64) / state.n_subsets

    def _score_masked(
        self, X: np.ndarray, columns: np.ndarray | None, state: LeSiNNState, w: np.ndarray | None
    ) -> np.ndarray:
        level = level_for(state.rows.shape[1], has_missing=True)
        if level is not None:
            return mean_nearest(
                X, state.packed(w, True), level=level, root=self._takes_root, columns=columns
            )
        if columns is not None:
            X = np.take(X, columns, axis=1)
        # Padded, and cut off only after the sums: NumPy sums a single column in a different order
        # than several.
        n_rows = X.shape[0]
        X = np.concatenate([X, np.zeros((padded_rows(n_rows) - n_rows, X.shape[1]), dtype=X.dtype)])
        squares = (
            masked_squared(X, state.rows, w).reshape(-1, state.n_subsets, X.shape[0]).min(axis=0)
        )
        known = np.isfinite(squares)
        distances = np.where(known, squares, 0.0)
        if self._takes_root:
            distances = np.sqrt(distances)
        with np.errstate(invalid="ignore"):
            return (distances.sum(axis=0) / known.sum(axis=0))[:n_rows]

    def linearise(
        self, X: np.ndarray, state: LeSiNNState, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Return ``G_k(x) = 1/c sum_i (x_k - r_ik)^2``.

        ``r_i`` is the reference of subset ``i`` nearest to ``x`` under ``w``. Computed in float64
        whatever the dtype of the rows: float32 errors would show in the weights, because steps are
        judged by small decreases of the objective.
        """
        rows, X = state.rows.astype(np.float64), X.astype(np.float64)
        if not state.is_complete or np.isnan(X).any():
            return self._linearise_masked(X, rows, state.n_subsets, w)
        return mean_squares_to_nearest(X, rows, state.n_subsets, w)

    def _linearise_masked(
        self, X: np.ndarray, rows: np.ndarray, n_subsets: int, w: np.ndarray | None
    ) -> np.ndarray:
        """Return the same with missing cells: every pair is scaled up for the columns it lacks."""
        seen_x, seen_r = ~np.isnan(X), ~np.isnan(rows)
        squares, members = self._nearest_pairs(X, rows, n_subsets, w)
        known = np.isfinite(squares)
        share = (
            known / np.maximum(1, known.sum(axis=0)) * self._rescaling(seen_x, seen_r, members, w)
        )
        A = np.zeros((X.shape[0], rows.shape[0]))
        A[np.arange(X.shape[0])[None, :], members] = share
        r = np.where(seen_r, rows, 0.0)
        # Near the origin the expanded square keeps its digits.
        centre = r.sum(axis=0) / np.maximum(1, seen_r.sum(axis=0))
        x, r = np.where(seen_x, X - centre, 0.0), np.where(seen_r, rows - centre, 0.0)
        G = x * x * (A @ seen_r) - 2 * x * (A @ r) + A @ (r * r)
        # Cancellation may leave small negative squares. Unobserved cells of the row have no square.
        return np.maximum(G, 0.0) * seen_x

    def contributions(
        self, X: np.ndarray, state: LeSiNNState, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the columns' shares in the distance to each subset.

        Computed from differences, not from expanded squares, so that they add up to the score.
        """
        rows, X = state.rows.astype(np.float64), X.astype(np.float64)
        if not state.is_complete or np.isnan(X).any():
            return self._contributions_masked(X, rows, state.n_subsets, w)
        if w is not None:
            root = np.sqrt(w)
            rows, X = rows * root, X * root
        members = nearest_members(X, rows, state.n_subsets)
        # If expanded squares cannot tell which member is nearest, the parts may come from another
        # member at the same distance; the distance itself is always that of the score.
        distances = nearest_squared(X, prepare_references(rows, state.n_subsets))[:, : X.shape[0]]
        if self._takes_root:
            np.sqrt(distances, out=distances)
        out, parts = np.zeros(X.shape), np.empty(X.shape)
        for distance, nearest in zip(distances, members, strict=True):
            # With the default mode, NumPy would copy the result once more.
            np.take(rows, nearest, axis=0, out=parts, mode="clip")
            np.subtract(X, parts, out=parts)
            np.multiply(parts, parts, out=parts)
            total = parts.sum(axis=1)
            # If the distance is 0 all parts are, and dividing by infinity leaves them 0.
            parts *= (distance / np.where(total > 0, total, np.inf))[:, None]
            out += parts
        out /= state.n_subsets
        return out

    def total_contributions(
        self, X: np.ndarray, state: LeSiNNState, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute from expanded squares, unless too many distances are too small for that."""
        total = None
        if state.is_complete and not np.isnan(X).any():
            rows, x = state.rows.astype(np.float64), X.astype(np.float64)
            total = total_shares(x, rows, state.n_subsets, w, root=self._takes_root)
        return super().total_contributions(X, state, w) if total is None else total

    def _contributions_masked(
        self, X: np.ndarray, rows: np.ndarray, n_subsets: int, w: np.ndarray | None
    ) -> np.ndarray:
        """Return the same with missing cells: the parts of the observed columns are scaled up to
        the distance of the pair.
        """
        squares, members = self._nearest_pairs(X, rows, n_subsets, w)
        known = np.isfinite(squares)
        distances = np.where(known, np.sqrt(squares) if self._takes_root else squares, 0.0)
        with np.errstate(invalid="ignore"):
            distances = distances / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
        out = np.zeros(X.shape)
        for distance, nearest in zip(distances, members, strict=True):
            parts = np.nan_to_num((X - rows[nearest]) ** 2, nan=0.0)
            if w is not None:
                parts *= w
            total = parts.sum(axis=1)
            # distance * 0 keeps the NaN of rows that share no column with any reference.
            scale = np.where(total > 0, distance / np.where(total > 0, total, 1.0), distance * 0)
            out += parts * scale[:, None]
        return out

    def _nearest_pairs(
        self, X: np.ndarray, rows: np.ndarray, n_subsets: int, w: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return squared distances to the nearest reference per subset and row, and its index.

        Rows and references may have missing cells.
        """
        pairs = masked_squared(X, rows, w).reshape(-1, n_subsets, X.shape[0])
        member = pairs.argmin(axis=0)
        squares = np.take_along_axis(pairs, member[None], axis=0)[0]
        return squares, member * n_subsets + np.arange(n_subsets)[:, None]

    def _rescaling(
        self, seen_x: np.ndarray, seen_r: np.ndarray, members: np.ndarray, w: np.ndarray | None
    ) -> np.ndarray:
        """Return ``sum(w) / sum_obs(w)`` of each nearest pair; 0 for a pair without a common
        column.
        """
        weights = np.ones(seen_x.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
        covered = (seen_r * weights) @ seen_x.T.astype(np.float64)
        pair = covered[members, np.arange(seen_x.shape[0])[None, :]]
        with np.errstate(divide="ignore"):
            return np.where(pair > 0, weights.sum() / pair, 0.0)

    def calls_blas(self, n_columns: int) -> bool:
        # A level for this many columns also serves fewer columns and rows with missing cells.
        return level_for(n_columns) is None

    def bytes_per_row(self, n_columns: int) -> int:
        # The compiled kernel does not store distances.
        return (
            self.bytes_per_explained_row(n_columns)
            if self.calls_blas(n_columns)
            else 16 * n_columns
        )

    def bytes_per_explained_row(self, n_columns: int) -> int:
        return 4 * self.n_subsets * self.subset_size + 16 * n_columns
