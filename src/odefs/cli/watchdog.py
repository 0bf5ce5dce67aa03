"""Watchdog thread that ends the command if compiled code keeps the main thread from a signal.

Python runs signal handlers in the main thread, between two bytecode instructions. The C-level
handler writes the number of the signal to a socket at once, from which this thread reads it.
"""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

GRACE_SECONDS = 0.5
"""Time that the main thread has to handle the signal."""


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
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    ended = threading.Event()

    def watch() -> None:
        n_sent = 0
        with contextlib.suppress(OSError):
            while received := reader.recv(1):
                number = received[0]
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
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    _detach_children()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        writer.close()
        thread.join()
        reader.close()


@cache
def _detach_children() -> None:
    """Keep signals of forked children, which inherit the socket, from reaching the parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_detach)


def _detach() -> None:
    with contextlib.suppress(ValueError):  # not forked from the main thread
        signal.set_wakeup_fd(-1)
