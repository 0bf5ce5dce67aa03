"""Parts of error messages: options, lists of tables, and messages of libraries.

Options are named as the user writes them: ``--table`` on the command line, ``table=`` in Python.
Errors are raised far below the function that knows which of them applies; it sets that for a block
of code.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from odefs.exceptions import TableError

P = ParamSpec("P")
R = TypeVar("R")

SHOWN = 10
"""Names of tables in a list; the others are counted."""
LONGEST_QUOTE = 400
"""Characters of a library's message."""
_is_python: ContextVar[bool] = ContextVar("is_python", default=False)


_absent: ContextVar[frozenset[str]] = ContextVar("absent", default=frozenset())
"""Options that the command at hand does not have."""


@contextmanager
def without_options(*names: str) -> Iterator[None]:
    """Advise none of some options of the command line within the ``with`` block."""
    token = _absent.set(frozenset(names))
    try:
        yield
    finally:
        _absent.reset(token)


@contextmanager
def named_as_arguments() -> Iterator[None]:
    """Name options as arguments of Python functions within the ``with`` block."""
    token = _is_python.set(True)
    try:
        yield
    finally:
        _is_python.reset(token)


def names_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of Python's interface so that its messages name arguments."""

    # Not with contextlib, whose frame a warning would name as that of the caller.
    @functools.wraps(function)
    def named(*arguments: P.args, **options: P.kwargs) -> R:
        with named_as_arguments():
            return function(*arguments, **options)

    return named


def option(name: str, value: str = "") -> str:
    """Return an option, with a value if one is given, as the user writes it."""
    return f"{name}={value}" if _is_python.get() else f"--{name} {value}".rstrip()


def list_option(name: str, value: str, typed: str | None = None) -> str:
    """Return an option that takes several values, with one; ``typed`` is it on the command line."""
    if _is_python.get():
        return f"{name}=[{value!r}]"
    return f"--{name} {value if typed is None else typed}"


def missing_option(code: str) -> str:
    """Return the option that treats a code as missing; a code may start with a minus sign."""
    return list_option("na", code) if _is_python.get() else f"--na={code}"


def has_option(name: str) -> bool:
    """Whether the user has this option: functions of Python have fewer than the command line."""
    if _is_python.get():
        return name in ("table", "query", "na")
    return name not in _absent.get()


def reading_advice(typed: str, purpose: str = "") -> str:
    """Return how to read a file otherwise: with an option (``typed``), or in Python as a frame.

    ``purpose`` begins the advice for Python, such as "to read it as a row".
    """
    if not _is_python.get():
        return typed
    start = f"{purpose}, " if purpose else ""
    return f"{start}read the file with pandas or polars and pass the frame"


def chosen_name(names: Sequence[str], wanted: str | None, source: str, where: str) -> str:
    """Return the wanted table, or the only one; raise with a list of the names otherwise.

    ``where`` is the kind of ``source``, such as "the database".
    """
    if not names:
        raise TableError(f"{source}: {where} has no tables.")
    if wanted is not None and wanted in names:
        return wanted
    if wanted is not None:
        raise TableError(f"{source}: {where} has no table {wanted!r}, only {listed(names)}.")
    if len(names) == 1:
        return names[0]
    raise TableError(
        f"{source}: {where} has {len(names):,} tables ({listed(names)}): "
        f"choose one with {option('table', 'NAME')}."
    )


def listed(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    rest = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def first_line(error: Exception) -> str:
    """Return the first line of a message, which leaves out advice on the library's parameters."""
    message = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
    return message if len(message) <= LONGEST_QUOTE else f"{message[:LONGEST_QUOTE]} ..."


def damaged(error: Exception) -> str:
    """Return that a workbook cannot be read, and what helps."""
    return (
        f"this cannot be read as a workbook ({first_line(error)}): save it again in a spreadsheet "
        "program, or rename it if its suffix does not fit its content."
    )


def unreadable(name: object, error: Exception) -> str:
    """Return that a library cannot read a file, in one sentence, and what helps."""
    # Libraries report in several sentences.
    reason = first_line(error).replace(". ", "; ")
    return (
        f"{name}: cannot be read ({reason}): save or download it again, or rename it if its "
        "suffix does not fit its content."
    )
