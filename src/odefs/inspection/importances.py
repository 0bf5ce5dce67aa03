"""Importances of columns: for the learned components, and for rows that were flagged."""

from collections.abc import Sequence
from typing import Any

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


MOST_ROWS = 256
"""Enough top-ranked rows for a stable result, few enough to explain quickly."""


def shares_of_rows(estimator: Any, X: object) -> np.ndarray | None:
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
