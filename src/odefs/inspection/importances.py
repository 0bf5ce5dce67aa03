"""Feature importances: how much the learned components rely on each column."""

from collections.abc import Sequence

import numpy as np

from odefs.selection.alternation import LearnedWeights, select_columns


def feature_importances(
    learned: Sequence[LearnedWeights], component_weights: np.ndarray, min_weight: float
) -> np.ndarray:
    """Weighted mean over components of a column's share in the gap between examples; the sum is 1.

    The gap is between outlier examples and other rows. Weights alone would mislead: a column that
    separates well needs only a small weight. A component that learned nothing relies on all columns
    equally.
    """
    shares = np.stack([_shares(part, min_weight) for part in learned])
    return component_weights @ shares


def _shares(learned: LearnedWeights, min_weight: float) -> np.ndarray:
    share = np.zeros_like(learned.w)
    columns = select_columns(learned.w, min_weight)
    share[columns] = np.maximum(learned.gap[columns], 0.0)
    if not share.any():
        share[columns] = 1.0
    return share / share.sum()


def fewest_with_share(relevance: np.ndarray, share: float) -> np.ndarray:
    """The fewest columns with ``share`` of the total relevance, ascending; all if it is 0."""
    total = relevance.sum()
    if total <= 0:
        return np.arange(relevance.size)
    order = np.argsort(-relevance, kind="stable")
    needed = int(np.searchsorted(np.cumsum(relevance[order]), share * total * (1 - 1e-12))) + 1
    return np.sort(order[:needed])
