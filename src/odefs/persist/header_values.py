"""Values of a model file: those that JSON preserves, and checked access that refuses crafted files.

Each function returns a value that was checked, or rejects the file with one sentence.
"""

import math
import numbers
from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from odefs.exceptions import ModelFileError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def require_plain(value: object, where: str) -> None:
    """Reject values that JSON would not preserve; used for objects that callers store."""
    if value is None or type(value) in (bool, int, str):
        return
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; only finite numbers can be stored.")
        return
    if type(value) is list:
        for i, item in enumerate(value):
            require_plain(item, f"{where}[{i}]")
        return
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"{where} has the key {key!r}; keys must be strings.")
            require_plain(item, f"{where}[{key!r}]")
        return
    raise TypeError(
        f"{where} is of type {type(value).__name__}; allowed are None, bool, int, float, str, "
        "and lists and dicts of these."
    )


def to_plain(value: object, where: str) -> Json:
    """Convert to plain values.

    NumPy scalars and arrays become Python's, tuples become lists, and floats that JSON lacks are
    stored by name.
    """
    if isinstance(value, NoneType | bool | np.bool_ | str | numbers.Real):
        return _plain_scalar(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return to_plain(value.tolist(), where)
    if isinstance(value, list | tuple):
        return [to_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): to_plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(
        f"{where} is of type {type(value).__name__}; model files store only numbers, strings, "
        "lists and dicts."
    )


def _plain_scalar(value: bool | np.bool_ | str | numbers.Real | None) -> Json:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else {"$float": str(number)}


def from_plain(value: object) -> Any:
    """Convert named floats back; everything else is returned unchanged."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(
                str(value["$float"]), math.nan
            )
        return {key: from_plain(item) for key, item in value.items()}
    return value


def nested_deeper(value: object, limit: int) -> bool:
    """Return whether lists and dicts are nested more than ``limit`` deep, without recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for item in level
            if isinstance(item, list | dict)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, list | dict) for item in level)


Kind = TypeVar("Kind")


def need(header: Mapping[str, object], key: str, kind: type[Kind]) -> Kind:
    """Return the value under ``key``, which must have exactly the given type."""
    value = header.get(key)
    # Not isinstance: True would pass for an integer.
    if type(value) is not kind:
        raise ModelFileError(f"its header lacks a valid {key!r}.")
    return value


def need_number(header: Mapping[str, object], key: str) -> float:
    """Return the finite number under ``key``."""
    value = header.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not _finite(value):
        raise ModelFileError(f"its header lacks a valid {key!r}.")
    return float(value)


def need_count(header: Mapping[str, object], key: str, least: int, most: int) -> int:
    """Return the integer under ``key``, which must be within bounds."""
    value = need(header, key, int)
    if not least <= value <= most:
        raise ModelFileError(
            f"its header has {key} = {value!r}, which is not between {least} and {most}."
        )
    return value


def as_object(value: object, problem: str) -> dict[str, object]:
    """Return a JSON object; ``problem`` is what is wrong with the file if it is none."""
    if not isinstance(value, dict):
        raise ModelFileError(f"it is not a valid model: {problem}.")
    return value


def as_list(value: object, problem: str) -> list[object]:
    """Return a JSON list; ``problem`` is what is wrong with the file if it is none."""
    if type(value) is not list:
        raise ModelFileError(f"it is not a valid model: {problem}.")
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    # JSON integers may have any length, and isfinite converts them to a float.
    except OverflowError:
        return False


class Arrays:
    """Arrays of a file, each of which can be taken once.

    No two parts of a model share an array, so a small file cannot become large in memory.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._left = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self, name: str, kinds: str | None = None, shape: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """Return an array, checking its kind (as in ``dtype.kind``) and shape if given."""
        array = self._left.pop(name, None)
        if array is None:
            raise ModelFileError(f"it lacks the array {name!r}.")
        if kinds is not None and array.dtype.kind not in kinds:
            raise ModelFileError(f"its array {name!r} has the wrong type {array.dtype.name}.")
        if shape is not None and array.shape != shape:
            raise ModelFileError(f"its array {name!r} has shape {array.shape} instead of {shape}.")
        return array

    def take_all(self, prefix: str) -> dict[str, np.ndarray]:
        """Return all arrays whose name starts with ``prefix``, by the rest of their name."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name[len(prefix) :]: self._left.pop(name) for name in names}

    def require_empty(self) -> None:
        """Reject the file if an array was not taken."""
        if self._left:
            raise ModelFileError(f"it holds an unknown array {min(self._left)!r}.")


def require(condition: object, problem: str) -> None:
    """Reject the file unless ``condition`` is true."""
    if not condition:
        raise ModelFileError(f"it is not a valid model: {problem}.")
