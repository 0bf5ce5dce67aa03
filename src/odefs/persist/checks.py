"""Typed access to what a file says: each function returns a value that has been checked, or refuses
the file in one sentence.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from odefs.exceptions import ModelFileError

Kind = TypeVar("Kind")


def need(header: Mapping[str, Any], key: str, kind: type[Kind]) -> Kind:
    """The value under ``key``, of exactly the given type."""
    value = header.get(key)
    if type(value) is not kind:
        raise ModelFileError(f"its header lacks a valid {key!r}.")
    return value


def need_number(header: Mapping[str, Any], key: str) -> float:
    """A finite number."""
    value: Any = header.get(key)
    if type(value) not in (int, float) or not _finite(value):
        raise ModelFileError(f"its header lacks a valid {key!r}.")
    return float(value)


def need_count(header: Mapping[str, Any], key: str, least: int, most: int) -> int:
    """A whole number within bounds."""
    value = need(header, key, int)
    if not least <= value <= most:
        raise ModelFileError(
            f"its header says {key} = {value!r}, not a number between {least} and {most}."
        )
    return value


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


class Arrays:
    """The arrays of a file, each handed out once: no two parts of a model share one, so a small
    file cannot grow large in memory.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._left = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self, name: str, kinds: str | None = None, shape: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """An array of one of the given kinds (as in ``dtype.kind``) and of the given shape, where
        these matter.
        """
        array = self._left.pop(name, None)
        if array is None:
            raise ModelFileError(f"it lacks the array {name!r}.")
        if kinds is not None and array.dtype.kind not in kinds:
            raise ModelFileError(
                f"its array {name!r} is of type {array.dtype.name}, which does not fit."
            )
        if shape is not None and array.shape != shape:
            raise ModelFileError(f"its array {name!r} has shape {array.shape} instead of {shape}.")
        return array

    def take_all(self, prefix: str) -> dict[str, np.ndarray]:
        """All arrays whose name begins so, under the rest of their name."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name[len(prefix) :]: self._left.pop(name) for name in names}

    def require_empty(self) -> None:
        if self._left:
            raise ModelFileError(f"it holds an array {min(self._left)!r} that nothing asks for.")


def require(holds: Any, what: str) -> None:
    """Refuse the file unless ``holds``."""
    if not bool(holds):
        raise ModelFileError(f"it is not a valid model: {what}.")
