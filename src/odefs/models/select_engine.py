"""Engines for the rows of ``fit`` and of scoring, with a check of their columns.

:mod:`odefs.engines.select` chooses the engine.
"""

from typing import TYPE_CHECKING

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.out_of_core import require_finite
from odefs.engines.row_blocks import RowBlocks
from odefs.engines.select import out_of_core_engine, stream_engine
from odefs.ensemble.engine import Engine
from odefs.ensemble.model import RowScores, as_shares

if TYPE_CHECKING:
    from odefs.engines.stream import StreamEngine
    from odefs.models.base import OutlierModel


def open_training_rows(
    estimator: "OutlierModel", X: object, detector: Detector, engine: str = "auto"
) -> Engine:
    """Engine for a fit; sets the number and names of the columns on the estimator."""
    found = out_of_core_engine(X, engine, estimator.n_jobs, estimator.missing == "ignore")
    if found is not None:
        _set_columns(estimator, found.n_columns, found.names)
        return found
    in_memory: Engine = estimator._engine_for_fit(estimator._validate(X, reset=True), detector)
    return in_memory


def open_rows(estimator: "OutlierModel", X: object) -> Engine:
    """Engine for rows to be scored."""
    found = out_of_core_engine(X, "auto", estimator.n_jobs, estimator.missing == "ignore")
    if found is not None:
        _check_columns(estimator, found.n_columns, found.names)
        return found
    in_memory: Engine = estimator._engine(estimator._validate(X, reset=False))
    return in_memory


def open_blocks(estimator: "OutlierModel", blocks: RowBlocks) -> "StreamEngine":
    """Engine for blocks of rows to be scored."""
    if not isinstance(blocks, RowBlocks):
        raise TypeError(f"blocks must be odefs.RowBlocks, not {type(blocks).__name__}.")
    _check_columns(estimator, blocks.n_columns, blocks.names)
    return stream_engine(blocks, estimator.n_jobs, estimator.missing == "ignore")


def judge_rows(estimator: "OutlierModel", X: object) -> RowScores:
    """Scores and agreement of rows from one pass."""
    return _rounded(open_rows(estimator, X).judged(estimator._model))


def judge_matrix(estimator: "OutlierModel", X: np.ndarray) -> RowScores:
    """Scores and agreement of the rows of a matrix without column names."""
    _check_columns(estimator, X.shape[1], None)
    # validate_data is not called on this path, which does not need scikit-learn.
    require_finite(X, estimator.missing == "ignore")
    return _rounded(estimator._engine(X).judged(estimator._model))


def _rounded(judged: RowScores) -> RowScores:
    if judged.agreement is not None:
        as_shares(judged.agreement)
    return judged


def _set_columns(estimator: "OutlierModel", n_columns: int, names: tuple[str, ...] | None) -> None:
    estimator.n_features_in_ = n_columns
    # A refit with unnamed columns must not keep the names of the last fit.
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.__dict__["feature_names_in_"] = np.array(names, dtype=object)


def _check_columns(
    estimator: "OutlierModel", n_columns: int, names: tuple[str, ...] | None
) -> None:
    if n_columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        wrong = next(k for k, (a, b) in enumerate(zip(known, names, strict=True)) if a != b)
        raise ValueError(
            f"column {wrong} is {names[wrong]!r}, but the model was fitted with {known[wrong]!r}."
        )
