"""``odefs.save`` and ``odefs.load``: model files of estimators and of table pipelines."""

import os
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from odefs.detectors import Detector
from odefs.estimators.base import BaseOutlierEstimator
from odefs.models.base import OutlierModel
from odefs.models.files import read_model, save_model
from odefs.review.files import is_review
from odefs.review.review import resume
from odefs.tables.encoder.transformer import TableEncoder
from odefs.tables.model_files.tables import (
    save_detection,
    save_table_model,
    shares_above,
    table_model,
)
from odefs.tables.records.notes import Provenance
from odefs.tables.results.detection import TableDetection


def save(model: TableDetection | Pipeline | OutlierModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator or pipeline to one file; :func:`odefs.load` reads it.

    The file consists of arrays and JSON, without pickle. It contains rows of the training data (the
    references that scores are measured against): treat it as confidential as the data.

    Parameters
    ----------
    model : estimator, Pipeline or Detection
        A fitted estimator of this library, a pipeline of a TableEncoder and such an estimator, or
        the result of :func:`odefs.detect`.
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> import polars as pl
    >>> from sklearn.pipeline import make_pipeline
    >>> import odefs
    >>> prices = [10.0 + i % 7 for i in range(99)] + [900.0]
    >>> frame = pl.DataFrame({"shop": ["a", "b"] * 50, "price": prices})
    >>> model = odefs.ODEFS(scaling="none", random_state=0)
    >>> pipeline = make_pipeline(odefs.TableEncoder(), model).fit(frame)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.odefs")
    >>> odefs.save(pipeline, path)
    >>> bool((odefs.load(path).predict(frame) == pipeline.predict(frame)).all())
    True
    """
    if isinstance(model, TableDetection):
        save_detection(model, path)
    elif isinstance(model, Pipeline):
        _save_pipeline(model, path)
    else:
        save_model(model, path)


def _two_steps(pipeline: Pipeline) -> tuple[TableEncoder, BaseOutlierEstimator]:
    """Return encoder and estimator of a pipeline that files can hold."""
    match [step for _, step in pipeline.steps]:
        case [TableEncoder() as encoder, BaseOutlierEstimator() as model]:
            return encoder, model
        case steps:
            named = [step if isinstance(step, str) else type(step).__name__ for step in steps]
            raise TypeError(
                "model files hold an estimator, or a pipeline of a TableEncoder and one, not one "
                f"of {', '.join(named)}: save the last step alone, and the other steps by other "
                "means."
            )


def _save_pipeline(pipeline: Pipeline, path: str | os.PathLike[str]) -> None:
    encoder, model = _two_steps(pipeline)
    check_is_fitted(encoder, "specs_")
    check_is_fitted(model)
    width = sum(len(spec.feature_names()) for spec in encoder.specs_)
    if width != model.n_features_in_:
        raise ValueError(
            f"the encoder returns {width} columns, but the model was fitted to "
            f"{model.n_features_in_}: fit the pipeline as one."
        )
    if (noted := getattr(model, "_noted", None)) is not None:
        save_table_model(path, model, encoder, **noted)
        return
    if not hasattr(model, "is_outlier_"):
        raise ValueError(
            "the model was loaded from a file without an encoder, so the share of training rows "
            "that it flagged is unknown: save the pipeline that it was fitted in."
        )
    seed = model.random_state if isinstance(model.random_state, int) else None
    flagged = float(model.is_outlier_.mean())
    shares = shares_above(model.outlier_scores_, [float(-model.offset_)])
    save_table_model(
        path, model, encoder, None, flagged, shares, [], {}, Provenance.of_model(model, seed=seed)
    )


def load(path: str | os.PathLike[str], detector: Detector | None = None) -> Any:
    """Load a fitted estimator written by :func:`odefs.save` or by the command line.

    A model of a table is returned as a scikit-learn pipeline of encoder and estimator, which takes
    the raw data frame, and a review (:meth:`odefs.Review.save`) as a review. Nothing in the file is
    executed.

    Parameters
    ----------
    path : str or path
    detector : Detector, optional
        Required if the model was fitted with a detector that is not built in.
    """
    loaded = read_model(path, detector)
    if is_review(loaded):
        return resume(loaded, path)
    if loaded.extra is None or "encoder" not in loaded.extra:
        return loaded.estimator
    found = table_model(loaded, path, TableEncoder)
    # Allows saving the pipeline again: this cannot be computed without the training rows.
    # A refit drops it.
    model: Any = found.model
    model._noted = {
        "identifier": found.identifier,
        "flagged_share": found.flagged_share,
        "shares_above": [list(pair) for pair in found.shares_above],
        "hidden": list(found.hidden),
        "source": found.source,
        "run": found.run,
        "training": found.training,
    }
    return Pipeline([("table", found.encoder), ("model", found.model)])
