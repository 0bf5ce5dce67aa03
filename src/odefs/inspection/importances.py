"""How much the ensemble relies on each column."""

import numpy as np

from odefs.selection.subset import select_columns


def feature_importances(weights: np.ndarray, component_weights: np.ndarray, min_weight: float) -> np.ndarray:
    """Mean over the components, by their weight, of the share that a column has in the selected weights; adds up to 1.

    A component that learned nothing relies on all columns alike.
    """
    shares = np.zeros_like(weights)
    for share, w in zip(shares, weights, strict=True):
        columns = select_columns(w, min_weight)
        share[columns] = w[columns] if w.any() else 1.0
        share /= share.sum()
    return component_weights @ shares
