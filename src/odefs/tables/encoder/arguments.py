"""Arguments that name columns, or words that mean "missing": one, several or none."""

import math
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


def require_words(name: str, given: Iterable[object]) -> None:
    """Raise for members that are neither words nor numbers, which model files cannot hold."""
    for word in given:
        if not isinstance(word, str) and not _is_finite(word):
            raise TableError(
                f"{name} holds {word!r}, which is neither a word nor a finite number. Empty cells, "
                "None and NaN are missing in any case."
            )


def _is_finite(word: object) -> bool:
    if isinstance(word, bool) or not isinstance(word, numbers.Real):
        return False
    return isinstance(word, numbers.Integral) or math.isfinite(word)


def as_texts(words: Iterable[str | float]) -> frozenset[str]:
    """Words, and numbers as cells of text have them: 999 and 999.0 for both."""
    return frozenset(text for word in words for text in _texts(word))


def _texts(word: str | float) -> tuple[str, ...]:
    if isinstance(word, str):
        return (word,)
    if word == int(word):
        return f"{int(word)}", f"{int(word)}.0"
    return (str(float(word)),)


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
