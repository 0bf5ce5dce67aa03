"""The frozen model and its outlier scores (the paper's Eq. "final_score").

``final(x) = sum_i u_i s_i(x) / mean_i`` with ``u = softmax(-loss)``. The paper divides by the sum
over the training rows; dividing by their mean gives the same ranking and makes 1.0 the mean of the
training scores. The normalisers are frozen: a row's score does not depend on its batch, and the
model does not grow with the number of training rows.

The agreement is the share ``u_i`` of the components that score a row above their own threshold,
``mean + 2 std`` of their training scores. Scores and agreement are the lines of one array,
``(2, n_rows)``; without thresholds there is one line.

A component's score splits over its columns with the same weight and normaliser, so the
contributions of a row add up to its score.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odefs.answers.memory import AnswerMemory
from odefs.detectors.base import Detector
from odefs.kernels.row_reductions import count_and_mean, fill, mean_and_std, row_chunks
from odefs.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Component:
    """A detector's state on a subset of the columns.

    ``normaliser`` is the mean score on the training rows, so normalised training scores
    average 1. ``w`` is ``None`` where all columns of the subset have equal weight. A row stands
    out in this component if its normalised score exceeds ``threshold``, which is ``None`` where it
    was not computed.
    """

    columns: np.ndarray
    w: np.ndarray | None
    state: Any
    normaliser: float
    weight: float
    loss: float
    threshold: float | None = None
    detector: Detector | None = None
    """The detector of a component that does not have the model's."""


@dataclass(frozen=True, eq=False)
class Model:
    """Scaling, components and the precision in which rows are scored."""

    detector: Detector
    scaling: Scaling
    components: tuple[Component, ...]
    dtype: np.dtype
    answers: AnswerMemory | None = None
    """What a person's answers add to the scores of the components."""

    @property
    def scoring(self) -> tuple[Component, ...]:
        """The components that have a share in the score."""
        return tuple(component for component in self.components if component.weight > 0)

    @property
    def attribution(self) -> str | None:
        """Description for users of how scores are split over the columns, if they can be."""
        own = {one.detector for one in self.scoring if one.detector is not None}
        parts = [self.detector.attribution, *(detector.attribution for detector in own)]
        return None if None in parts else "; ".join(map(str, parts))

    @property
    def has_thresholds(self) -> bool:
        """Whether the agreement of the components can be computed."""
        return all(component.threshold is not None for component in self.scoring)


FLAG_RATE = 2.0
"""A row stands out if it scores above mean + 2 std.

This holds in the ensemble with ``contamination="auto"``, and in a single component where agreement
is counted. By Cantelli's inequality at most a fifth of the rows stand out; it does not estimate the
number of outliers. Candidates, which components learn from, have a threshold of their own
(``candidate_threshold``).
"""

DIGITS = 9
"""Decimal places of the agreement."""

HIGHEST = np.finfo(np.float64).max


def component_weights(losses: np.ndarray) -> np.ndarray:
    """``softmax(-loss)``."""
    # Eq. 11, whose printed denominator has loss^i in place of loss^j. Subtracting the minimum
    # changes no weight and prevents overflow: unbounded losses such as the hinge may be large.
    odds = np.exp(-(losses - losses.min()))
    return odds / odds.sum()


def mean_score(scores: np.ndarray) -> float:
    """The normaliser: the mean of the scores that are not NaN.

    Where all are 0 (equal rows) it is 1, which leaves them 0.
    """
    _, mean = count_and_mean(scores)
    return mean if mean > 0 else 1.0


def with_normaliser(
    component: Component, scores: np.ndarray, rate: float | None = None
) -> Component:
    """Freeze the mean of the component's scores; with a ``rate``, also ``mean + rate * std``."""
    if rate is None:
        return replace(component, normaliser=mean_score(scores))
    count, mean, std = mean_and_std(scores)
    # As mean_score; here the mean is known from the pass for the standard deviation.
    normaliser = mean if mean > 0 else 1.0
    # The sum of huge scores may overflow. Model files refuse thresholds that are not finite.
    with np.errstate(over="ignore"):
        # Without a scored training row every row is ordinary, and none is an outlier.
        threshold = float(min((mean + rate * std) / normaliser, HIGHEST)) if count else 1.0
    return replace(component, normaliser=normaliser, threshold=threshold)


def divided(scores: np.ndarray, normaliser: float) -> np.ndarray:
    """Scores on the scale where 1 is ordinary; NaN (no observed column) counts as ordinary."""
    out = scores / normaliser
    # The check comes first because replacing costs more than the division and is rarely needed.
    # nan_to_num also replaces infinity by the largest float, so that sums stay finite.
    return out if np.isfinite(out).all() else np.nan_to_num(out, nan=1.0)


def normalised(component: Component, scores: np.ndarray) -> np.ndarray:
    """The component's scores on the scale where 1 is ordinary."""
    return divided(scores, component.normaliser)


@dataclass(frozen=True, eq=False)
class RowScores:
    """Outlier scores, and agreement where components have thresholds; in memory or in files."""

    scores: np.ndarray
    agreement: np.ndarray | None = None

    def add(self, component: Component, raw: np.ndarray) -> None:
        """Add a component's share, a chunk of rows at a time."""
        for part in row_chunks(self.scores.size):
            judge(
                component,
                raw[part],
                self.scores[part],
                None if self.agreement is None else self.agreement[part],
            )


def from_rows(lines: np.ndarray) -> RowScores:
    """Row scores from the lines of one array."""
    return RowScores(lines[0], lines[1] if len(lines) > 1 else None)


def n_outputs(model: Model) -> int:
    return 2 if model.has_thresholds else 1


def judge(
    component: Component, raw: np.ndarray, scores: np.ndarray, agreement: np.ndarray | None
) -> None:
    """Add a component's share to the scores and the agreement of some rows."""
    own = normalised(component, raw)
    # In place: scores and agreement are views of the lines of one array, or of a file.
    scores += component.weight * own
    if agreement is not None:
        agreement += component.weight * (own > component.threshold)


def as_shares(agreement: np.ndarray) -> np.ndarray:
    """Round the agreement in place, so that it is exactly 1 where all components agree."""
    return fill(agreement, lambda part: np.round(agreement[part], DIGITS))


def raw_scores(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    """The detector's scores of a scaled block on the component's columns."""
    own = component.detector or detector
    return own.score_columns(X, component.columns, component.state, component.w)


def judged_block(model: Model, X: np.ndarray) -> np.ndarray:
    """Outlier scores and agreement of a scaled block, as lines."""
    lines = np.zeros((n_outputs(model), X.shape[0]))
    add_block(model, X, from_rows(lines))
    return lines


def add_block(model: Model, X: np.ndarray, judged: RowScores) -> None:
    """Add the components' scores of a scaled block, and what answers change."""
    for component in model.scoring:
        judge(component, raw_scores(component, model.detector, X), judged.scores, judged.agreement)
    if model.answers is not None:
        model.answers.apply(X, judged.scores)


def on_columns(component: Component, X: np.ndarray) -> np.ndarray:
    """The component's columns of a scaled block; the block itself where it uses them all."""
    # Columns are distinct and ascending, so that as many as the table has are all of them in order.
    if component.columns.size == X.shape[1]:
        return X
    return np.take(X, component.columns, axis=1)


def component_contributions(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    """What each of the component's columns adds to the outlier scores of a scaled block."""
    part = on_columns(component, X)
    own = component.detector or detector
    split = own.contributions(part, component.state, component.w) / component.normaliser
    unknown = np.isnan(split).any(axis=1)
    if unknown.any():
        # Without an observed cell a row has the score of an ordinary one (see divided). The columns
        # share it equally, so that contributions still add up to the score.
        split[unknown] = 1.0 / part.shape[1]
    return component.weight * split


def total_contributions(component: Component, detector: Detector, X: np.ndarray) -> np.ndarray:
    """:func:`component_contributions` summed over the rows, which detectors may do faster."""
    own = component.detector or detector
    total = own.total_contributions(on_columns(component, X), component.state, component.w)
    # One row without observed cells makes the whole sum NaN, and only the row-wise version can
    # replace it.
    if np.isnan(total).any():
        return np.asarray(component_contributions(component, detector, X).sum(axis=0))
    return component.weight / component.normaliser * total
