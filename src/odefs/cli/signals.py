"""Signal handling: an exception while a command works, an immediate exit at other times.

The exception unwinds the stack and undoes unfinished work. It cannot be used while modules are
imported, because extension modules swallow it or fail in other ways: the process then removes its
temporary files and exits at once. Windows has SIGINT (Ctrl-C) and SIGBREAK (Ctrl-Break, the
closest to SIGTERM that another process can send there).

Python runs signal handlers in the main thread, between two bytecode instructions. The C-level
handler writes the number of the signal to a socket at once. A thread reads it there and ends the
command if compiled code keeps the main thread from the signal.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None
"""What ``signal.signal`` takes and returns."""

# Shells report 128 + number for a command that a signal ended: 2 is SIGINT, 15 SIGTERM.
KINDS = {130: "interrupted", 143: "terminated"}
"""Error kind of each exit code in JSON."""

WORDS = {code: f"{kind}; nothing half-written is left." for code, kind in KINDS.items()}
"""Message of each exit code."""

IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")

GRACE_SECONDS = 0.5
"""Time that the main thread has to handle the signal."""

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
        # From here on another signal ends the process at once, even if removing the files hangs.
        for other in _numbers():
            _handle(other, signal.SIG_DFL)
        # A module that was not imported has made no files, and importing it now is not safe.
        unfinished = sys.modules.get("odefs.system.tempfile_owner")
        remove = getattr(unfinished, "remove_unfinished", None)
        if remove is not None:
            remove()
        _say(code)
    finally:
        # Not sys.exit: code that is being imported may swallow SystemExit like any exception.
        os._exit(code)


def _say(code: int) -> None:
    output = {2: f"odefs: {WORDS[code]}\n".encode()}
    # As above: if it was not imported, no format has been chosen yet.
    parting_bytes = getattr(sys.modules.get("odefs.cli.terminal.messages"), "parting_bytes", None)
    if parting_bytes is not None:
        with suppress(Exception):
            output = parting_bytes(WORDS[code], KINDS[code], code)
    for descriptor, text in output.items():
        if text:
            # Not through a stream: the signal may have interrupted a write to it, and Python
            # refuses to enter a buffered stream twice.
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


@contextmanager
def watching(
    n_noticed: Callable[[], int], leave: Callable[[int], None], numbers: tuple[int, ...]
) -> Iterator[None]:
    """Within the block, call ``leave`` with the number of a signal the main thread did not handle.

    ``n_noticed`` returns the number of signals that it did handle.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # set_wakeup_fd requires a descriptor that does not block. Before Python 3.12 a pipe cannot be
    # made so on Windows, but a socket can.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    ended = threading.Event()

    def watch() -> None:
        n_sent = 0
        with suppress(OSError):
            while received := reader.recv(1):
                number = received[0]
                # Counted, because a second signal may be stuck in compiled code after the first
                # was handled.
                n_sent += number in numbers
                if number in numbers and not ended.wait(GRACE_SECONDS) and n_noticed() < n_sent:
                    leave(number)

    thread = threading.Thread(target=watch, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # Without the thread, signals wait until compiled code returns.
        reader.close()
        writer.close()
        yield
        return
    # If the buffer is full, the thread has enough to read; a warning would only add noise.
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    _detach_children()
    try:
        yield
    finally:
        # In this order: nothing writes to the socket once it is closed, a waiting thread is woken,
        # and closing the writer ends its recv().
        signal.set_wakeup_fd(before)
        ended.set()
        writer.close()
        thread.join()
        reader.close()


@cache
def _detach_children() -> None:
    """Keep signals of forked children, which inherit the socket, from reaching the parent."""
    # A registration cannot be undone, so it is made once, however many blocks there are.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_detach)


def _detach() -> None:
    with suppress(ValueError):  # not forked from the main thread
        signal.set_wakeup_fd(-1)
