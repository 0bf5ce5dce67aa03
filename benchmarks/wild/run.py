"""Runs ``odefs detect`` on a file: once with ``--json`` and once for the screen.

Each run is a process of its own with a limit of time and of memory, in an empty folder that
receives the report.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TIME_LIMIT = 60.0
MEMORY_LIMIT = 4 << 30
"""Bytes that a process may allocate."""
COMMAND = (sys.executable, "-m", "odefs", "detect")


@dataclass(frozen=True)
class Run:
    """A finished process."""

    exit_code: int
    """Negative for a signal, as in ``subprocess``."""
    output: str
    errors: str
    seconds: float
    megabytes: int
    has_timed_out: bool = False


@dataclass(frozen=True)
class FileRuns:
    """Both runs on a file."""

    document: Run
    screen: Run
    report: str | None
    """The page that the second run wrote."""


def run_file(
    path: Path, command: Sequence[str] = COMMAND, time_limit: float = TIME_LIMIT
) -> FileRuns:
    """Run the command on a file as a script would and as a person would."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Messages then name the file as it would be named in its own folder.
        (folder / path.name).symlink_to(path.resolve())
        document = run_process([*command, path.name, "--json"], folder, time_limit)
        screen = run_process([*command, path.name], folder, time_limit)
        pages = sorted(folder.glob("*.outliers.html"))
        report = pages[0].read_text("utf-8", "replace") if pages else None
    return FileRuns(document, screen, report)


def run_process(command: Sequence[str], folder: Path, time_limit: float) -> Run:
    """Run a command in a folder; at the limit of time it is killed with its children."""
    settings = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        if hasattr(resource, "prlimit"):  # Linux
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
        status, usage, has_timed_out = _wait(process, start + time_limit)
        seconds = time.monotonic() - start
        texts = [_text(stream) for stream in (output, errors)]
    megabytes = usage.ru_maxrss // (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return Run(os.waitstatus_to_exitcode(status), *texts, seconds, megabytes, has_timed_out)


def _wait(
    process: subprocess.Popen[bytes], deadline: float
) -> tuple[int, resource.struct_rusage, bool]:
    """Wait with ``wait4``, the only call that reports the memory of one process."""
    has_timed_out = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return status, usage, has_timed_out
        if not has_timed_out and time.monotonic() > deadline:
            has_timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.01)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")
