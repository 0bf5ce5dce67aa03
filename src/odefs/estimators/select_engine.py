"""From what a user hands over to an engine that holds its rows: by the ``engine`` parameter in ``fit``, by the kind of data when scoring."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.engines.out_of_core import require_finite
from odefs.engines.row_blocks import RowBlocks
from odefs.ensemble.combine import RowScores, as_shares
from odefs.ensemble.engine import Engine

if TYPE_CHECKING:
    from odefs.engines.stream import StreamEngine


def open_training_rows(estimator: Any, X: Any, detector: Detector, engine: str = "auto") -> Engine:
    """The engine for a fit; the estimator learns number and names of the columns."""
    kind = _kind(X) if engine == "auto" else engine
    if kind == "stream":
        blocks = _as_blocks(X)
        _set_columns(estimator, blocks.n_columns, blocks.names)
        return _stream(estimator, blocks)
    if kind == "dask":
        found = _dask(estimator, X)
        _set_columns(estimator, found.n_columns, found.names)
        return found
    require_in_memory(X, f"engine={engine!r}")
    in_memory: Engine = estimator._engine_for_fit(estimator._validate(X, reset=True), detector)
    return in_memory


def open_rows(estimator: Any, X: Any) -> Engine:
    """The engine that holds rows to be scored."""
    kind = _kind(X)
    if kind == "stream":
        return open_blocks(estimator, X)
    if kind == "dask":
        found = _dask(estimator, X)
        _check_columns(estimator, found.n_columns, found.names)
        return found
    return estimator._engine(estimator._validate(X, reset=False))


def open_blocks(estimator: Any, blocks: RowBlocks) -> "StreamEngine":
    """The engine that holds blocks of rows to be scored."""
    if not isinstance(blocks, RowBlocks):
        raise TypeError(f"odefs.RowBlocks is needed, not {type(blocks).__name__}.")
    _check_columns(estimator, blocks.n_columns, blocks.names)
    return _stream(estimator, blocks)


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


def require_in_memory(X: Any, who: str = "explain") -> None:
    """Refuse in one sentence where rows are somewhere else."""
    if _kind(X) != "local":
        raise TypeError(f"{who} takes rows that are in memory, not {type(X).__name__}: hand over some of its rows.")


def _kind(X: Any) -> str:
    if isinstance(X, RowBlocks):
        return "stream"
    # By name: whoever has no Dask collection need not have Dask.
    return "dask" if type(X).__module__.split(".")[0] in ("dask", "dask_expr") else "local"


def _as_blocks(X: Any) -> RowBlocks:
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        return RowBlocks.from_parquet(X)
    return RowBlocks.from_arrays(X)


def _stream(estimator: Any, blocks: RowBlocks) -> "StreamEngine":
    from odefs.engines.stream import StreamEngine

    return StreamEngine(blocks, estimator.n_jobs, estimator.missing == "ignore")


def _dask(estimator: Any, X: Any) -> Any:
    from odefs.engines.dask import DaskEngine

    return DaskEngine(X, estimator.n_jobs, estimator.missing == "ignore")


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
        raise ValueError(f"column {wrong} is called {names[wrong]!r}; the model was fitted to {known[wrong]!r} there.")
