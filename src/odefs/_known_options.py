"""Errors that name the options of a function where Python's own name only the wrong one."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast

MOST_NAMES = 10
"""Most columns that an error names; the others are counted."""
P = ParamSpec("P")
R = TypeVar("R")
Init = TypeVar("Init", bound=Callable[..., None])


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a question that names the known option which was probably meant; or nothing.

    That of a part, such as ``selection__l1``, may be given without its prefix.
    """
    meant = _meant(name, known)
    return "" if meant is None else f" Did you mean {meant!r}?"


def no_column(name: object, names: Iterable[object], use: str = "") -> str:
    """Return that a table has no such column, and which ones it has."""
    # Columns of data frames may be named by numbers.
    texts = [str(one) for one in names]
    meant = _meant(name, texts)
    question = "" if meant is None else f" (did you mean {meant!r}?)"
    return f"there is no column {name!r}{use}{question}; the columns are {first_names(texts)}."


def lacks_columns(absent: Sequence[str], names: Iterable[object]) -> str:
    """Return that a table lacks columns of the training table, and which may be meant by others."""
    texts = [str(one) for one in names]
    meant = list(dict.fromkeys(filter(None, (_meant(name, texts) for name in absent[:MOST_NAMES]))))
    which = f"{'columns' if len(absent) > 1 else 'column'} {first_names(list(map(repr, absent)))}"
    question = f" Did you mean {first_names(list(map(repr, meant)))}?" if meant else ""
    return f"the table lacks {which}, which the model was trained on.{question}"


def first_names(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _meant(name: object, known: Sequence[str]) -> str | None:
    import difflib

    name = str(name)

    same = [option for option in known if option.casefold() == name.casefold()]
    nested = [option for option in known if option.endswith(f"__{name}")]
    close = same or nested or difflib.get_close_matches(name, known, n=1)
    return close[0] if close else None


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
    n_unnamed = len(parameters)

    # scikit-learn reads the parameters from the signature, which wraps() passes on.
    @functools.wraps(init)
    def checked(self: object, *arguments: Any, **named: Any) -> None:
        require_parameters(type(self).__name__, arguments, named, known, n_unnamed)
        init(self, *arguments, **named)

    return cast(Init, checked)


def require_parameters(
    owner: str,
    arguments: Sequence[object],
    named: Mapping[str, object],
    known: Sequence[str],
    n_unnamed: int,
) -> None:
    """Raise for unknown parameters of ``owner``, or more than ``n_unnamed`` without a name."""
    unknown = named.keys() - set(known)
    if unknown:
        name = min(unknown)
        raise TypeError(
            f"{owner}() got an unexpected keyword argument {name!r}."
            f"{suggestion(name, known)} The parameters are {', '.join(known)}."
        )
    if len(arguments) > n_unnamed:
        raise TypeError(
            f"{owner}() got the positional argument {arguments[n_unnamed]!r}: give parameters by "
            f"name. They are {', '.join(known)}."
        )
