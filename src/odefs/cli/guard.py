"""What stands between the user and a traceback: errors become one sentence and an exit code.

0 done, 1 the data cannot be used, 2 wrong usage, 3 more rows flagged than allowed, 130 interrupted, 143 terminated.
"""

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

from odefs._extras import sentence as to_install
from odefs.cli.messages import fail, logs_json, write_error


class Terminated(KeyboardInterrupt):
    """SIGTERM, which service managers and batch systems send before they kill: it undoes what an interrupt undoes."""


@contextmanager
def guarded(debug: bool) -> Iterator[None]:
    """Turn errors into a sentence on standard error and an exit code."""
    _on_signal(signal.SIGINT, signal.default_int_handler)
    before = signal.getsignal(signal.SIGTERM)
    _on_signal(signal.SIGTERM, _terminate)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        # Here and not at the end of the program, where a closed pipe could not be answered any more.
        sys.stdout.flush()
    except (click.ClickException, SystemExit, click.exceptions.Exit):
        raise
    except KeyboardInterrupt as error:
        terminated = isinstance(error, Terminated)
        kind = "terminated" if terminated else "interrupted"
        fail(kind, f"{kind}; nothing half-written is left.", 143 if terminated else 130)
    except BrokenPipeError:
        leave_pipe()
    except Exception as error:
        if debug:
            _show_traceback(error)
        fail(_kind(error), _sentence(error), 1)
    except BaseException as error:
        # What is written in Rust panics where it cannot go on, in a way that is no Exception.
        if debug or type(error).__name__ != "PanicException":
            raise
        fail("data", f"the reader of the table gave up: {error} (--debug shows where)", 1)
    finally:
        # None: set by a program around this one, and not from Python.
        if before is not None:
            _on_signal(signal.SIGTERM, before)


def leave_at_once_when_interrupted() -> None:
    """Until the work begins nothing is half-written, so that there is nothing to undo."""
    _on_signal(signal.SIGINT, lambda number, frame: os._exit(130))


def _terminate(number: int, frame: FrameType | None) -> None:
    # Whoever asks again means it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _on_signal(number: signal.Signals, handler: Any) -> None:
    """Whoever started the program with a signal ignored (``nohup``, ``&`` in a script) keeps it so; only the main thread may ask."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, handler)


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


def _kind(error: Exception) -> str:
    """The kind of an error in JSON documents and log lines; ``schemas/output.json`` lists them."""
    from odefs.datasets.store import DatasetError
    from odefs.exceptions import ModelFileError

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
    """Python's own traceback, or where lines are JSON one line that holds it."""
    if logs_json():
        fail(_kind(error), _sentence(error), 1, traceback="".join(traceback.format_exception(error)))
    write_error(_sentence(error), _kind(error), 1)
    raise error
