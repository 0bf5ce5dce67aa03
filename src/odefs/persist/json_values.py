"""Values allowed in the header: those that JSON preserves."""

import math
import numbers
from typing import Any, TypeAlias

import numpy as np

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
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"$float": str(number)}
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
