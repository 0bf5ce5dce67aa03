"""``explain`` for scikit-learn pipelines: contributions, summed per input column.

Which input column an output column of a step comes from is found in
:mod:`odefs.tables.pipelines.column_origins`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs._row_selection import frame_index, index_labels
from odefs.engines.other_arrays import local_table
from odefs.engines.row_blocks import unmasked
from odefs.inspection.explanation import Explanation
from odefs.inspection.result_frame import library_of
from odefs.tables.frames.convert import column_cells, frame_names
from odefs.tables.pipelines.column_origins import UntraceableStepError, is_skipped, origins_of
from odefs.tables.pipelines.probe_columns import sample_rows
from odefs.tables.reasons.contributions import by_column
from odefs.tables.results.displayed_rows import plain_cell

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from odefs.estimators.base import BaseOutlierEstimator


def explain(pipeline: "Pipeline | BaseOutlierEstimator", X: object) -> Explanation:
    """Return contributions of a fitted pipeline's input columns; the last step is an odefs model.

    Steps may be transformers of scikit-learn and skrub, and others that compute each output column
    from one input column: ``ColumnTransformer``, ``FeatureUnion``, ``FunctionTransformer``,
    ``TableVectorizer``, also nested.

    Parameters
    ----------
    pipeline : scikit-learn pipeline, a fitted search for one, or an estimator of this library
    X : the input of the pipeline

    Raises
    ------
    ValueError
        If a step mixes columns (as PCA does), so that its output belongs to no single input column.
        The message names the step.
    """
    pipeline = getattr(pipeline, "best_estimator_", pipeline)
    steps, model = _split(pipeline)
    if not hasattr(model, "explain"):
        raise TypeError(
            f"the last step is {type(model).__name__}, which has no explain: it must be an "
            "estimator of odefs."
        )
    if not steps:
        return model.explain(X)
    # Imported late, as by scoring: the command line works without scikit-learn.
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    X = local_table(unmasked(X))
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    elif hasattr(X, "tocsr"):  # Rows and columns of other sparse formats cannot be selected.
        X = X.tocsr()
    names = _names_of(X)
    rows, sample = X, sample_rows(X)
    sources = np.arange(len(names))
    for name, step in steps:
        labels = [names[k] for k in sources]
        origins = origins_of(step, sample, labels, (name,))
        is_all = sample is rows
        rows = step.transform(rows)
        sample = rows if is_all else step.transform(sample)
        if origins.size != rows.shape[1]:
            raise UntraceableStepError((name,), step, "width")
        sources = sources[origins]
    found = model.explain(rows)
    known = ~np.isnan(
        np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    )
    index = index_labels(frame_index(X))
    row_names = None if index is None else [plain_cell(cell) for cell in index]
    explained = by_column(found, sources, names, _cells(X, names), known, row_names)
    return replace(explained, library=library_of(X))


def _split(pipeline: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Return the transformers of a pipeline, whose last step may be one as well, and its model."""
    steps: list[tuple[str, Any]] = []
    while hasattr(pipeline, "steps"):
        steps += [(name, step) for name, step in pipeline.steps[:-1] if not is_skipped(step)]
        pipeline = pipeline.steps[-1][1]
    return steps, pipeline


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
