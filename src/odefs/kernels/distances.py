"""Distances from each row to the nearest member of each reference subset.

References are laid out member-major: row ``p * n_subsets + g`` is member ``p`` of subset ``g``. The
matrix of distances then has all first members on top, all second members below and so on, and the
minimum over the members folds halves of it onto each other.

The product keeps its digits only if rows are near the origin; :class:`odefs.scaling.Scaling` puts
the origin in the middle of each column. Distances that lose digits nevertheless are recomputed
directly: slower, never wrong.
"""

from dataclasses import dataclass

import numpy as np

from odefs.kernels.stable_products import SLAB_ROWS, SlabLayout, aligned, slab_layout

CANCELLATION_SHARE = {np.dtype(np.float32): 5e-3, np.dtype(np.float64): 1e-8}
"""An expanded square below this share of ``|x|^2`` has lost too many digits and is recomputed
directly.
"""

SNAP = 4 * np.finfo(np.float64).eps
"""Rounding noise around zero: float64 squares below this share of ``|x|^2`` per column, if columns
have only two values.
"""

RECOMPUTE_BYTES = 8 * 2**20

MAX_DIRECT_ROWS = 64
"""Up to this many rows are recomputed without searching for equal ones first."""


@dataclass(frozen=True, eq=False)
class References:
    """Reference rows and ``product = [-2 rows, |rows|^2]``.

    ``product`` is multiplied by rows extended with a 1. With weights, rows are ``(rows - centre) *
    root_weights``: a weight also multiplies rounding errors, so the origin must be close to the
    values.
    """

    rows: np.ndarray
    product: np.ndarray
    centre: np.ndarray | None
    root_weights: np.ndarray | None
    n_subsets: int
    layout: SlabLayout
    """Slab layout of the rows for the product."""
    grid: tuple[np.ndarray, np.ndarray] | None
    """Smallest and largest value of every column, if each column has only two values."""
    exact: bool
    """Whether the two values are 0 and 1. Products of such rows are exact, so equal distances are
    equal to the bit.
    """
    gap: float = np.inf
    """Smallest squared distance between two points of the grid."""


def prepare_references(rows: np.ndarray, n_subsets: int, w: np.ndarray | None = None) -> References:
    """Lay the references out for the product.

    If every column has two values other than 0 and 1, equal rows are common and their products are
    not exact. float64 then distinguishes zero from the smallest other distance, so that nothing has
    to be recomputed.
    """
    # Sums of products of zeros and ones are integers, which both types hold exactly.
    exact = w is None and bool(np.all((rows == 0) | (rows == 1)))
    two_valued = bool(np.all((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))))
    dtype = np.dtype(np.float64) if two_valued and not exact else rows.dtype
    layout = slab_layout(rows.shape[0], rows.shape[1] + 1, dtype)
    rows = rows.astype(layout.dtype, copy=False)
    centre = root_weights = None
    if w is not None:
        centre = rows.mean(axis=0)
        root_weights = np.sqrt(w).astype(rows.dtype)
        rows = (rows - centre) * root_weights
    grid = (rows.min(axis=0), rows.max(axis=0)) if two_valued else None
    norms = np.einsum("ij,ij->i", rows, rows)
    product = aligned(np.concatenate([-2 * rows, norms[:, None]], axis=1), rows.dtype)
    return References(
        rows, product, centre, root_weights, n_subsets, layout, grid, exact, smallest_gap(grid)
    )


def smallest_gap(grid: tuple[np.ndarray, np.ndarray] | None) -> float:
    """Return the smallest squared distance between two points of a grid."""
    steps = np.empty(0) if grid is None else grid[1] - grid[0]
    return float(np.min(np.square(steps[steps > 0]), initial=np.inf))


def nearest_squared(X: np.ndarray, references: References) -> np.ndarray:
    """Return squared distances of shape ``(n_subsets, n_rows or more)``.

    Columns beyond ``n_rows`` are padding. Callers sum over the subsets before cutting it off: NumPy
    sums a single column in a different order than many.
    """
    n_rows, n_columns = X.shape
    layout = references.layout
    slabs = _slabs_with_ones(X, references)
    distances = _fold_minimum(layout.multiply(references.product, slabs), references.n_subsets)
    values = slabs[:, :, :n_columns]
    # einsum, because its order of summation does not depend on the number of rows.
    norms = np.einsum("sij,sij->si", values, values)
    # |x|^2 is added after the minimum: it is the same for all references of a row.
    distances += norms[:, None]
    nearest = layout.in_row_order(distances)
    norms = layout.rows_of(norms).ravel()[:n_rows]
    _recompute_cancelled(nearest[:, :n_rows], layout.rows_of(values), norms, references)
    return nearest


def _slabs_with_ones(X: np.ndarray, references: References) -> np.ndarray:
    """Copy rows into slabs in the precision and scale of the references, each extended with a 1."""
    n_rows, n_columns = X.shape
    if references.centre is not None and references.root_weights is not None:
        X = X - references.centre
        X *= references.root_weights
    slabs = references.layout.empty_slabs(n_rows, n_columns + 1)
    references.layout.fill(slabs[:, :, :n_columns], X)
    slabs[:, :, n_columns] = 1
    return slabs


def _fold_minimum(distances: np.ndarray, n_subsets: int) -> np.ndarray:
    """Reduce each slab to the minimum over the members, in place."""
    members = distances.shape[1] // n_subsets
    while members > 1:
        # With an odd number of members the middle one is kept without a partner.
        kept = (members + 1) // 2
        folded = members - kept
        top = distances[:, : folded * n_subsets]
        np.minimum(top, distances[:, kept * n_subsets : members * n_subsets], out=top)
        members = kept
    return distances[:, :n_subsets]


def _recompute_cancelled(
    nearest: np.ndarray, slabs: np.ndarray, norms: np.ndarray, references: References
) -> None:
    """Replace the squares that lost their digits by direct ones, including all negative ones."""
    limit = CANCELLATION_SHARE[nearest.dtype] * norms
    # NaN is not below the limit: rows with missing cells keep NaN and are scored separately.
    suspects = np.flatnonzero(nearest.min(axis=0) < limit)
    if not suspects.size:
        return
    rows = slabs[suspects // SLAB_ROWS, suspects % SLAB_ROWS]
    on_grid = np.zeros(suspects.size, dtype=bool)
    if references.grid is not None:
        low, high = references.grid
        on_grid = ((rows == low) | (rows == high)).all(axis=1)
    # Products of rows on the grid are exact, so that nothing was lost.
    if references.exact:
        suspects, rows, on_grid = suspects[~on_grid], rows[~on_grid], on_grid[~on_grid]
    squares = nearest[:, suspects].T
    cancelled = squares < limit[suspects, None]
    if on_grid.any():
        limits = SNAP * rows.shape[1] * norms[suspects]
        # With an extreme value in another column, rounding may be as large as a grid step.
        noise = (squares <= limits[:, None]) & (on_grid & (limits < references.gap / 2))[:, None]
        squares[noise] = 0
        cancelled &= ~noise
    if suspects.size <= MAX_DIRECT_ROWS:
        which, subset = np.nonzero(cancelled)
        squares[which, subset] = _direct_squares(rows, which, subset, references)
    else:
        # Equal rows have bit-identical squares, so one recomputation serves all of them.
        first, copy_of = _distinct_rows(rows)
        exact = squares[first]
        which, subset = np.nonzero(cancelled[first])
        exact[which, subset] = _direct_squares(rows[first], which, subset, references)
        squares = exact[copy_of]
    nearest[:, suspects] = squares.T


def _direct_squares(
    rows: np.ndarray, which: np.ndarray, subset: np.ndarray, references: References
) -> np.ndarray:
    """Return ``min_p |rows[which] - r_p|^2`` over the members ``p`` of each given subset.

    The square is not expanded.
    """
    members = references.rows.reshape(-1, references.n_subsets, references.rows.shape[1])
    direct = np.empty(which.size, dtype=rows.dtype)
    step = max(1, RECOMPUTE_BYTES // (members.shape[0] * members.shape[2] * rows.itemsize))
    for start in range(0, which.size, step):
        part = slice(start, start + step)
        difference = members[:, subset[part]] - rows[which[part]]
        direct[part] = np.einsum("pij,pij->pi", difference, difference).min(axis=0)
    return direct


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the first row of each group of equal rows, and the group of each row."""
    # Adding 0 turns -0.0 into 0.0, so that equal rows have equal bytes.
    bytes_of_rows = np.ascontiguousarray(rows + 0).view(
        np.dtype((np.void, rows.itemsize * rows.shape[1]))
    )
    _, first, copy_of = np.unique(bytes_of_rows.ravel(), return_index=True, return_inverse=True)
    return first, copy_of.ravel()
