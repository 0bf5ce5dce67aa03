"""Nearest reference of each subset, and the mean squares to them per column.

Both are needed for training and explanations. Let ``A`` be the (references x rows) matrix that has
1 where a reference is the nearest of its subset. Then ``sum_i (x - r_i)^2`` over the nearest
references is ``c x^2 - 2 x (A' r) + A' r^2``: products with ``A`` instead of an array of rows x
subsets x columns. The compiled kernel needs neither.
"""

import numpy as np

from odefs.kernels.chunking import row_blocks, scratch
from odefs.kernels.compiled import mean_squares
from odefs.kernels.shared_library import level_for

TIE = 1e-12
"""Squares that differ by less than this share of the largest norms are equal: ties are common in
tables of categories, and rounding must not decide them.
"""

SMALL, NEGLIGIBLE = 1e-8, 1e-6
"""A square below the share ``SMALL`` of the norms has lost too many digits. Such distances may be
left out if they add up to at most the share ``NEGLIGIBLE``.
"""

ROWS_PER_BLOCK = 256
"""Rows per block, so that distances and sums stay in cache."""


def mean_squares_to_nearest(
    X: np.ndarray, references: np.ndarray, n_subsets: int, w: np.ndarray | None
) -> np.ndarray:
    """Return ``1/c sum_i (x_k - r_ik)^2``, shape ``(n_rows, n_columns)``.

    ``r_i`` is the nearest member of subset ``i`` under the weights ``w``. References are
    member-major (see :mod:`odefs.kernels.distances`) and float64, without missing cells.
    """
    # Columns with the values 0 and u only keep their origin: their products are exact, and A' r^2
    # is u A' r. The others are centred, where their products keep most digits.
    top = references.max(axis=0)
    many = np.flatnonzero(~((references == 0) | (references == top)).all(axis=0))
    centre = np.zeros(X.shape[1])
    centre[many] = references[:, many].mean(axis=0)
    # Not by the number of columns: BLAS computes the products in either case.
    level = level_for(1)
    if level is None:
        return _by_products(X, references, n_subsets, w, centre, top, many)
    return _compiled(level, X, references, n_subsets, w, centre)


def _compiled(
    level: str,
    X: np.ndarray,
    references: np.ndarray,
    n_subsets: int,
    w: np.ndarray | None,
    centre: np.ndarray,
) -> np.ndarray:
    """Find the nearest members and sum the squares in one pass.

    Each row has one nearest member per subset, so adding these up takes a fraction of the products
    with ``A``.
    """
    search = _NearestSearch(references - centre, n_subsets, w)
    X, references, norms = (
        np.ascontiguousarray(X),
        np.ascontiguousarray(references),
        search.norms.reshape(-1, n_subsets),
    )
    out = np.empty(X.shape)
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        x = search.weighted(X[rows] - centre)
        squares = scratch("choice distances", (x.shape[0], norms.size), x.dtype)
        # BLAS rounds by position in the batch; differences below the slack do not change a choice.
        np.matmul(x, search.product.T, out=squares)
        mean_squares(level, squares, norms, search.slack(x), X[rows], references, out[rows])
    return out


def _by_products(
    X: np.ndarray,
    references: np.ndarray,
    n_subsets: int,
    w: np.ndarray | None,
    centre: np.ndarray,
    top: np.ndarray,
    many: np.ndarray,
) -> np.ndarray:
    """Compute the same with NumPy, from products with ``A``."""
    n_rows, n_columns = X.shape
    r = references - centre
    terms = np.concatenate([r, np.square(r[:, many])], axis=1)
    search = _NearestSearch(r, n_subsets, w)
    out = np.empty((n_rows, n_columns))
    for rows in row_blocks(n_rows, ROWS_PER_BLOCK):
        x, G = X[rows] - centre, out[rows]
        A = scratch("choices", (r.shape[0], x.shape[0]), terms.dtype)
        A.reshape(-1, n_subsets, x.shape[0])[...] = search.choices(x)
        sums = np.matmul(A.T, terms, out=scratch("sums", (x.shape[0], terms.shape[1]), terms.dtype))
        sums /= n_subsets
        first, second = sums[:, :n_columns], sums[:, n_columns:]
        np.multiply(first, -2.0, out=G)
        G += x
        G *= x
        first *= top
        first[:, many] = second
        G += first
        # The expanded square may be slightly negative.
        np.maximum(G, 0.0, out=G)
    return out


def nearest_members(
    X: np.ndarray, references: np.ndarray, n_subsets: int, w: np.ndarray | None = None
) -> np.ndarray:
    """Return the index of the nearest reference, shape ``(n_subsets, n_rows)``.

    The first member wins ties.
    """
    members = np.zeros((n_subsets, X.shape[0]), dtype=np.intp)
    centre = references.mean(axis=0)
    search = _NearestSearch(references - centre, n_subsets, w)
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        for p, plane in enumerate(search.choices(X[rows] - centre)):
            members[:, rows] += p * plane
    return members * n_subsets + np.arange(n_subsets)[:, None]


def total_shares(
    X: np.ndarray, references: np.ndarray, n_subsets: int, w: np.ndarray | None, root: bool
) -> np.ndarray | None:
    """Return the columns' shares in the mean distance to the nearest member, summed over the rows.

    Computed from expanded squares: the sum over rows needs only the product ``A x``, not an array
    of rows x columns. Distances that are small compared with the norms are left out. Returns
    ``None`` if those left out may add up to more than ``NEGLIGIBLE`` of the total.
    """
    if w is not None:
        X, references = X * np.sqrt(w), references * np.sqrt(w)
    centre = references.mean(axis=0)
    r = references - centre
    search = _NearestSearch(r, n_subsets, None)
    out, kept, left_out = np.zeros(X.shape[1]), 0.0, 0.0
    for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
        x = X[rows] - centre
        chosen, smallest = search.choices_and_minima(x)
        norms = np.einsum("ij,ij->i", x, x) + search.norms.max(initial=0.0)
        squares = np.maximum(smallest + np.einsum("ij,ij->i", x, x), 0.0)
        # A share is a part divided by the distance, which has no digits where the square has
        # cancelled.
        certain = squares > SMALL * norms
        distances = np.sqrt(squares) if root else squares
        kept += float(distances[certain].sum())
        rounding = squares + 4 * np.finfo(np.float64).eps * norms
        left_out += float((np.sqrt(rounding) if root else rounding)[~certain].sum())
        scale = np.where(certain, distances / np.where(certain, squares, 1.0), 0.0)
        A = (chosen * scale).reshape(r.shape[0], x.shape[0])
        out += scale.sum(axis=0) @ np.square(x)
        out -= 2 * np.einsum("ij,ij->j", r, A @ x)
        out += A.sum(axis=1) @ np.square(r)
    if left_out > NEGLIGIBLE * kept:
        return None
    return np.maximum(out, 0.0) / n_subsets


class _NearestSearch:
    """References prepared for finding the nearest member of each subset under ``w``."""

    def __init__(self, references: np.ndarray, n_subsets: int, w: np.ndarray | None) -> None:
        self.n_subsets = n_subsets
        self.active, self.root = None, None
        if w is not None:
            # Most learned weights are 0, and their columns cost nothing then.
            self.active = np.flatnonzero(w)
            self.root = np.sqrt(w[self.active])
            references = references[:, self.active] * self.root
        self.norms = np.einsum("ij,ij->i", references, references)
        self.product = references * -2.0

    def choices(self, x: np.ndarray) -> np.ndarray:
        """Return True where a member is the nearest of its subset.

        The shape is ``(n_members, n_subsets, n_rows)``; the first member wins ties.
        """
        return self.choices_and_minima(x)[0]

    def choices_and_minima(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return :meth:`choices` and the smallest ``square - |x|^2`` of each subset and row."""
        x = self.weighted(x)
        # |x|^2 is the same for all references of a row: their order does not need it.
        distances = scratch("choice distances", (self.product.shape[0], x.shape[0]), x.dtype)
        np.matmul(self.product, x.T, out=distances)
        distances += self.norms[:, None]
        planes = distances.reshape(-1, self.n_subsets, x.shape[0])
        smallest = np.minimum.reduce(planes, axis=0)
        return first_within(planes, smallest + self.slack(x)), smallest

    def weighted(self, x: np.ndarray) -> np.ndarray:
        """Select the columns with weight and scale them, as the product expects."""
        return x if self.active is None or self.root is None else x[:, self.active] * self.root

    def slack(self, x: np.ndarray) -> np.ndarray:
        """Return the difference up to which squares of each (weighted) row count as equal."""
        return np.asarray(TIE * (np.einsum("ij,ij->i", x, x) + self.norms.max(initial=0.0)))


def first_within(distances: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return True at the first entry along the first axis that is within the limit.

    Works on whole planes: ``argmin`` along the first axis takes several times as long.
    """
    chosen = distances <= limit
    taken = chosen[0].copy()
    for plane in chosen[1:]:
        # For booleans, plane > taken is plane and not taken.
        np.greater(plane, taken, out=plane)
        taken |= plane
    return np.asarray(chosen)
