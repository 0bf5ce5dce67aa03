"""Checked access to the contents of a model file.

Each function returns a value that was checked, or rejects the file with one sentence.
"""

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from odefs.exceptions import ModelFileError

Kind = TypeVar("Kind")


def need(header: Mapping[str, object], key: str, kind: type[Kind]) -> Kind:
    """Return the value under ``key``, which must have exactly the given type."""
    value = header.get(key)
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


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
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
