"""Error handling of the command line: exceptions become one sentence and an exit code.

Exit codes: 0 success, 1 the data cannot be used, 2 wrong usage, 3 more rows flagged than allowed,
130 interrupted, 143 terminated.
"""

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from odefs._extras import sentence as to_install
from odefs.cli.option_records import Command
from odefs.cli.signals import KINDS, WORDS, raising_on_signals, received_code
from odefs.cli.terminal.messages import fail, logs_json, write_error


@contextmanager
def guarded(debug: bool) -> Iterator[None]:
    """Turn errors and signals into a sentence on standard error and an exit code."""
    try:
        with raising_on_signals(), _guarded_errors(debug):
            yield
        code = received_code()
    except BaseException as error:
        # Libraries may convert or swallow the exception that a signal raised.
        code = received_code() or (130 if isinstance(error, KeyboardInterrupt) else None)
        if code is None:
            raise
    if code is not None:
        fail(KINDS[code], WORDS[code], code)


@contextmanager
def _guarded_errors(debug: bool) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_kernel_request()
            yield
        # Not left to the interpreter's exit, where a closed pipe could no longer be handled.
        sys.stdout.flush()
    # click's Exit is a RuntimeError: the clause for Exception below would report it as an internal
    # error.
    except (click.ClickException, SystemExit, click.exceptions.Exit):
        raise
    # Before Exception, because it is an OSError: 'odefs ... | head' is not an error.
    except BrokenPipeError:
        leave_pipe()
    except Exception as error:
        if received_code() is not None:
            raise
        if debug:
            _show_traceback(error)
        fail(_kind(error), _sentence(error), 1)
    except BaseException as error:
        # A panic of a Rust library (polars, fastexcel) is not a subclass of Exception, and each
        # library has a class of its own: only the name is common.
        if debug or received_code() is not None or type(error).__name__ != "PanicException":
            raise
        fail("data", f"the table reader failed: {error} (--debug shows the traceback)", 1)


def _check_kernel_request() -> None:
    # Without a request there is nothing to check, and commands without arithmetic need not load
    # the kernel.
    if "ODEFS_KERNEL" not in os.environ:
        return
    from odefs.kernels.shared_library import check_kernel_request

    try:
        check_kernel_request()
    except ValueError as error:
        fail("usage", str(error), 2)


def leave_pipe() -> None:
    """Exit silently once the reader of the output has closed the pipe."""
    # The interpreter flushes standard output again when it exits. On the closed pipe this would
    # fail with a message and exit code 120.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0) from None


def _sentence(error: Exception) -> str:
    # odefs.datasets.store imports NumPy, so it is loaded only if there is an error.
    from odefs.datasets.store import DatasetError

    if isinstance(error, ValueError | DatasetError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this table."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, ModuleNotFoundError) and (advice := to_install(error)):
        return advice
    return f"{type(error).__name__}: {error} (--debug shows the traceback)"


def _kind(error: Exception) -> str:
    """Kind of an error in JSON documents and log lines, as listed in ``schemas/output.json``."""
    from odefs.datasets.store import DatasetError
    from odefs.exceptions import ModelFileError

    # ModelFileError comes first because it is a ValueError too.
    for kind, classes in {
        "model": (ModelFileError,),
        "data": (ValueError, DatasetError),
        "memory": (MemoryError,),
        "file": (OSError,),
        "dependency": (ModuleNotFoundError,),
    }.items():
        if isinstance(error, classes):
            return kind
    return "internal"


def _show_traceback(error: Exception) -> NoReturn:
    """Show Python's traceback, as a field of one line with ``--log-format json``."""
    if logs_json():
        fail(
            _kind(error), _sentence(error), 1, traceback="".join(traceback.format_exception(error))
        )
    # With --json, standard output has the error document in addition to the traceback. Python
    # exits with code 1 after it, the code of other errors.
    write_error(_sentence(error), _kind(error), 1)
    raise error


def reports_errors(command: Command) -> Command:
    """Turn errors of the command into sentences and exit codes; add options on their form."""

    @functools.wraps(command)
    def reporting(debug: bool, **chosen: object) -> object:
        with guarded(debug):
            return command(**chosen)

    log_format = click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        expose_value=False,  # read by odefs.cli.terminal.messages before parsing
        help="Format of messages and progress on standard error; json: one object per line.",
    )
    debug = click.option("--debug", is_flag=True, help="Show the traceback of errors.")
    return log_format(debug(reporting))
