"""Detectors in model files: name and settings.

Only built-in detectors are created from these; any other must be passed by the caller.
"""

import dataclasses
import inspect
from typing import Any

from odefs.detectors import BUILT_IN, Detector
from odefs.exceptions import ModelFileError
from odefs.persist.header_values import need, require, to_plain

LARGEST_SETTING = 2**31


def is_built_in(detector: Detector) -> bool:
    """Return whether the class is one of the built-in ones; a subclass may do anything."""
    return type(detector) in BUILT_IN.values()


def describe_detector(detector: Detector) -> dict[str, object]:
    """Return name and settings as plain values; unsupported settings of a custom detector are
    omitted.
    """
    return {
        "name": _name(detector),
        "built_in": is_built_in(detector),
        "settings": _settings(detector),
    }


def restore_detector(described: dict[str, object], given: Detector | None) -> Detector:
    """Return the built-in detector that is described, or ``given`` if it matches the
    description.
    """
    name = need(described, "name", str)
    if need(described, "built_in", bool):
        if given is not None:
            raise ModelFileError(
                f"its detector is the built-in {name!r}: load it without detector=."
            )
        return _built_in(name, need(described, "settings", dict))
    if given is None:
        raise ModelFileError(
            f"its detector {name!r} is not built in: pass it, as in odefs.load(path, detector=...)."
        )
    if _name(given) != name:
        raise ModelFileError(
            f"it was fitted with the detector {name!r}, but {_name(given)!r} was given."
        )
    stored, found = described.get("settings"), _settings(given)
    # Files of earlier versions store the settings of dataclasses only.
    if stored is not None and stored != found:
        raise ModelFileError(
            f"its detector {name!r} has the settings {stored}, but the given one has {found}."
        )
    return given


def _name(detector: Detector) -> str:
    return str(getattr(detector, "name", type(detector).__name__))


def _settings(detector: Detector) -> dict[str, object] | None:
    """Return the fields of a dataclass, or else the attributes named like constructor arguments."""
    if dataclasses.is_dataclass(detector):
        names = [field.name for field in dataclasses.fields(detector)]
    else:
        names = [
            name for name in inspect.signature(type(detector)).parameters if hasattr(detector, name)
        ]
    found: dict[str, object] = {}
    for name in names:
        try:
            found[name] = to_plain(getattr(detector, name), name)
        except TypeError:
            continue
    return found


def _built_in(name: str, settings: dict[str, object]) -> Detector:
    require(name in BUILT_IN, f"there is no built-in detector {name!r}")
    kind = BUILT_IN[name]
    defaults: Any = kind()
    for key, value in settings.items():
        default = getattr(defaults, key, None)
        known = key in {field.name for field in dataclasses.fields(defaults)}
        require(known, f"its detector {name!r} has no setting {key!r} in this version")
        require(
            # Exactly the type of the default: True is an int for isinstance.
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
