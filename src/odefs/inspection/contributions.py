"""Contributions of the columns to the outlier score, row by row, explanations and importances.

Each component's score is split by its detector and added to the full table with the component's
weight and normaliser, so the contributions of a row add up to its outlier score, for training rows
and new ones alike.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Model, component_contributions
from odefs.ensemble.plan import Seeds, baseline_rows
from odefs.inspection.explanation import Explanation, TopExplanation, top_columns
from odefs.inspection.resemblances import AnswerParts, answer_parts, joined
from odefs.selection.alternation import LearnedWeights, select_columns

_BYTES_PER_CELL = 48
"""Working memory of a block's contributions, per row and column."""
MOST_ROWS = 256
"""Enough top-ranked rows for a stable result, few enough to explain quickly."""


def require_attribution(detector: Detector) -> None:
    """Raise if the detector's scores cannot be split over the columns."""
    if detector.attribution is None:
        raise TypeError(
            "explain needs a detector whose score splits over the columns; "
            f"{type(detector).__name__} declares attribution = None, so its score does not."
        )


def block_contributions(model: Model, X: np.ndarray) -> np.ndarray:
    """Contributions of a scaled block, ``(n_rows, n_columns)``, float64."""
    out = np.zeros(X.shape)
    for component in model.scoring:
        out[:, component.columns] += component_contributions(component, model.detector, X)
    return out


def usual_contributions(engine: Engine, model: Model, seeds: Seeds) -> np.ndarray:
    """Mean contribution of each column over a sample of training rows; the sum is about 1."""
    rows = baseline_rows(engine.n_rows, engine.n_columns, seeds.baseline())
    out = np.zeros(engine.n_columns)
    for component, total in zip(
        model.scoring, engine.total_contributions(model, rows), strict=True
    ):
        out[component.columns] += total
    return out / rows.size


def explain_all(
    engine: InMemoryEngine,
    model: Model,
    baseline: np.ndarray,
    data: object,
    feature_names: np.ndarray,
) -> Explanation:
    """Contributions of every column."""
    values = np.empty((engine.n_rows, engine.n_columns))
    answers: dict[int, AnswerParts] = {}

    def explain(rows: slice, X: np.ndarray) -> None:
        values[rows] = block_contributions(model, X)
        _add_answers(answers, model, rows, X, values[rows])

    engine.sweep(explain, model.scaling, model.dtype, _bytes_per_row(engine, model))
    return Explanation(
        values,
        baseline,
        data,
        feature_names,
        model.attribution or "",
        answers=_in_order(answers),
    )


def explain_top(
    engine: InMemoryEngine, model: Model, baseline: np.ndarray, top: int, feature_names: np.ndarray
) -> TopExplanation:
    """The ``top`` highest reasons of each row, without an array of all rows and columns."""
    k = min(top, engine.n_columns)
    columns = np.empty((engine.n_rows, k), dtype=np.intp)
    values = np.empty((engine.n_rows, k))
    data = np.empty((engine.n_rows, k), dtype=engine.dtype)
    answers: dict[int, AnswerParts] = {}

    def explain(rows: slice, X: np.ndarray) -> None:
        contributions = block_contributions(model, X)
        _add_answers(answers, model, rows, X, contributions)
        best = top_columns(contributions - baseline, k)
        columns[rows] = best
        values[rows] = np.take_along_axis(contributions, best, axis=1)
        # Cells as they were given: X is scaled.
        data[rows] = np.take_along_axis(engine.rows(rows), best, axis=1)

    engine.sweep(explain, model.scaling, model.dtype, _bytes_per_row(engine, model))
    return TopExplanation(
        columns,
        values,
        baseline,
        data,
        feature_names,
        model.attribution or "",
        answers=_in_order(answers),
    )


def _add_answers(
    answers: dict[int, AnswerParts],
    model: Model,
    rows: slice,
    X: np.ndarray,
    contributions: np.ndarray,
) -> None:
    """Add what answers change in the scores of a scaled block, by its first row."""
    if model.answers is not None:
        answers[rows.start] = answer_parts(model.answers, X, contributions.sum(axis=1))


def _in_order(answers: dict[int, AnswerParts]) -> AnswerParts | None:
    """Parts of blocks by their first row, joined; ``None`` without answers."""
    return joined([answers[start] for start in sorted(answers)]) if answers else None


def _bytes_per_row(engine: InMemoryEngine, model: Model) -> int:
    return _BYTES_PER_CELL * engine.n_columns + 4 * model.detector.bytes_per_explained_row(
        engine.n_columns
    )


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
    # A column can have a weight and separate the examples the wrong way round: it is not important.
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
    # Rounding of the sum must not require one column more, above all if share is 1.
    needed = int(np.searchsorted(np.cumsum(relevance[order]), share * total * (1 - 1e-12))) + 1
    return np.sort(order[:needed])


def shares_of_rows(estimator: Any, X: object) -> np.ndarray | None:
    """Mean share of each column in the excess of some rows, with sum 1.

    ``None`` if no row exceeds the usual score. Importances of the learned components describe what
    the model found; if it does not trust them, the score comes from other columns, and these count.
    A row is weighted by the logarithm of its score relative to the usual one: more extreme rows
    count more, and a single one does not dominate.
    """
    explanation = estimator.explain(X)
    return mean_shares(np.maximum(explanation.excess, 0.0), explanation)


def mean_shares(excess: np.ndarray, explanation: Explanation) -> np.ndarray | None:
    """Mean share of each column in the excess of explained rows, as far as it counts."""
    # Scores of equal rows are 0, and others may be any number of times as high.
    usual = max(explanation.baseline.sum(), np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        times = np.minimum(np.asarray(explanation).sum(axis=1) / usual, np.finfo(float).max)
    weights = np.where(excess.any(axis=1), np.log(np.maximum(times, 1.0)), 0.0)
    if not weights.any():
        return None
    counted = weights > 0
    shares: np.ndarray = (weights[counted] / weights.sum()) @ (
        excess[counted] / excess[counted].sum(axis=1, keepdims=True)
    )
    return shares
