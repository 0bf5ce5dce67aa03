"""How messages name the options on a source: ``--table`` on the command line, ``table=`` in Python.

Errors are raised far below the function that knows who asks, so that it says so for a block of
code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_python: ContextVar[bool] = ContextVar("is_python", default=False)


@contextmanager
def named_as_arguments() -> Iterator[None]:
    """Name options as arguments of Python functions within the ``with`` block."""
    token = _is_python.set(True)
    try:
        yield
    finally:
        _is_python.reset(token)


def option(name: str, value: str = "") -> str:
    """Return an option, with a value if one is given, as the user writes it."""
    return f"{name}={value}" if _is_python.get() else f"--{name} {value}".rstrip()


def has_option(name: str) -> bool:
    """Whether the user has this option: functions of Python have fewer than the command line."""
    return not _is_python.get() or name in ("table", "query")
