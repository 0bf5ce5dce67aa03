"""Detector of broken relations: a sum that does not add up, a pair that does not go together.

``s(x) = z' P z``: the squared Mahalanobis distance of a row in standardised columns. ``P`` is the
inverse of a correlation matrix that is shrunk towards the identity and fitted robustly: it is
fitted again three times, with less weight for the farthest quarter of the rows, the less the
farther they are. (Without these rows altogether, a category that none of the others has would be
impossible.)

A row may be far from all others in a relation although each of its values is common. Outliers that
form a cluster of their own shape the relations instead of breaking them; where these are expected,
another detector is the better choice.

A missing cell breaks no relation: it takes the value that fits the other cells of its row best, and
the distance is then that in the observed columns alone. Nor does it weaken the relation that is
learned (:mod:`odefs.detectors.missing_relations`).

Columns with weights count as ``sqrt(w_k) z_k``. A score is split over the columns in proportion to
``max(0, z_k (P z)_k)``: the columns of a broken relation raise the distance, others may lower it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from odefs.detectors.base import METRICS, Detector, Metric, row_sums
from odefs.detectors.missing_relations import expected_precision
from odefs.kernels.chunking import row_blocks
from odefs.kernels.two_values import two_valued_columns
from odefs.system.threads import one_blas_thread

ORDINARY_SHARE = 0.75
"""Share of the rows that have full weight."""

N_REFITS = 3

SMALLEST_SHRINKAGE = 1e-4
"""Keeps the inverse finite where columns determine each other exactly.

Otherwise ``(n_columns / n_rows)^2`` is the share of the identity. The share that minimises the
expected squared error (Ledoit and Wolf, 2004) is some hundred times as large, and hides relations
that are narrower: with it, the rows of a sum that does not add up are not found.
"""

SMALLEST_SHARE_OF_STD = 0.5
"""Refits narrow a column with a dominant value ever further. Its standard deviation is not below
this share of that of all rows.
"""

FEWEST_ROWS = 8
"""Fewer rows show no relation: columns are only standardised."""

ROWS_PER_PRODUCT = 64

FILLING_STEPS = 16
"""Steps of conjugate gradients that fill missing cells, which are exact for as many cells of a row.

The same number for all rows, so that an ONNX graph can do the same.
"""

MAX_COLUMNS = 4096
"""The matrix of more columns would take more than 128 MB for each member of an ensemble."""


@dataclass(frozen=True, eq=False)
class RelationsState:
    """Means and standard deviations of the columns, and the inverse correlations."""

    mean: np.ndarray
    std: np.ndarray
    precision: np.ndarray


@dataclass(frozen=True)
class RelationsDetector(Detector[RelationsState]):
    """Robust Mahalanobis distance, fitted to ``n_references`` rows.

    The score is the squared distance, which is linear in column weights, or with the metric
    "euclidean" the distance itself.
    """

    n_references: int = 8192
    metric: Metric = "sqeuclidean"

    def __post_init__(self) -> None:
        if self.n_references < 1:
            raise ValueError(f"n_references={self.n_references} must be at least 1.")
        if self.metric not in METRICS:
            allowed = ", ".join(map(repr, METRICS))
            raise ValueError(f"metric={self.metric!r} is not one of {allowed}.")

    name: ClassVar[str] = "relations"
    attribution: ClassVar[str | None] = (
        "a squared distance z'Pz is split in proportion to the positive z_k (Pz)_k"
    )
    depends_on_scale = False
    handles_missing: ClassVar[bool] = True

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> RelationsState:
        if rows.shape[1] > MAX_COLUMNS:
            raise ValueError(
                f"detector='relations' compares all pairs of columns, at most {MAX_COLUMNS:,} "
                f"columns, but there are {rows.shape[1]:,}: select columns before, or take another "
                "detector."
            )
        rows = rows.astype(np.float64)
        with one_blas_thread():  # Several threads would sum in another order.
            state = first = fit_relations(rows, np.ones(len(rows)))
            # The rarer of two values is not to become rarer by refits.
            least_share = np.where(two_valued_columns(rows), 1.0, SMALLEST_SHARE_OF_STD)
            least_std = least_share * first.std
            for _ in range(N_REFITS):
                scores = np.nan_to_num(_squared(*_parts(rows, state, None)))
                # All distances are 0 if all rows are equal.
                ordinary = max(float(np.quantile(scores, ORDINARY_SHARE)), 1e-12)
                # Scores are squared distances, so that weights fall with the fourth power of the
                # distance.
                weights = (ordinary / np.maximum(scores, ordinary)) ** 2
                state = fit_relations(rows, weights, least_std)
        return state

    def linearise(
        self, X: np.ndarray, state: RelationsState, w: np.ndarray | None = None
    ) -> np.ndarray:
        """Return ``G`` with ``s(x, w) = G(x) . w``; how a score is split is held fixed."""
        shares = self.contributions(X, state, w)
        if w is None:
            return shares
        return np.asarray(np.divide(shares, w, out=np.zeros_like(shares), where=w > 0))

    def score(
        self, X: np.ndarray, state: RelationsState, w: np.ndarray | None = None
    ) -> np.ndarray:
        return self._of_squares(_squared(*_parts(X, state, w)))

    def contributions(
        self, X: np.ndarray, state: RelationsState, w: np.ndarray | None = None
    ) -> np.ndarray:
        parts, scale = _parts(X, state, w)
        # Of more missing cells than there are steps to fill them, a trace of the score remains.
        positive = np.where(np.isnan(X), 0.0, np.maximum(parts, 0.0))
        total = row_sums(positive)
        share = self._of_squares(_squared(parts, scale))
        return (
            positive
            * np.divide(share, total, out=np.where(np.isnan(share), np.nan, 0.0), where=total > 0)[
                :, None
            ]
        )

    def _of_squares(self, squares: np.ndarray) -> np.ndarray:
        return squares if self.metric == "sqeuclidean" else np.sqrt(squares)


def fit_relations(
    rows: np.ndarray, weights: np.ndarray, least_std: np.ndarray | float = 0.0
) -> RelationsState:
    """Weighted means, standard deviations and shrunk inverse correlations of some rows.

    Means and standard deviations are those of the observed cells. Standard deviations are not below
    ``least_std``, and 1 for constant columns.
    """
    seen = ~np.isnan(rows)
    cells = seen * weights[:, None]
    count = np.maximum(cells.sum(axis=0), np.finfo(np.float64).tiny)
    mean = (np.where(seen, rows, 0.0) * cells).sum(axis=0) / count
    centred = np.where(seen, rows - mean, 0.0)
    std = np.sqrt((centred**2 * cells).sum(axis=0) / count)
    largest = np.where(seen, np.abs(rows), 0.0).max(axis=0, initial=0.0)
    # A column that is constant up to rounding has no relations.
    std = np.where(std > 1e-12 * largest, std, 1.0)
    z = centred / std
    n_columns, n_rows = z.shape[1], float(weights.sum())
    # After z: correlations take the deviations of these rows, the floor is for scores.
    std = np.maximum(std, least_std)
    if n_rows < FEWEST_ROWS:
        return RelationsState(mean, std, np.eye(n_columns))

    def inverse(correlations: np.ndarray, n_rows: float) -> np.ndarray:
        share = float(np.clip((n_columns / n_rows) ** 2, SMALLEST_SHRINKAGE, 1.0))
        shrunk = correlations * (1 - share)
        shrunk[np.diag_indices(n_columns)] = 1.0  # Also for constant columns.
        return np.linalg.inv(shrunk)

    precision = None if seen.all() else expected_precision(z, ~seen, weights, inverse)
    if precision is None:
        # In wide tables nearly every row may have missing cells: they count as means there.
        precision = inverse((z * weights[:, None]).T @ z / n_rows, n_rows)
    return RelationsState(mean, std, precision)


def explained_shares(state: RelationsState, n_rows: int) -> np.ndarray:
    """Share of the variance of each column that the other columns explain, from 0 to 1.

    This is the squared multiple correlation: ``1 / P_kk`` is the variance of the residual of column
    ``k``, whose own variance is 1. It is adjusted for the number of columns, since a few rows are
    explained by any columns; of the ``n_rows`` of the fit, the ordinary ones count.
    """
    unexplained = 1.0 / np.maximum(np.diag(state.precision), 1.0)
    n_ordinary, n_columns = ORDINARY_SHARE * n_rows, len(state.mean)
    if n_ordinary <= n_columns:
        return np.zeros(n_columns)
    return np.maximum(0.0, 1.0 - unexplained * (n_ordinary - 1) / (n_ordinary - n_columns))


def _parts(
    X: np.ndarray, state: RelationsState, w: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """``z_k (P z)_k`` of every cell, and the factor for missing cells of every row."""
    z = (X.astype(np.float64) - state.mean) / state.std
    weights = np.ones(z.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
    if w is not None:
        z *= np.sqrt(weights)
    seen = ~np.isnan(z)
    # A distance in fewer columns is smaller: it is scaled up by the share of the weight that it
    # lacks, as distances are (odefs.kernels.distances_with_missing).
    scale = np.ones(z.shape[0])
    if not seen.all():
        covered = row_sums(seen * weights)
        # A row without observed cells becomes NaN: it has no score.
        scale = np.divide(
            weights.sum(), covered, out=np.full(z.shape[0], np.nan), where=covered > 0
        )
        rows = np.flatnonzero(~seen.all(axis=1))
        # A column without weight stays 0, missing or not.
        holes = ~seen[rows] & (weights > 0)
        z[rows] = _filled(np.where(seen[rows], z[rows], 0.0), holes, state.precision)
    return z * _product(z, state.precision), scale


def _filled(z: np.ndarray, missing: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Rows whose missing cells, 0 before, minimise ``z' P z``.

    Conjugate gradients in the missing cells of all rows at once, scaled by the diagonal of ``P``.
    Products and sums do not depend on the other rows, and a row that has arrived stays as it is.
    """
    diagonal = np.diag(precision)
    out, active = z.copy(), np.arange(len(z))
    n_missing = np.count_nonzero(missing, axis=1)
    residual = np.where(missing, -_product(z, precision), 0.0)
    scaled = residual / diagonal
    direction, square = scaled, row_sums(residual * scaled)
    for step in range(min(FILLING_STEPS, z.shape[1])):
        # As many steps as cells are exact: a row takes no more, whatever the others need.
        kept = np.flatnonzero(n_missing[active] > step)
        if kept.size < active.size:
            active, missing = active[kept], missing[kept]
            residual, direction, square = residual[kept], direction[kept], square[kept]
        if not active.size:
            break
        through = np.where(missing, _product(direction, precision), 0.0)
        curvature = row_sums(direction * through)
        length = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        out[active] += length[:, None] * direction
        residual = residual - length[:, None] * through
        scaled = residual / diagonal
        last, square = square, row_sums(residual * scaled)
        ratio = np.divide(square, last, out=np.zeros_like(square), where=last > 0)
        direction = scaled + ratio[:, None] * direction
    return out


def _squared(parts: np.ndarray, scale: np.ndarray) -> np.ndarray:
    # z'Pz is not negative, but rounding may make it so, and a root may follow.
    return np.maximum(row_sums(parts), 0.0) * scale


def _product(z: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """``z P`` in products of one shape: a row's bits must not depend on its batch."""
    out = np.empty_like(z)
    for rows in row_blocks(z.shape[0], ROWS_PER_PRODUCT):
        part = z[rows]
        if len(part) == ROWS_PER_PRODUCT:
            # einsum has loops of its own and never calls BLAS, which sums rows of a block in
            # different orders (odefs.kernels.stable_products).
            np.einsum("ij,jk->ik", part, precision, out=out[rows])
            continue
        padded = np.zeros((ROWS_PER_PRODUCT, z.shape[1]))
        padded[: len(part)] = part
        out[rows] = np.einsum("ij,jk->ik", padded, precision)[: len(part)]
    return out
