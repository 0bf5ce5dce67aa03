"""Model files that know their table: the encoder stands beside the estimator, and a loaded model takes the raw frame."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from odefs.detectors import Detector
from odefs.estimators.base import BaseOutlierEstimator
from odefs.exceptions import ModelFileError
from odefs.kernels.row_reductions import counts_above
from odefs.models.files import read_model, refused, save_model
from odefs.persist.checks import need, need_number, require
from odefs.tables.detection import Detection
from odefs.tables.displayed_rows import extent_of
from odefs.tables.encoder.encoder import TableEncoder
from odefs.tables.provenance import Provenance


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted model and encoder, and what was noted about the training table."""

    model: Any
    encoder: TableEncoder
    identifier: str | None
    flagged_share: float
    """Share of the training rows that were flagged, by the rule that the detection was asked for."""
    shares_above: tuple[tuple[float, float], ...]
    """Thresholds with the share of the training rows above each; none in files of older versions."""
    hidden: tuple[str, ...]
    source: dict[str, Any]
    run: Provenance

    def share_above(self, threshold: float | None) -> float | None:
        """Share of the training rows above a threshold, by default the model's own; None where it is not known."""
        return dict(self.shares_above).get(
            float(-self.model.offset_) if threshold is None else threshold
        )


def save_detection(found: Detection, path: str | os.PathLike[str]) -> None:
    """Write model and encoder to one file. It holds rows of the training table, the references, and nothing of its length."""
    identifier = found.identifier if found.named else None
    noted: dict[str, Any] = {
        "identifier": identifier,
        "flagged_share": found.n_flagged / found.n_rows,
        "shares_above": _shares_above(
            extent_of(found).scores, [float(-found.model.offset_), float(found.threshold)]
        ),
        "hidden": sorted(found.hidden),
        "source": found.source,
        "run": found.run,
    }
    save_table_model(path, found.model, found.encoder, **noted)


def _shares_above(scores: np.ndarray, thresholds: list[float]) -> list[list[float]]:
    """A model is used with its own threshold or with the one that training was asked for: other tables are compared with training under both."""
    apart = sorted(set(thresholds))
    return [
        [t, int(n) / scores.size]
        for t, n in zip(apart, counts_above(scores, np.array(apart)), strict=True)
    ]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or a pipeline of encoder and estimator, to one file that :func:`odefs.load` reads.

    The file is arrays and JSON, no pickle. It holds rows of the training data, the references that scores are measured against: treat it as you treat the data.

    Parameters
    ----------
    model : estimator of this library, pipeline of a TableEncoder and an estimator, or what :func:`odefs.detect` returns
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> import polars as pl
    >>> from sklearn.pipeline import make_pipeline
    >>> import odefs
    >>> frame = pl.DataFrame({"shop": ["a", "b"] * 50, "price": [10.0 + i % 7 for i in range(99)] + [900.0]})
    >>> pipeline = make_pipeline(odefs.TableEncoder(), odefs.ODEFS(scaling="none", random_state=0)).fit(frame)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.odefs")
    >>> odefs.save(pipeline, path)
    >>> bool((odefs.load(path).predict(frame) == pipeline.predict(frame)).all())
    True
    """
    if isinstance(model, Detection):
        save_detection(model, path)
    elif isinstance(model, Pipeline):
        _save_pipeline(model, path)
    else:
        save_model(model, path)


def _save_pipeline(pipeline: Pipeline, path: str | os.PathLike[str]) -> None:
    steps = [step for _, step in pipeline.steps]
    if (
        len(steps) != 2
        or not isinstance(steps[0], TableEncoder)
        or not isinstance(steps[1], BaseOutlierEstimator)
    ):
        named = ", ".join(step if isinstance(step, str) else type(step).__name__ for step in steps)
        raise TypeError(
            f"model files hold an estimator, or a pipeline of a TableEncoder and one, not one of {named}: "
            "what other steps do has no place in them. Save the last step alone and take care of the others yourself."
        )
    encoder, model = steps
    check_is_fitted(encoder, "specs_")
    check_is_fitted(model)
    width = sum(len(spec.feature_names()) for spec in encoder.specs_)
    if width != model.n_features_in_:
        raise ValueError(
            f"the encoder gives {width} columns and the model was fitted to {model.n_features_in_}: fit the pipeline as one."
        )
    if (noted := getattr(model, "_noted", None)) is not None:
        save_table_model(path, model, encoder, **noted)
        return
    if not hasattr(model, "is_outlier_"):
        raise ValueError(
            "the model was loaded from a file without an encoder, so it is not known what share of its table it flagged: "
            "save the pipeline that it was fitted in."
        )
    seed = model.random_state if isinstance(model.random_state, int) else None
    flagged = float(model.is_outlier_.mean())
    shares = _shares_above(model.outlier_scores_, [float(-model.offset_)])
    save_table_model(
        path, model, encoder, None, flagged, shares, [], {}, Provenance.of_model(model, seed=seed)
    )


def save_table_model(
    path: str | os.PathLike[str],
    model: Any,
    encoder: TableEncoder,
    identifier: str | None,
    flagged_share: float,
    shares_above: list[list[float]],
    hidden: list[str],
    source: dict[str, Any],
    run: Provenance,
) -> None:
    """Write a model and its encoder with what is noted about the training table."""
    extra = {
        "encoder": encoder.state(),
        "identifier": identifier,
        "flagged_share": flagged_share,
        "shares_above": shares_above,
        "hidden": hidden,
        "source": source,
        "run": run.state(),
    }
    save_model(model, path, extra=extra)


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """A model that the command line saved."""
    loaded = read_model(path)
    if loaded.extra is None or "encoder" not in loaded.extra:
        raise ModelFileError(
            f"{path}: this model was fitted to an array, not to a table; use it in Python."
        )
    return _table_model(loaded.estimator, loaded.extra, path)


def _table_model(estimator: Any, extra: dict[str, Any], path: str | os.PathLike[str]) -> TableModel:
    try:
        encoder = TableEncoder.from_state(extra["encoder"])
        width, n_columns = (
            sum(len(spec.feature_names()) for spec in encoder.specs_),
            estimator.n_features_in_,
        )
        require(width == n_columns, f"it has {width} encoded columns and {n_columns} in the model")
        identifier, hidden = extra.get("identifier"), need(extra, "hidden", list)
        require(
            identifier is None or type(identifier) is str,
            "the column that names the rows is not a name",
        )
        require(all(type(name) is str for name in hidden), "hidden columns are not names")
        share = need_number(extra, "flagged_share")
        shares = _read_shares(extra)
        source, run = need(extra, "source", dict), Provenance.from_state(need(extra, "run", dict))
    except ModelFileError as error:
        raise refused(path, error) from None
    return TableModel(estimator, encoder, identifier, share, shares, tuple(hidden), source, run)


def _read_shares(extra: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    pairs = need(extra, "shares_above", list) if "shares_above" in extra else []
    for pair in pairs:
        numbers = (
            type(pair) is list
            and len(pair) == 2
            and all(type(part) in (int, float) for part in pair)
        )
        require(
            numbers and 0 <= pair[1] <= 1,
            "the shares of the training table above its thresholds are not shares",
        )
    return tuple((float(threshold), float(share)) for threshold, share in pairs)


def load(path: str | os.PathLike[str], detector: Detector | None = None) -> Any:
    """A fitted estimator from a file that :func:`odefs.save`, ``save`` of an estimator or the command line wrote.

    A model of a table comes back as a scikit-learn pipeline of encoder and estimator: it takes the raw data frame. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
    detector : Detector, optional
        Needed where the model was fitted with a detector of one's own.
    """
    loaded = read_model(path, detector)
    if loaded.extra is None or "encoder" not in loaded.extra:
        return loaded.estimator
    found = _table_model(loaded.estimator, loaded.extra, path)
    # For whoever saves it again; a refit drops it.
    found.model._noted = {
        "identifier": found.identifier,
        "flagged_share": found.flagged_share,
        "shares_above": [list(pair) for pair in found.shares_above],
        "hidden": list(found.hidden),
        "source": found.source,
        "run": found.run,
    }
    return Pipeline([("table", found.encoder), ("model", found.model)])
