"""Which columns set some rows apart, by the score as it is: what each adds to it beyond what is usual there."""

from typing import Any

import numpy as np

MOST_ROWS = 256
"""So many of the foremost rows say it as well as more would, and to explain them takes a moment."""


def shares_of_rows(estimator: Any, X: Any) -> np.ndarray | None:
    """Mean over some rows of each column's share in their excess; adds up to 1. ``None`` where no row exceeds what is usual.

    Importances of the learned components say what the model found; where it does not trust them, the score comes from other columns, and these are what counts.
    A row weighs by the logarithm of how many times the usual it scores: more the further out it is, and one alone does not drown all others.
    """
    explanation = estimator.explain(X)
    values, usual = np.asarray(explanation), explanation.baseline
    excess = np.maximum(values - usual, 0.0)
    times = values.sum(axis=1) / max(usual.sum(), np.finfo(float).tiny)
    weights = np.where(excess.any(axis=1), np.log(np.maximum(times, 1.0)), 0.0)
    if not weights.any():
        return None
    counted = weights > 0
    shares: np.ndarray = (weights[counted] / weights.sum()) @ (
        excess[counted] / excess[counted].sum(axis=1, keepdims=True)
    )
    return shares
