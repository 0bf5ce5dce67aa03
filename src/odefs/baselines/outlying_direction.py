"""Direction in which a row stands out from its neighbours (Dang et al. 2013 and 2014).

For a row ``o`` with neighbours ``N``, mean ``mu``, covariance ``B``: the ``w`` that maximises
``w'Aw / w'(B + eps I)w`` with ``A`` the mean of ``(o - x)(o - x)'``. As ``A = B + vv'`` with ``v =
o - mu``, it is ``w ~ (B + eps lambda/(lambda-1) I)^-1 v`` with ``lambda`` the largest ratio. All
computations stay in the span of the neighbours: ``O(k^2 d)`` per row, nothing of size ``d x d``.
"""

import numpy as np


def standing_out(rows: np.ndarray, neighbours: np.ndarray, eps: float) -> np.ndarray:
    """Return directions ``(n_rows, d)`` for rows and their neighbours ``(n_rows, k, d)``.

    ``eps`` is relative to the mean variance.
    """
    k = neighbours.shape[1]
    mean = neighbours.mean(axis=1)
    v = rows - mean
    Z = (neighbours - mean[:, None]) / np.sqrt(k)
    gram = Z @ Z.transpose(0, 2, 1)
    values, U = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    ridge = eps * np.maximum(values.sum(axis=1) / rows.shape[1], 1e-12)
    # Coordinates of v in the neighbours' principal axes, without forming these: (U'Z v) / s.
    inside = values > 1e-12 * np.maximum(values.max(axis=1, keepdims=True), 1e-300)
    scale = np.where(inside, np.sqrt(np.where(inside, values, 1.0)), 1.0)
    a = np.where(inside, np.einsum("nij,ni->nj", U, np.einsum("nkd,nd->nk", Z, v)) / scale, 0.0)
    lam = _largest_ratio(
        a, np.maximum((v * v).sum(axis=1) - (a * a).sum(axis=1), 0.0), values, ridge
    )
    shift = ridge * lam / np.maximum(lam - 1, 1e-9)
    # (B + s I)^-1 v = v / s - axes (a / s - a / (values + s)), with axes = Z'U / scale.
    correction = a * (1 / shift[:, None] - 1 / (values + shift[:, None])) / scale
    return v / shift[:, None] - np.einsum("nkd,nk->nd", Z, np.einsum("nij,nj->ni", U, correction))


def _largest_ratio(
    a: np.ndarray, rest: np.ndarray, values: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Solve ``sum a_i^2 / ((lam-1) values_i + lam ridge) + rest / (lam ridge) = 1`` for ``lam``.

    The left side decreases in ``lam``; bisection on a log scale.
    """
    low = np.zeros(len(rest))
    high = np.full(len(rest), 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        lam = 1 + np.expm1(middle)
        total = (a**2 / ((lam - 1)[:, None] * values + (lam * ridge)[:, None])).sum(
            axis=1
        ) + rest / (lam * ridge)
        low, high = np.where(total > 1, middle, low), np.where(total > 1, high, middle)
    return 1 + np.expm1(high)
