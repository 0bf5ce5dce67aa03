"""Signal handling: an exception while a command works, an immediate exit at other times.

The exception unwinds the stack and undoes unfinished work. It cannot be used while modules are
imported, because extension modules swallow it or fail in other ways: the process then removes its
temporary files and exits at once. Windows has SIGINT (Ctrl-C) and SIGBREAK (Ctrl-Break, the
closest to SIGTERM that another process can send there).
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from odefs.cli.watchdog import watching

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None
"""What ``signal.signal`` takes and returns."""

WORDS = {
    130: "interrupted; nothing half-written is left.",
    143: "terminated; nothing half-written is left.",
}
"""Message of each exit code."""

KINDS = {130: "interrupted", 143: "terminated"}
"""Error kind of each exit code in JSON."""

IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")

_received: list[int] = []


class Terminated(KeyboardInterrupt):
    """SIGTERM, which service managers send before SIGKILL; handled like an interrupt."""


def leave_on_signals() -> None:
    """Exit at once on signals: outside of a command there is no work to undo."""
    for number in _numbers():
        _handle(number, _leave)


@contextmanager
def raising_on_signals() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` or ``Terminated`` on signals in the block; restore afterwards."""
    _received.clear()
    before = {number: signal.getsignal(number) for number in _numbers()}
    # None: the handler was not set from Python, so it could not be restored.
    handled = tuple(
        number
        for number, handler in before.items()
        if handler is not None and _handle(number, _raise)
    )
    try:
        with watching(lambda: len(_received), lambda number: _leave(number, None), handled):
            yield
    finally:
        for number in handled:
            _handle(number, before[number])


def received_code() -> int | None:
    """Exit code of the signal received in the last block, even if its exception was swallowed."""
    return _exit_code(_received[0]) if _received else None


def _numbers() -> tuple[int, ...]:
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    return tuple(int(getattr(signal, name)) for name in names if hasattr(signal, name))


def _exit_code(number: int) -> int:
    # SIGBREAK has a number of its own on Windows; it terminates.
    return 130 if number == signal.SIGINT else 143


def _raise(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    # A second signal does not wait for the stack to unwind.
    if len(_received) > 1 or _is_importing(frame):
        _leave(number, frame)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def _leave(number: int, frame: FrameType | None) -> None:
    code = _exit_code(number)
    try:
        for other in _numbers():
            _handle(other, signal.SIG_DFL)
        # A module that was not imported has made no files, and importing it now is not safe.
        unfinished = sys.modules.get("odefs.system.tempfile_owner")
        remove = getattr(unfinished, "remove_unfinished", None)
        if remove is not None:
            remove()
        _say(code)
    finally:
        os._exit(code)


def _say(code: int) -> None:
    output = {2: f"odefs: {WORDS[code]}\n".encode()}
    # As above: if it was not imported, no format has been chosen yet.
    parting_bytes = getattr(sys.modules.get("odefs.cli.messages"), "parting_bytes", None)
    if parting_bytes is not None:
        with suppress(Exception):
            output = parting_bytes(WORDS[code], KINDS[code], code)
    for descriptor, text in output.items():
        if text:
            os.write(descriptor, text)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in IMPORTING:
            return True
        frame = frame.f_back
    return False


def _handle(number: int, handler: Handler) -> bool:
    """Set a signal handler and return whether it was set.

    A signal that is ignored at the start (``nohup``, ``&`` in a script) stays ignored, and only
    the main thread can set handlers.
    """
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is not signal.SIG_IGN
    ):
        signal.signal(number, handler)
        return True
    return False
