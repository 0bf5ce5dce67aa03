"""Explanation of rows by a frozen model, in blocks."""

from typing import Any

import numpy as np

from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.model import Model
from odefs.inspection.contributions import block_contributions
from odefs.inspection.explanation import Explanation, TopExplanation, top_columns

_BYTES_PER_CELL = 48
"""Working memory of a block's contributions, per row and column."""


def explain_all(
    engine: InMemoryEngine, model: Model, baseline: np.ndarray, data: Any, feature_names: np.ndarray
) -> Explanation:
    """Contributions of every column."""
    values = np.empty((engine.n_rows, engine.n_columns))

    def explain(rows: slice, X: np.ndarray) -> None:
        values[rows] = block_contributions(model, X)

    engine.sweep(explain, model.scaling, model.dtype, _bytes_per_row(engine, model))
    return Explanation(values, baseline, data, feature_names, model.detector.attribution or "")


def explain_top(
    engine: InMemoryEngine, model: Model, baseline: np.ndarray, top: int, feature_names: np.ndarray
) -> TopExplanation:
    """The ``top`` highest reasons of each row, without an array of all rows and columns."""
    k = min(top, engine.n_columns)
    columns = np.empty((engine.n_rows, k), dtype=np.intp)
    values = np.empty((engine.n_rows, k))
    data = np.empty((engine.n_rows, k), dtype=engine.dtype)

    def explain(rows: slice, X: np.ndarray) -> None:
        contributions = block_contributions(model, X)
        best = top_columns(contributions - baseline, k)
        columns[rows] = best
        values[rows] = np.take_along_axis(contributions, best, axis=1)
        data[rows] = np.take_along_axis(engine.rows(rows), best, axis=1)

    engine.sweep(explain, model.scaling, model.dtype, _bytes_per_row(engine, model))
    return TopExplanation(
        columns, values, baseline, data, feature_names, model.detector.attribution or ""
    )


def _bytes_per_row(engine: InMemoryEngine, model: Model) -> int:
    return _BYTES_PER_CELL * engine.n_columns + 4 * model.detector.bytes_per_explained_row(
        engine.n_columns
    )
