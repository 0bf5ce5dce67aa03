"""Errors that name the options of a function where Python's own name only the wrong one."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
Init = TypeVar("Init", bound=Callable[..., None])


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a question that names the known option which was probably meant; or nothing.

    That of a part, such as ``selection__l1``, may be given without its prefix.
    """
    import difflib

    nested = [option for option in known if option.endswith(f"__{name}")]
    close = nested or difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def names_its_options(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that an unknown keyword raises an error with the known ones."""
    parameters = inspect.signature(function).parameters
    options = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]

    @functools.wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in parameters:
                raise TypeError(
                    f"{function.__name__}() has no option {name!r}.{suggestion(name, options)} "
                    f"Its options are {', '.join(options)}."
                )
        return function(*arguments, **named)

    return checked


def names_its_parameters(init: Init) -> Init:
    """Decorate ``__init__`` in the same way; the error names the class of the object."""
    parameters = init.__code__.co_varnames[1 : init.__code__.co_argcount]
    known = (*parameters, *(init.__kwdefaults__ or ()))

    @functools.wraps(init)
    def checked(self: object, *arguments: Any, **named: Any) -> None:
        unknown = named.keys() - set(known)
        if unknown:
            name = min(unknown)
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument {name!r}."
                f"{suggestion(name, known)} The parameters are {', '.join(known)}."
            )
        init(self, *arguments, **named)

    return cast(Init, checked)
