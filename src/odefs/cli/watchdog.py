"""A thread that ends the command where a signal came and the main thread is inside compiled code, which may not return for long.

Python runs signal handlers in the main thread, between two of its own instructions. The system's part of the handler writes the signal's
number into a socket at once, and this thread reads it there.
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
"""How long the main thread has to take notice."""


@contextmanager
def watching(
    n_noticed: Callable[[], int], leave: Callable[[int], None], numbers: tuple[int, ...]
) -> Iterator[None]:
    """Within the block, ``leave`` is called with the number of a signal that the main thread takes no notice of.

    ``n_noticed`` counts those that it did take notice of.
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
            while told := reader.recv(1):
                n_sent += told[0] in numbers
                if told[0] in numbers and not ended.wait(GRACE_SECONDS) and n_noticed() < n_sent:
                    leave(told[0])

    thread = threading.Thread(target=watch, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # No thread is to be had: signals wait for compiled code to return, and the work goes on.
        reader.close()
        writer.close()
        yield
        return
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    _children_let_go()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        writer.close()
        thread.join()
        reader.close()


@cache
def _children_let_go() -> None:
    """A forked child has the same socket, and what it is sent is not meant for its parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_let_go)


def _let_go() -> None:
    with contextlib.suppress(ValueError):  # not forked from the main thread
        signal.set_wakeup_fd(-1)
