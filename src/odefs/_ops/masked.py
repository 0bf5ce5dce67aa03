"""Nearest references where cells are missing (NaN).

The squared distance runs over the columns that both the row and the reference have, and is divided by the share of the weight they
cover: ``sum(w) / sum_obs(w) * sum_obs(w_k (x_k - r_k)^2)``. A pair without a common column has no distance (infinite here).
Everything is done in float64: the path is rare, and one precision keeps it short.
"""

import numpy as np


def masked_squared(X: np.ndarray, references: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Squared distances of all pairs, shape ``(n_references, n_rows)``."""
    seen_x, seen_r = ~np.isnan(X), ~np.isnan(references)
    x = np.where(seen_x, X, 0.0).astype(np.float64)
    r = np.where(seen_r, references, 0.0).astype(np.float64)
    centre = r.sum(axis=0) / np.maximum(1, seen_r.sum(axis=0))
    x, r = (x - centre) * seen_x, (r - centre) * seen_r
    weights = np.ones(X.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
    weighted_mask = seen_r * weights
    squares = weighted_mask @ (x * x).T - 2 * (r * weights) @ x.T + (r * r * weights) @ seen_x.T.astype(np.float64)
    covered = weighted_mask @ seen_x.T.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.maximum(squares, 0.0) * (weights.sum() / covered)
    return np.where(covered > 0, distances, np.inf)
