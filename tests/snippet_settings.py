"""What surrounds the snippets of a rule while they run: variables, folders and replaced names."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from snippets import Snippet

SECONDS = 600
"""Time for one snippet or the start of a server, on a busy machine."""


@dataclass(frozen=True)
class Setting:
    """What an arrangement gives to the snippets of its rule."""

    environment: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    """New texts by the parts of the snippets that the rule names."""
    folder: Path | None = None
    """Working directory, if it is not the folder of the page."""
    first: str = ""
    """Code that runs before a Python block, in the same process."""
    before: Callable[[Snippet], None] = lambda snippet: None
    after: Callable[[Snippet, subprocess.CompletedProcess], None] = lambda snippet, done: None
    """Checks what a snippet has done, if its exit code does not tell."""
    port: int = 0
    """Port of the server that a command starts."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def background(line, folder, environment, is_ready):
    """Run a command until the end of the ``with`` block, which starts when ``is_ready()``."""
    log = folder / f"{Path(line[0]).name}-{time.monotonic_ns()}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            line, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        deadline = time.monotonic() + SECONDS
        while not is_ready():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield process
    finally:
        # The session is the command's own: its workers are in it, and nothing else.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(SECONDS / 10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(SECONDS)


def answers(port):
    """Whether a server answers on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def program(name):
    found = shutil.which(name)
    assert found, f"{name} is missing: install it to run the snippets that need it"
    return found
