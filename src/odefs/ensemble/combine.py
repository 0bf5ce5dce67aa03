"""From component scores to the outlier score (the paper's Eq. "final_score").

``final(x) = sum_i u_i s_i(x) / mean_i`` with ``u = softmax(-loss)``. The paper divides by the sum over the training rows; dividing by their mean
ranks the same and makes 1.0 the score of an ordinary row. The normalisers are frozen: a row's score does not depend on its batch.
"""

from dataclasses import replace

import numpy as np

from odefs._ops.stretches import mean_of, stretches
from odefs.detectors.protocol import Detector
from odefs.ensemble.model import Component, Model


def component_weights(losses: np.ndarray) -> np.ndarray:
    """``softmax(-loss)``."""
    odds = np.exp(-(losses - losses.min()))
    return odds / odds.sum()


def mean_score(scores: np.ndarray) -> float:
    """The normaliser: the mean of the known scores. Where all are 0 (equal rows) it is 1, which leaves them 0."""
    _, mean = mean_of(scores)
    return mean if mean > 0 else 1.0


def with_normaliser(component: Component, scores: np.ndarray) -> Component:
    """Freeze the mean of the component's scores."""
    return replace(component, normaliser=mean_score(scores))


def divided(scores: np.ndarray, normaliser: float) -> np.ndarray:
    """Scores on the scale where 1 is ordinary. A row about which a component knows nothing (NaN) is ordinary."""
    out = scores / normaliser
    # Asked first, as it hardly ever is so and costs more than the division.
    return out if np.isfinite(out).all() else np.nan_to_num(out, nan=1.0)


def normalised(component: Component, scores: np.ndarray) -> np.ndarray:
    """The component's scores on the scale where 1 is ordinary."""
    return divided(scores, component.normaliser)


def add_scores(total: np.ndarray, component: Component, raw: np.ndarray) -> None:
    """Add the component's share in the outlier score, a stretch at a time: either may lie in a file."""
    for part in stretches(total.size):
        total[part] += component.weight * normalised(component, raw[part])


def raw_scores(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    """The detector's scores of a scaled block on the component's columns."""
    return detector.score_columns(X, component.columns, component.state, component.w)


def combined_scores(model: Model, X: np.ndarray) -> np.ndarray:
    """Outlier scores of a scaled block."""
    total = np.zeros(X.shape[0])
    for component in model.scoring:
        total += component.weight * normalised(component, raw_scores(component, model.detector, X))
    return total


def on_columns(component: Component, X: np.ndarray) -> np.ndarray:
    """The component's columns of a scaled block; the block itself where it uses them all."""
    if component.columns.size == X.shape[1]:
        return X
    return np.take(X, component.columns, axis=1)
