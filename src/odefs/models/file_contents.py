"""Estimator sections of a model file: class, parameters, learned attributes, fit summary."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.score_percentiles import SHARES
from odefs.exceptions import Fallback, ModelFileError
from odefs.models.base import OutlierModel
from odefs.models.constraints import Parameters
from odefs.models.feature_selection import FeatureSelection
from odefs.models.odefs import ODEFSModel
from odefs.models.validation import detector_of
from odefs.persist.detectors import describe_detector, restore_detector
from odefs.persist.header_values import (
    Arrays,
    from_plain,
    need,
    need_count,
    need_number,
    require,
    to_plain,
)
from odefs.persist.models import get_sparse, put_sparse

KINDS = {
    "ODEFS": "odefs.estimators",
    "LeSiNN": "odefs.estimators",
    "RandFS": "odefs.baselines",
    "RegFS": "odefs.baselines",
    "DisFS": "odefs.baselines",
    "CINFO": "odefs.baselines",
}
"""The classes that a file may name, and their modules; nothing else is ever imported for a file.

Modules are given by name because the baselines are in a layer above this one.
"""

BARE: dict[str, type[OutlierModel]] = {"ODEFS": ODEFSModel}
"""Classes that do not need scikit-learn, by kind."""

VECTORS = {
    "feature_importances_": "columns",
    "component_loss_": "subsets",
    "component_weight_": "subsets",
}
"""Attributes stored as vectors, and whether their length is that of the columns or the subsets."""

_OF_SUBSETS = ("feature_subsets_", "feature_importances_", "component_weight_")
REQUIRED: dict[str, tuple[str, ...]] = {
    "ODEFS": (*_OF_SUBSETS, "feature_weights_", "component_loss_", "n_iter_"),
    "LeSiNN": (),
    **dict.fromkeys(("RandFS", "RegFS", "DisFS", "CINFO"), _OF_SUBSETS),
}
"""Learned attributes that a file must contain, by kind."""

MAX_LISTED_JOBS = 1024
"""Largest ``n_jobs`` accepted from a file: a crafted one could exhaust the machine's threads."""


def class_of(kind: str, bare: bool = False) -> type[OutlierModel]:
    """The class that a file names; with ``bare``, one that does not need scikit-learn if any."""
    if bare and kind in BARE:
        return BARE[kind]
    # kind has been looked up in KINDS: nothing that a file names is imported otherwise.
    found: type[OutlierModel] = getattr(import_module(KINDS[kind]), kind)
    return found


def kind_of(estimator: object) -> str:
    """The name of an estimator's class in a file."""
    bare = {model: kind for kind, model in BARE.items()}
    found = type(estimator)
    # A class of the user may have the same name: save_model compares the class itself.
    return bare.get(found, found.__name__) if issubclass(found, OutlierModel) else found.__name__


def put_parameters(estimator: Parameters) -> dict[str, object]:
    stored: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, Detector):
            stored[name] = {"$detector": describe_detector(value)}
        elif isinstance(value, FeatureSelection):
            stored[name] = {"$selection": put_parameters(value)}
        elif isinstance(value, np.random.RandomState) or value is np.random:
            # A generator that has already been used could not reproduce the fit anyway.
            stored[name] = None
        else:
            stored[name] = to_plain(value, f"The parameter {name}")
    return stored


def make_estimator(
    kind: str,
    stored: dict[str, object],
    handed_over: Detector | None,
    detector: Detector,
    bare: bool,
) -> OutlierModel:
    """An unfitted estimator with validated parameters; defaults where the file has none."""
    estimator = _constructed(class_of(kind, bare), stored, handed_over)
    try:
        requested = describe_detector(detector_of(estimator._parameters()))
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelFileError(f"its parameters are not valid: {error}") from None
    # Otherwise get_params() of the loaded model would not describe the model that was fitted.
    fitted = describe_detector(detector)
    differing = requested["name"] if requested["name"] != fitted["name"] else requested["settings"]
    used = fitted["name"] if requested["name"] != fitted["name"] else fitted["settings"]
    require(
        requested == fitted,
        f"its parameters specify the detector {differing!r}, but it was fitted with {used!r}: "
        "fit it again",
    )
    require(estimator._why_not_saved() is None, "its parameters cannot be stored in a file")
    jobs = estimator.n_jobs
    require(
        jobs is None or (jobs != 0 and abs(jobs) <= MAX_LISTED_JOBS),
        f"n_jobs={jobs} is out of range",
    )
    return estimator


Made = TypeVar("Made", bound=Parameters)


def _constructed(
    chosen: type[Made], stored: dict[str, object], handed_over: Detector | None
) -> Made:
    """An object with the stored parameters, of which only the names are validated."""
    known = set(chosen._get_param_names())
    parameters = {}
    for name, value in stored.items():
        require(
            name in known,
            f"{chosen.__name__.removesuffix('Model')} has no parameter {name!r} in this version",
        )
        if isinstance(value, dict) and "$selection" in value:
            value = _constructed(FeatureSelection, need(value, "$selection", dict), None)
        elif isinstance(value, dict):
            described = need(value, "$detector", dict)
            custom = not need(described, "built_in", bool)
            value = restore_detector(described, handed_over if custom else None)
        parameters[name] = value
    return chosen(**parameters)


def get_names(names: list[object], n_columns: int) -> np.ndarray:
    require(
        len(names) == n_columns and all(type(name) is str for name in names),
        "feature names do not match the columns",
    )
    # An array of objects, as scikit-learn has for feature_names_in_.
    found = np.empty(n_columns, dtype=object)
    found[:] = names
    return found


def put_learned(estimator: OutlierModel, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """Learned attributes of the columns.

    Subsets are the columns of the first components, so only their number is stored.
    """
    learned: dict[str, Any] = {}
    for name in VECTORS:
        if hasattr(estimator, name):
            arrays[f"learned/{name}"] = getattr(estimator, name)
    if hasattr(estimator, "feature_subsets_"):
        learned["n_subsets"] = len(estimator.feature_subsets_)
    if hasattr(estimator, "feature_weights_"):
        put_sparse(estimator.feature_weights_, arrays, "learned/feature_weights_")
    for name in ("n_iter_", "trust_"):
        if hasattr(estimator, name):
            learned[name] = to_plain(getattr(estimator, name), name)
    return learned


def get_learned(estimator: Any, learned: dict[str, object], arrays: Arrays) -> None:
    components, n_columns = estimator._model.components, estimator.n_features_in_
    n_subsets = 0
    if "n_subsets" in learned:
        n_subsets = need_count(learned, "n_subsets", 1, len(components))
        # A fit puts the learned components first (fit_ensemble).
        estimator.feature_subsets_ = [component.columns for component in components[:n_subsets]]
    for name, per in VECTORS.items():
        if f"learned/{name}" in arrays:
            shape = (n_columns if per == "columns" else n_subsets,)
            values = arrays.take(f"learned/{name}", "f", shape)
            require(np.isfinite(values).all(), f"{name} is not finite")
            setattr(estimator, name, values)
    if "learned/feature_weights_/present" in arrays:
        estimator.feature_weights_ = get_sparse(
            arrays, "learned/feature_weights_", (n_subsets, n_columns)
        )
    if "n_iter_" in learned:
        estimator.n_iter_ = need_count(learned, "n_iter_", 0, 2**31)
    if "trust_" in learned:
        estimator.trust_ = need_number(learned, "trust_")
    for name in REQUIRED[kind_of(estimator)]:
        require(hasattr(estimator, name), f"it lacks {name}")


def put_fit_info(info: Mapping[str, object], arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """The fit summary; its arrays are stored as arrays, everything else as JSON."""
    stored: dict[str, Any] = {}
    for name, value in info.items():
        if isinstance(value, np.ndarray):
            arrays[f"training/{name}"] = value
        else:
            stored[name] = to_plain(value, f"fit_info_[{name!r}]")
    return stored


def get_noise_columns(info: Mapping[str, Any], n_columns: int) -> np.ndarray:
    """Columns treated as noise by the fit; none in files of versions without this detection."""
    found = info.get("noise_columns", np.empty(0, dtype=np.intp))
    fits = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind in "iu"
    require(
        fits and ((found >= 0) & (found < n_columns)).all(),
        "its noise columns are not column numbers",
    )
    return np.asarray(found, dtype=np.intp)


def get_quantiles(arrays: Arrays) -> np.ndarray | None:
    """Quantiles of the training scores; None in files of versions that did not store them."""
    if "score_quantiles" not in arrays:
        return None
    found = arrays.take("score_quantiles", "f", SHARES.shape)
    require(
        np.isfinite(found).all() and (np.diff(found) >= 0).all(),
        "quantiles of the training scores are not ascending numbers",
    )
    return found


def get_fit_info(stored: dict[str, Any], arrays: Arrays) -> dict[str, object]:
    info = {name: from_plain(value) for name, value in stored.items()} | arrays.take_all(
        "training/"
    )
    fallbacks = stored.get("fallbacks", [])
    fits = isinstance(fallbacks, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in fallbacks
    )
    require(fits, "fallbacks of its fit are not pairs of a keyword and a sentence")
    info["fallbacks"] = [Fallback(*pair) for pair in fallbacks]
    return info
