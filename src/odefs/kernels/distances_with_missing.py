"""Nearest references for rows and references with missing cells (NaN).

The squared distance runs over the columns observed in both the row and the reference, and is
divided by the share of the weight they cover: ``sum(w) / sum_obs(w) * sum_obs(w_k (x_k - r_k)^2)``.
A pair without a common column has no distance (infinite here). All computations are in float64, by
products in slabs (:mod:`odefs.kernels.stable_products`). As in :mod:`odefs.kernels.distances`,
squares that lost their digits are recomputed directly. Most of these belong to pairs that agree in
all columns observed in both; such pairs are found by one more product over integers, which is
exact.
"""

import numpy as np

from odefs.kernels.stable_products import aligned, slab_layout

MASKED_CANCELLATION_SHARE = 1e-8
DIRECT_CELLS = 2**20

MIN_LOST_FOR_DEDUPLICATION = 4096
"""From this many lost squares on, it pays to find the agreeing pairs first."""


def masked_squared(
    X: np.ndarray, references: np.ndarray, w: np.ndarray | None = None
) -> np.ndarray:
    """Return squared distances of all pairs, shape ``(n_references, n_rows)``."""
    seen_x, seen_r = ~np.isnan(X), ~np.isnan(references)
    r = np.where(seen_r, references, 0.0).astype(np.float64)
    centre = r.sum(axis=0) / np.maximum(1, seen_r.sum(axis=0))
    # Masked cells are 0 and drop out of every product.
    r = np.where(seen_r, references - centre, 0.0)
    x = np.where(seen_x, X - centre, 0.0)
    weights = np.ones(X.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
    mask_x, mask_r = seen_x.astype(np.float64), seen_r * weights
    # sum_obs w (x - r)^2 as three products over all cells, each with the mask of the other side.
    parts = _products(mask_r, x * x) + _products(r * r * weights, mask_x)
    squares = parts - 2 * _products(r * weights, x)
    is_lost = squares < MASKED_CANCELLATION_SHARE * parts
    if np.count_nonzero(is_lost) > MIN_LOST_FOR_DEDUPLICATION:
        agree = _agreeing_pairs(X, references)
        squares[is_lost & agree] = 0
        is_lost &= ~agree
    lost = np.nonzero(is_lost)
    squares[lost] = _direct_squares(x, r, mask_x, mask_r, *lost)
    covered = _products(mask_r, mask_x)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = squares * (weights.sum() / covered)
    return np.where(covered > 0, distances, np.inf)


def _products(references: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return ``references @ rows.T``, with bits that depend on each row alone."""
    layout = slab_layout(references.shape[0], references.shape[1], references.dtype)
    return layout.products(aligned(references, layout.dtype), rows)


def _agreeing_pairs(X: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return which pairs agree in all columns observed in both, shape ``(n_references, n_rows)``.

    Cells become the rank of their value among the column's references, so sums of squared
    differences are integers. NaN is handled by the masks; a value that no reference has gets a rank
    of its own.
    """
    code_x, code_r = np.zeros(X.shape), np.zeros(references.shape)
    for k in range(X.shape[1]):
        values = np.unique(references[:, k])
        code_r[:, k] = np.searchsorted(values, references[:, k])
        place = np.searchsorted(values, X[:, k])
        matches = values[np.minimum(place, values.size - 1)] == X[:, k]
        code_x[:, k] = np.where(matches, place, values.size)
    seen_x, seen_r = (~np.isnan(X)).astype(np.float64), (~np.isnan(references)).astype(np.float64)
    code_x *= seen_x
    code_r *= seen_r
    # Plain products: sums of integers are exact in any order.
    differences = (
        seen_r @ (code_x * code_x).T + (code_r * code_r) @ seen_x.T - 2 * code_r @ code_x.T
    )
    return np.asarray(differences == 0)


def _direct_squares(
    x: np.ndarray,
    r: np.ndarray,
    mask_x: np.ndarray,
    mask_r: np.ndarray,
    references: np.ndarray,
    rows: np.ndarray,
) -> np.ndarray:
    """Return ``sum_obs(w_k (x_k - r_k)^2)`` of the given pairs, without expanding the square."""
    out = np.empty(rows.size)
    step = max(1, DIRECT_CELLS // x.shape[1])
    for start in range(0, rows.size, step):
        i, j = rows[start : start + step], references[start : start + step]
        out[start : start + step] = ((x[i] - r[j]) ** 2 * mask_x[i] * mask_r[j]).sum(axis=1)
    return out
