"""What stands between the user and a traceback: errors become one sentence and an exit code.

0 done, 1 the data cannot be used, 2 wrong usage, 3 more rows flagged than allowed, 130 interrupted, 143 terminated.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from odefs._extras import sentence as to_install
from odefs.cli.signals import WORDS, raising_on_signals, received_code


@contextmanager
def guarded(debug: bool) -> Iterator[None]:
    """Turn errors and signals into a sentence on standard error and an exit code."""
    try:
        with raising_on_signals(), _guarded_errors(debug):
            yield
        code = received_code()
    except BaseException as error:
        # Libraries turn the exception of a signal into others, or lose it on the way.
        code = received_code() or (130 if isinstance(error, KeyboardInterrupt) else None)
        if code is None:
            raise
    if code is not None:
        say_error(WORDS[code])
        raise SystemExit(code) from None


@contextmanager
def _guarded_errors(debug: bool) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "ODEFS_KERNEL" in os.environ:
                _check_kernel_request()
            yield
        # Here and not at the end of the program, where a closed pipe could not be answered any more.
        sys.stdout.flush()
    except (click.ClickException, SystemExit, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        leave_pipe()
    except Exception as error:
        if debug or received_code() is not None:
            raise
        say_error(_sentence(error))
        raise SystemExit(1) from None
    except BaseException as error:
        # What is written in Rust panics where it cannot go on, in a way that is no Exception.
        if debug or received_code() is not None or type(error).__name__ != "PanicException":
            raise
        say_error(f"the reader of the table gave up: {error} (--debug shows where)")
        raise SystemExit(1) from None


def _check_kernel_request() -> None:
    from odefs._ops.kernel import check_kernel_request

    check_kernel_request()


def leave_pipe() -> None:
    """Whoever read the output has seen enough: end quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0) from None


def _sentence(error: Exception) -> str:
    from odefs.datasets.store import DatasetError

    if isinstance(error, ValueError | DatasetError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, ModuleNotFoundError) and (said := to_install(error)):
        return said
    return f"{type(error).__name__}: {error} (--debug shows where)"


def say_error(sentence: str) -> None:
    """One line on standard error; names from the data cannot act on the terminal."""
    line = " ".join(sentence.split())
    if not line.isprintable():
        # Imported where it is needed: it brings others along, which takes seconds on a busy machine.
        from odefs.tables.wording import without_controls

        line = without_controls(line)
    click.echo(f"odefs: {line}", err=True)
