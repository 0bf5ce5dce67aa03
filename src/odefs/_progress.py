"""Progress of long computations, reported to a listener if one is set, and the logger ``odefs``."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from odefs._notebook_bar import NotebookBar, in_notebook

Listener = Callable[[str, int, int], None]

# Context variables, so that fits in other threads have listeners of their own.
_listener: ContextVar[Listener | None] = ContextVar("odefs_progress", default=None)
_stage: ContextVar[str] = ContextVar("odefs_stage", default="working")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call ``listener(stage, done, total)`` during the block, after any outer listener."""
    outer = _listener.get()

    def both(stage: str, done: int, total: int) -> None:
        if outer is not None:
            outer(stage, done, total)
        listener(stage, done, total)

    token = _listener.set(both)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the work inside the block."""
    token = _stage.set(name)
    try:
        yield
    finally:
        _stage.reset(token)


def report_progress(done: int, total: int) -> None:
    """Report that ``done`` of ``total`` parts of the current stage are finished.

    ``report_progress(0, 0)`` marks the start of a stage whose parts are not counted.
    """
    listener = _listener.get()
    if listener is not None:
        listener(_stage.get(), done, total)


logger = logging.getLogger("odefs")
# Otherwise Python prints warnings of the library if the user has not configured logging.
logger.addHandler(logging.NullHandler())


@contextmanager
def verbose_logging(verbose: int) -> Iterator[None]:
    """Show the logger's messages on standard error during the block if ``verbose`` is positive.

    If a handler is already configured, messages go only there. In a notebook, 1 shows a progress
    bar in place of the messages and 2 shows both.
    """
    if verbose <= 0:
        yield
        return
    as_bar = in_notebook()
    has_handler = any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[odefs] %(message)s"))
    level = logger.level
    if not has_handler and not (as_bar and verbose == 1):
        logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with _notebook_bar() if as_bar else nullcontext():
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _notebook_bar() -> Iterator[None]:
    shown = NotebookBar()
    try:
        with listening(shown):
            yield
    finally:
        shown.end()
