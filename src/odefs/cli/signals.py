"""Interrupts and SIGTERM: an exception while a command works, so that everything is undone, and an immediate exit around it.

While modules are imported an exception is no way out: extension modules swallow it, or fail in ways of their own. The
process then removes its temporary files and ends at once. Windows knows SIGINT (Ctrl-C) and SIGBREAK (Ctrl-Break, the nearest
to SIGTERM that another process can send there).
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from odefs.cli.watchdog import watching

WORDS = {
    130: "interrupted; nothing half-written is left.",
    143: "terminated; nothing half-written is left.",
}
"""What is said of each exit code."""

KINDS = {130: "interrupted", 143: "terminated"}
"""The kind of error that each exit code is in JSON."""

IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")

_received: list[int] = []


class Terminated(KeyboardInterrupt):
    """SIGTERM, which service managers and batch systems send before they kill: it undoes what an interrupt undoes."""


def leave_on_signals() -> None:
    """Outside of the work nothing has to be undone by unwinding the stack."""
    for number in _numbers():
        _handle(number, _leave)


@contextmanager
def raising_on_signals() -> Iterator[None]:
    """Within the block, signals raise ``KeyboardInterrupt`` or ``Terminated``; afterwards they do what they did before."""
    _received.clear()
    before = {number: signal.getsignal(number) for number in _numbers()}
    # None: set by a program around this one, and not from Python. It could not be put back.
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
    """The exit code of the signal that came while the last block ran, whatever became of its exception; ``None`` without one."""
    return _exit_code(_received[0]) if _received else None


def _numbers() -> tuple[int, ...]:
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    return tuple(int(getattr(signal, name)) for name in names if hasattr(signal, name))


def _exit_code(number: int) -> int:
    # SIGBREAK has a number of its own on Windows; it terminates.
    return 130 if number == signal.SIGINT else 143


def _raise(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    # Whoever asks again means it.
    if len(_received) > 1 or _is_importing(frame):
        _leave(number, frame)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def _leave(number: int, frame: FrameType | None) -> None:
    code = _exit_code(number)
    try:
        for other in _numbers():
            _handle(other, signal.SIG_DFL)
        # Whatever was not imported made no files; importing it here could end anywhere.
        unfinished = sys.modules.get("odefs.system.unfinished_files")
        remove = getattr(unfinished, "remove_unfinished", None)
        if remove is not None:
            remove()
        _say(code)
    finally:
        os._exit(code)


def _say(code: int) -> None:
    said = {2: f"odefs: {WORDS[code]}\n".encode()}
    # As above: where it was not imported, no format has been chosen yet.
    parting_bytes = getattr(sys.modules.get("odefs.cli.messages"), "parting_bytes", None)
    if parting_bytes is not None:
        with suppress(Exception):
            said = parting_bytes(WORDS[code], KINDS[code], code)
    for descriptor, text in said.items():
        if text:
            os.write(descriptor, text)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in IMPORTING:
            return True
        frame = frame.f_back
    return False


def _handle(number: int, handler: Any) -> bool:
    """Whoever started the program with a signal ignored (``nohup``, ``&`` in a script) keeps it so; only the main thread may ask. Whether it was set."""
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is not signal.SIG_IGN
    ):
        signal.signal(number, handler)
        return True
    return False
