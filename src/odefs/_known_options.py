"""Errors that name the options of a function where Python's own name only the wrong one."""

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def names_its_options(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that an unknown keyword raises an error with the known ones."""
    parameters = inspect.signature(function).parameters
    options = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]

    @functools.wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in parameters:
                close = difflib.get_close_matches(name, options, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise TypeError(
                    f"{function.__name__}() has no option {name!r}.{hint} "
                    f"Its options are {', '.join(options)}."
                )
        return function(*arguments, **named)

    return checked
