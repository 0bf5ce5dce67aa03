"""Hands the rows of ``fit`` and of scoring to an engine, once they fit the estimator's columns.

Which engine it is, :mod:`odefs.engines.select` decides.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.out_of_core import require_finite
from odefs.engines.row_blocks import RowBlocks
from odefs.engines.select import out_of_core_engine, stream_engine
from odefs.ensemble.combine import RowScores, as_shares
from odefs.ensemble.engine import Engine

if TYPE_CHECKING:
    from odefs.engines.stream import StreamEngine


def open_training_rows(estimator: Any, X: Any, detector: Detector, engine: str = "auto") -> Engine:
    """The engine for a fit; the estimator learns number and names of the columns."""
    found = out_of_core_engine(X, engine, estimator.n_jobs, estimator.missing == "ignore")
    if found is not None:
        _set_columns(estimator, found.n_columns, found.names)
        return found
    in_memory: Engine = estimator._engine_for_fit(estimator._validate(X, reset=True), detector)
    return in_memory


def open_rows(estimator: Any, X: Any) -> Engine:
    """The engine that holds rows to be scored."""
    found = out_of_core_engine(X, "auto", estimator.n_jobs, estimator.missing == "ignore")
    if found is not None:
        _check_columns(estimator, found.n_columns, found.names)
        return found
    in_memory: Engine = estimator._engine(estimator._validate(X, reset=False))
    return in_memory


def open_blocks(estimator: Any, blocks: RowBlocks) -> "StreamEngine":
    """The engine that holds blocks of rows to be scored."""
    if not isinstance(blocks, RowBlocks):
        raise TypeError(f"odefs.RowBlocks is needed, not {type(blocks).__name__}.")
    _check_columns(estimator, blocks.n_columns, blocks.names)
    return stream_engine(blocks, estimator.n_jobs, estimator.missing == "ignore")


def judge_rows(estimator: Any, X: Any) -> RowScores:
    """Scores and agreement from one sweep."""
    return _rounded(open_rows(estimator, X).judged(estimator._model))


def judge_matrix(estimator: Any, X: np.ndarray, names: tuple[str, ...] | None = None) -> RowScores:
    """Scores and agreement of rows whose columns carry their names apart."""
    _check_columns(estimator, X.shape[1], names)
    require_finite(X, estimator.missing == "ignore")
    return _rounded(estimator._engine(X).judged(estimator._model))


def _rounded(judged: RowScores) -> RowScores:
    if judged.agreement is not None:
        as_shares(judged.agreement)
    return judged


def _set_columns(estimator: Any, n_columns: int, names: tuple[str, ...] | None) -> None:
    estimator.n_features_in_ = n_columns
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _check_columns(estimator: Any, n_columns: int, names: tuple[str, ...] | None) -> None:
    if n_columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        wrong = next(k for k, (a, b) in enumerate(zip(known, names, strict=True)) if a != b)
        raise ValueError(
            f"column {wrong} is called {names[wrong]!r}; the model was fitted to {known[wrong]!r} there."
        )
