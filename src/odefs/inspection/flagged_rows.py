"""Columns that set flagged rows apart: their contributions to the score above the usual ones."""

from typing import Any

import numpy as np

MOST_ROWS = 256
"""Enough top-ranked rows for a stable result, few enough to explain quickly."""


def shares_of_rows(estimator: Any, X: Any) -> np.ndarray | None:
    """Mean share of each column in the excess of some rows, with sum 1.

    ``None`` if no row exceeds the usual score. Importances of the learned components describe what
    the model found; if it does not trust them, the score comes from other columns, and these count.
    A row is weighted by the logarithm of its score relative to the usual one: more extreme rows
    count more, and a single one does not dominate.
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
