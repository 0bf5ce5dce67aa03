"""Model files: saving and loading of fitted estimators.

This module defines which attributes of an estimator a file holds; :mod:`odefs.persist` defines the
file format. Attributes with one value per training row are never stored.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.exceptions import ModelFileError
from odefs.models.base import OutlierModel
from odefs.models.file_contents import (
    BARE,
    KINDS,
    class_of,
    get_fit_info,
    get_learned,
    get_names,
    get_noise_columns,
    get_quantiles,
    kind_of,
    make_estimator,
    put_fit_info,
    put_learned,
    put_parameters,
)
from odefs.persist.detectors import is_built_in
from odefs.persist.file_format import VERSION, write_file
from odefs.persist.header_values import (
    Arrays,
    as_object,
    need,
    need_count,
    need_number,
    require,
    require_plain,
)
from odefs.persist.models import get_model, put_model
from odefs.persist.reading import read_file
from odefs.versions import version_of

MAX_MESSAGE = 400
"""Longest error message, in characters: messages quote the file, which may be crafted."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """Contents of a model file: the estimator, the data stored with it, and the raw header."""

    estimator: OutlierModel
    extra: dict[str, Any] | None
    extra_arrays: dict[str, np.ndarray]
    header: dict[str, object]


def save_model(
    estimator: OutlierModel,
    path: str | os.PathLike[str],
    extra: Mapping[str, object] | None = None,
    extra_arrays: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write a fitted estimator to one file, with an optional JSON object and named arrays.

    The file appears under its name only once it is complete. It contains rows of the training data:
    the references that scores are measured against.
    """
    kind = kind_of(estimator)
    is_bare = type(estimator) in BARE.values()
    _require_storable(estimator, kind, is_bare)
    if extra is not None and type(extra) is not dict:
        raise TypeError(f"extra is of type {type(extra).__name__}, not a dict.")
    require_plain(extra, "extra")
    arrays: dict[str, np.ndarray] = {}
    header: dict[str, object] = {
        "format": VERSION,
        "kind": kind,
        "parameters": put_parameters(estimator),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names": _feature_names(estimator),
        "offset": float(estimator.offset_),
        "model": put_model(estimator._model, arrays),
        "learned": put_learned(estimator, arrays),
        "training": put_fit_info(estimator.fit_info_, arrays),
        "versions": _versions(),
        "extra": extra,
    }
    if estimator.score_quantiles_ is not None:
        arrays["score_quantiles"] = estimator.score_quantiles_
    if estimator._model.detector.attribution is not None:
        arrays["baseline"] = estimator._baseline
    for name, array in (extra_arrays or {}).items():
        arrays[f"extra/{name}"] = np.asarray(array)
    try:
        # Restoring applies all checks of loading: a file that could not be loaded is never written.
        handed_over = None if is_built_in(estimator._model.detector) else estimator._model.detector
        _restore(header, arrays, handed_over, is_bare)
    except ModelFileError as error:
        raise ModelFileError(f"This {kind} cannot be saved: {error}") from None
    write_file(path, header, arrays)


def _feature_names(estimator: OutlierModel) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _require_storable(estimator: OutlierModel, kind: str, is_bare: bool) -> None:
    """Reject estimators that files do not hold, unfitted ones and invalid parameters."""
    if kind not in KINDS or type(estimator) is not class_of(kind, is_bare):
        inner = type(getattr(estimator, "estimator_", None)).__name__
        advice = " Save its estimator_, which is one." if inner in KINDS else ""
        where = f"{type(estimator).__module__}.{kind}"
        raise TypeError(
            f"{where} cannot be saved: model files hold {', '.join(KINDS)} of this library.{advice}"
        )
    estimator._require_fitted()
    reason = estimator._why_not_saved()
    if reason is not None:
        raise ValueError(reason)
    estimator._parameters()


def load(path: str | os.PathLike[str], detector: Detector | None = None) -> Any:
    """Load an estimator written by ``save``; its results are bit-for-bit those of the saved one.

    Loading executes nothing from the file and validates all of it, so files of unknown origin may
    be loaded.

    Parameters
    ----------
    path : str or path
    detector : Detector, optional
        Required if the model was fitted with a detector that is not built in.

    Returns
    -------
    estimator : ODEFS, LeSiNN or one of odefs.baselines
        Without the attributes of the training rows: ``outlier_scores_``, ``decision_scores_``,
        ``is_outlier_``, ``agreement_`` and ``candidate_indices_``.

    Raises
    ------
    ModelFileError
        If the file is truncated, damaged, too new, or not a model; the message is one sentence.
    """
    return read_model(path, detector).estimator


def read_model(
    path: str | os.PathLike[str], detector: Detector | None = None, bare: bool = False
) -> Loaded:
    """Load an estimator together with the data stored with it.

    ``bare`` selects the class that does not need scikit-learn, if there is one.
    """
    if detector is not None and not isinstance(detector, Detector):
        raise TypeError(f"detector={detector!r} is not an odefs.detectors.Detector.")
    try:
        return _restore(*read_file(path), detector, bare)
    except ModelFileError as error:
        raise refused(path, error) from None


def refused(path: str | os.PathLike[str], error: ModelFileError) -> ModelFileError:
    """The error with the file's name in front, truncated to ``MAX_MESSAGE`` characters."""
    sentence = str(error)
    cut = sentence if len(sentence) <= MAX_MESSAGE else f"{sentence[:MAX_MESSAGE]} ..."
    return ModelFileError(f"{os.fspath(path)} cannot be loaded: {cut}")


def _restore(
    header: dict[str, object],
    stored: dict[str, np.ndarray],
    handed_over: Detector | None,
    bare: bool = False,
) -> Loaded:
    kind = need(header, "kind", str)
    # The version is also in the preamble, which reading has checked.
    require(header.get("format") == VERSION, "its header is of another format version")
    require(kind in KINDS, f"no estimator is called {kind!r}")
    arrays = Arrays(stored)
    n_columns = need_count(header, "n_features_in", 1, 2**40)
    model = get_model(need(header, "model", dict), arrays, n_columns, handed_over)
    estimator: Any = make_estimator(
        kind, need(header, "parameters", dict), handed_over, model.detector, bare
    )
    estimator._model = model
    estimator._from_file = True
    estimator.n_features_in_ = n_columns
    estimator.offset_ = need_number(header, "offset")
    estimator.score_quantiles_ = get_quantiles(arrays)
    if header.get("feature_names") is not None:
        estimator.feature_names_in_ = get_names(need(header, "feature_names", list), n_columns)
    if "baseline" in arrays:
        estimator._baseline = arrays.take("baseline", "f", (n_columns,))
        require(np.isfinite(estimator._baseline).all(), "usual contributions are not finite")
    require(
        hasattr(estimator, "_baseline") == (model.detector.attribution is not None),
        "usual contributions and the detector do not belong together",
    )
    get_learned(estimator, need(header, "learned", dict), arrays)
    estimator.fit_info_ = get_fit_info(need(header, "training", dict), arrays)
    if kind == "ODEFS":
        estimator.noise_columns_ = get_noise_columns(estimator.fit_info_, estimator.n_features_in_)
    extra = header.get("extra")
    if extra is not None:
        extra = as_object(extra, "the data stored with the model is not an object")
    extra_arrays = arrays.take_all("extra/")
    # Unknown arrays are refused, as unknown parameters are.
    arrays.require_empty()
    return Loaded(estimator, extra, extra_arrays, header)


def _versions() -> dict[str, str]:
    packages = ("odefs", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version_of(name) for name in packages}}
