"""A detector's place in a file: its name and settings. Only the built-in ones are made from that;
any other must be handed over.
"""

import dataclasses
import inspect
from typing import Any

from odefs.detectors import BUILT_IN, Detector
from odefs.exceptions import ModelFileError
from odefs.persist.checks import need, require
from odefs.persist.json_values import to_plain

LARGEST_SETTING = 2**31


def is_built_in(detector: Detector) -> bool:
    """Whether it is one of the built-in classes itself; a subclass may do anything."""
    return type(detector) in BUILT_IN.values()


def describe_detector(detector: Detector) -> dict[str, Any]:
    """Name and settings as plain values; settings of a custom detector that are not plain are left
    out.
    """
    return {
        "name": _name(detector),
        "built_in": is_built_in(detector),
        "settings": _settings(detector),
    }


def restore_detector(described: dict[str, Any], handed_over: Detector | None) -> Detector:
    """The built-in detector that is described, or the one that was handed over if it is the one
    that is described.
    """
    name = need(described, "name", str)
    if need(described, "built_in", bool):
        if handed_over is not None:
            raise ModelFileError(
                f"its detector is the built-in {name!r}: load it without detector=."
            )
        return _built_in(name, need(described, "settings", dict))
    if handed_over is None:
        raise ModelFileError(
            f"its detector {name!r} is not built in: hand it over, as in odefs.load(path, detector=...)."
        )
    if _name(handed_over) != name:
        raise ModelFileError(
            f"it was fitted with the detector {name!r}, and {_name(handed_over)!r} was handed over."
        )
    there, here = described.get("settings"), _settings(handed_over)
    # Files of earlier versions say nothing of the settings of other classes than dataclasses.
    if there is not None and there != here:
        raise ModelFileError(
            f"its detector {name!r} has the settings {there}, the one that was handed over {here}."
        )
    return handed_over


def _name(detector: Detector) -> str:
    return str(getattr(detector, "name", type(detector).__name__))


def _settings(detector: Detector) -> dict[str, Any] | None:
    """Fields of a dataclass; of other classes, attributes that are called as arguments of the
    constructor are.
    """
    if dataclasses.is_dataclass(detector):
        names = [field.name for field in dataclasses.fields(detector)]
    else:
        names = [
            name for name in inspect.signature(type(detector)).parameters if hasattr(detector, name)
        ]
    found = {}
    for name in names:
        try:
            found[name] = to_plain(getattr(detector, name), name)
        except TypeError:
            continue
    return found


def _built_in(name: str, settings: dict[str, Any]) -> Detector:
    require(name in BUILT_IN, f"no built-in detector is called {name!r}")
    kind = BUILT_IN[name]
    defaults: Any = kind()
    for key, value in settings.items():
        default = getattr(defaults, key, None)
        known = key in {field.name for field in dataclasses.fields(defaults)}
        require(known, f"its detector {name!r} has no setting {key!r} in this version")
        require(
            type(value) is type(default),
            f"the setting {key!r} of its detector is of the wrong type",
        )
        require(
            type(value) is not int or 1 <= value <= LARGEST_SETTING,
            f"the setting {key!r} of its detector is out of range",
        )
    try:
        return kind(**settings)
    except ValueError as error:
        raise ModelFileError(f"its detector is not valid: {error}") from None
