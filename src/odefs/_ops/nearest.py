"""Distance from each row to the nearest member of each reference subset.

References are laid out member-major: row ``p * n_subsets + g`` is member ``p`` of subset ``g``. The matrix of distances then has all
first members on top, all second members below and so on, and the minimum over the members folds halves of it onto each other.
"""

from dataclasses import dataclass

import numpy as np

from odefs._ops.blocks import padded_rows, scratch

CANCELLATION = {np.dtype(np.float32): 2e-3, np.dtype(np.float64): 1e-8}
"""Below this share of |x|^2 the expanded square has lost too many digits and is computed again directly."""

SNAP = 4 * np.finfo(np.float64).eps
"""In float64, squares below this share of |x|^2, per column, are rounding noise around zero."""

RECOMPUTE_BYTES = 8 * 2**20


@dataclass(frozen=True, eq=False)
class References:
    """Reference rows, ready for the matrix product.

    ``rows`` are the references, shifted by ``centre`` and scaled by ``root_weights``; ``product`` is ``[-2 rows, |rows|^2]``.
    """

    rows: np.ndarray
    product: np.ndarray
    centre: np.ndarray
    root_weights: np.ndarray | None
    n_subsets: int
    on_grid: bool


def prepare_references(rows: np.ndarray, n_subsets: int, w: np.ndarray | None = None) -> References:
    """Centre the references and lay them out for the product.

    Only columns with values besides 0 and 1 are centred: it saves digits there, while products of zeros and ones are exact as they
    are, and centring would make equal distances differ in the last bit. Where every column has two values but not these, equal rows are
    common and their products are not exact; float64 then tells zero from the smallest other distance, and nothing is computed twice.
    """
    if not np.all((rows == 0) | (rows == 1)) and np.all((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))):
        rows = rows.astype(np.float64)
    binary = np.all((rows == 0) | (rows == 1), axis=0)
    centre = np.where(binary, 0, rows.mean(axis=0)).astype(rows.dtype)
    shifted = rows - centre
    root_weights = None
    if w is not None:
        root_weights = np.sqrt(w).astype(rows.dtype)
        shifted = shifted * root_weights
    norms = np.einsum("ij,ij->i", shifted, shifted)
    product = np.concatenate([-2 * shifted, norms[:, None]], axis=1)
    return References(shifted, product, centre, root_weights, n_subsets, bool(binary.all()) and w is None)


def nearest_squared(X: np.ndarray, references: References) -> np.ndarray:
    """Squared distances of shape ``(n_subsets, n_rows)``; valid until this thread's next call."""
    n_rows = X.shape[0]
    shifted, norms = _shift_and_pad(X, references)
    n_references = references.product.shape[0]
    distances = scratch("distances", (n_references, shifted.shape[0]), shifted.dtype)
    np.matmul(references.product, shifted.T, out=distances)
    nearest = _fold_minimum(distances, references.n_subsets)
    nearest += norms
    np.maximum(nearest, 0, out=nearest)
    _recompute_cancelled(nearest[:, :n_rows], shifted[:n_rows, :-1], norms[:n_rows], references)
    return nearest[:, :n_rows]


def nearest_members(X: np.ndarray, references: References) -> np.ndarray:
    """Which row of ``references.rows`` is nearest, per subset and row; the first member wins ties."""
    n_rows = X.shape[0]
    shifted, _ = _shift_and_pad(X, references)
    distances = references.product @ shifted.T
    members = distances.reshape(-1, references.n_subsets, shifted.shape[0]).argmin(axis=0)
    return members[:, :n_rows] * references.n_subsets + np.arange(references.n_subsets)[:, None]


def _shift_and_pad(X: np.ndarray, references: References) -> tuple[np.ndarray, np.ndarray]:
    """Rows on the scale of the references with a column of ones behind, and their squared norms."""
    n_rows, n_columns = X.shape
    dtype = np.promote_types(X.dtype, references.rows.dtype)
    shifted = scratch("shifted", (padded_rows(n_rows), n_columns + 1), dtype)
    values = shifted[:n_rows, :-1]
    np.subtract(X, references.centre, out=values)
    if references.root_weights is not None:
        values *= references.root_weights
    shifted[n_rows:] = 0
    shifted[:, -1] = 1
    return shifted, np.einsum("ij,ij->i", shifted[:, :-1], shifted[:, :-1])


def _fold_minimum(distances: np.ndarray, n_subsets: int) -> np.ndarray:
    """Minimum over the members, in place."""
    members = distances.shape[0] // n_subsets
    while members > 1:
        kept = (members + 1) // 2
        folded = members - kept
        top = distances[: folded * n_subsets]
        np.minimum(top, distances[kept * n_subsets : members * n_subsets], out=top)
        members = kept
    return distances[:n_subsets]


def _recompute_cancelled(nearest: np.ndarray, shifted: np.ndarray, norms: np.ndarray, references: References) -> None:
    """Replace the squares that lost their digits by direct ones, once per distinct row."""
    cancelled = nearest < CANCELLATION[nearest.dtype] * norms
    if nearest.dtype == np.float64:
        noise = nearest <= SNAP * references.product.shape[1] * norms
        nearest[noise] = 0
        cancelled &= ~noise
    suspects = np.flatnonzero(cancelled.any(axis=0))
    if references.on_grid and suspects.size:
        values = shifted[suspects]
        suspects = suspects[(values != np.rint(values)).any(axis=1)]
    if not suspects.size:
        return
    first, copy_of = _distinct_rows(shifted[suspects])
    firsts = suspects[first]
    # Equal rows have equal distances up to the last bits, so a row's copies may differ in what they flag: take any flag.
    flags = np.zeros((firsts.size, references.n_subsets), dtype=bool)
    np.logical_or.at(flags, copy_of, cancelled[:, suspects].T)
    which, subset = np.nonzero(flags)
    members = references.rows.reshape(-1, references.n_subsets, references.rows.shape[1])
    direct = np.empty(which.size, dtype=nearest.dtype)
    step = max(1, RECOMPUTE_BYTES // (members.shape[0] * members.shape[2] * nearest.itemsize))
    for start in range(0, which.size, step):
        part = slice(start, start + step)
        difference = members[:, subset[part]] - shifted[firsts[which[part]]]
        direct[part] = np.einsum("pij,pij->pi", difference, difference).min(axis=0)
    exact = np.full(flags.shape, np.nan, dtype=nearest.dtype)
    exact[which, subset] = direct
    exact = exact[copy_of].T
    nearest[:, suspects] = np.where(np.isnan(exact), nearest[:, suspects], exact)


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the first of each group of equal rows, and for each row the group it belongs to."""
    bytes_of_rows = np.ascontiguousarray(rows + 0).view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    _, first, copy_of = np.unique(bytes_of_rows.ravel(), return_index=True, return_inverse=True)
    return first, copy_of.ravel()
