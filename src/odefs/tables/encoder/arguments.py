"""Arguments that name columns, or words that mean "missing": one, several or none."""

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from odefs.exceptions import TableError

COLUMNS = "the name of a column or a list of names"
WORDS = "a word or number that means missing, or a list of these"


def column_names(name: str, given: object) -> tuple[str, ...]:
    """The columns of an argument. Columns of pandas frames may be named by numbers."""
    return tuple(map(str, _several(name, given, COLUMNS)))


def missing_words(name: str, given: object) -> tuple[Any, ...]:
    """The words and numbers of an argument that mean "missing"."""
    return _several(name, given, WORDS)


def require_lists(arguments: Mapping[str, object]) -> None:
    """Raise for arguments of an encoder, by their names, that are not lists."""
    for name, given in arguments.items():
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            example = "[]" if given is None else f"[{given!r}]"
            raise TableError(f"{name}={given!r} must be a list, such as {name}={example}.")


def _several(name: str, given: object, allowed: str) -> tuple[object, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or (
        isinstance(given, numbers.Number) and not isinstance(given, bool)
    ):
        return (given,)
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise TableError(f"{name}={given!r} must be {allowed}.")
    return tuple(given)
