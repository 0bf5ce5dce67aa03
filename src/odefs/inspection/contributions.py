"""Contributions of the columns to the outlier score, row by row, and explanations made of them.

Each component's score is split by its detector and added to the full table with the component's
weight and normaliser, so the contributions of a row add up to its outlier score, for training rows
and new ones alike.
"""

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import Model, component_contributions
from odefs.ensemble.plan import Seeds, baseline_rows
from odefs.inspection.explanation import Explanation, TopExplanation, top_columns
from odefs.inspection.resemblances import AnswerParts, answer_parts, joined


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


_BYTES_PER_CELL = 48
"""Working memory of a block's contributions, per row and column."""


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
