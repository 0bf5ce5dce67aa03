"""``explain`` for scikit-learn pipelines: contributions, summed per input column."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from odefs.engines.row_blocks import unmasked
from odefs.inspection.explanation import Explanation
from odefs.tables.column_contributions import by_column
from odefs.tables.frames import column_cells, frame_names

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    from odefs.estimators.base import BaseOutlierEstimator
    from odefs.tables.encoder.encoder import ColumnEncoder


def explain(pipeline: "Pipeline | BaseOutlierEstimator", X: object) -> Explanation:
    """Return contributions of a fitted pipeline's input columns; the last step is an odefs model.

    Parameters
    ----------
    pipeline : scikit-learn pipeline, or an estimator of this library
    X : the input of the pipeline

    Raises
    ------
    ValueError
        If a step mixes columns (as PCA does), so that its output belongs to no single input column.
    """
    if not hasattr(pipeline, "steps"):
        return pipeline.explain(X)
    X = unmasked(X)
    rows, names = X, _names_of(X)
    sources = np.arange(len(names))
    for _, step in pipeline.steps[:-1]:
        if step in (None, "passthrough"):
            continue
        encoded = step.transform(rows)
        given = frame_names(X) if rows is X else None
        sources = sources[_sources(step, sources.size, encoded.shape[1], given)]
        rows = encoded
    found = pipeline.steps[-1][1].explain(rows)
    known = ~np.isnan(
        np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    )
    return by_column(found, sources, names, _cells(X, names), known)


def _cells(X: Any, names: list[str]) -> np.ndarray:
    """Return the cells; column by column unless pandas, because columns may lack a common type."""
    if hasattr(X, "toarray"):
        return np.asarray(X.toarray(), dtype=object)
    if hasattr(X, "iloc") or frame_names(X) is None:
        return np.asarray(X, dtype=object)
    cells = np.empty((len(X), len(names)), dtype=object)
    for k, name in enumerate(names):
        cells[:, k] = column_cells(X, name)
    return cells


def _names_of(X: Any) -> list[str]:
    names = frame_names(X)
    if names is not None:
        return names
    return [f"x{k}" for k in range(np.shape(X)[1])]


def _sources(step: Any, n_in: int, n_out: int, names: list[str] | None = None) -> np.ndarray:
    """Return, for each output column of a fitted transformer, the input column it comes from.

    ``names`` are those of the input if it is a frame: a step that selects columns by name accepts
    them in any order.
    """
    if hasattr(step, "specs_"):
        return _encoder_sources(step, names or _names_in(step, n_in))
    if hasattr(step, "transformers_"):
        return _column_transformer(step, n_out, names)
    if hasattr(step, "get_support"):
        return np.flatnonzero(step.get_support())
    if hasattr(step, "categories_"):
        return _one_hot(step, n_out)
    if n_in == n_out and (_keeps_names(step, n_in) or _is_identity(step)):
        return np.arange(n_in)
    if n_in == 1:
        return np.zeros(n_out, dtype=np.intp)
    raise ValueError(
        f"the output of {type(step).__name__} cannot be traced back to its input columns: "
        "explain the last step on its own input instead."
    )


def _encoder_sources(encoder: "ColumnEncoder", names: Sequence[str]) -> np.ndarray:
    place = {name: k for k, name in enumerate(names)}
    names = encoder.columns
    return np.array([place[names[k]] for k in encoder.sources])


def _names_in(step: "TransformerMixin", n_in: int) -> list[str]:
    return list(getattr(step, "feature_names_in_", [f"x{k}" for k in range(n_in)]))


def _keeps_names(step: "TransformerMixin", n_in: int) -> bool:
    """Whether the output has the names of the input; transformers that mix columns rename them."""
    if not hasattr(step, "get_feature_names_out"):
        return False
    return list(step.get_feature_names_out()) == _names_in(step, n_in)


def _is_identity(step: "TransformerMixin") -> bool:
    return isinstance(step, FunctionTransformer) and step.func is None


def _one_hot(step: "OneHotEncoder", n_out: int) -> np.ndarray:
    nameless = copy.copy(step)
    vars(nameless).pop("feature_names_in_", None)
    names = list(nameless.get_feature_names_out([f"{k}\x00" for k in range(step.n_features_in_)]))
    if len(names) != n_out:
        raise ValueError(
            f"the output of {type(step).__name__} cannot be traced back to its input columns."
        )
    return np.array([int(name.split("\x00")[0]) for name in names])


def _column_transformer(
    step: "ColumnTransformer", n_out: int, names: list[str] | None
) -> np.ndarray:
    trained = [str(name) for name in getattr(step, "feature_names_in_", [])]
    place = {name: k for k, name in enumerate(trained)}
    sources = np.full(n_out, -1, dtype=np.intp)
    for name, transformer, columns in step.transformers_:
        part = step.output_indices_[name]
        width = part.stop - part.start
        if width == 0:
            continue
        chosen = _indices(columns, place, step.n_features_in_)
        own = (
            np.arange(width)
            if transformer == "passthrough"
            else _sources(transformer, chosen.size, width)
        )
        sources[part] = chosen[own]
    if names is None or not trained:
        return sources
    # A step fitted to a frame selects by name; even integers refer to the training frame.
    now = {name: k for k, name in enumerate(names)}
    return np.array([now[trained[k]] for k in sources], dtype=np.intp)


def _indices(columns: Any, place: dict[str, int], n_in: int) -> np.ndarray:
    """Return positions in the training frame; slices of names include their end."""
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        first = place[start] if isinstance(start, str) else start
        last = place[stop] + 1 if isinstance(stop, str) else stop
        return np.arange(n_in)[first : last : columns.step]
    chosen = [columns] if isinstance(columns, str | int) else list(columns)
    if chosen and isinstance(chosen[0], bool | np.bool_):
        return np.flatnonzero(chosen)
    return np.array([place[c] if isinstance(c, str) else int(c) for c in chosen], dtype=np.intp)
