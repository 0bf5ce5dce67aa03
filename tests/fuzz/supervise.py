"""Supervisor of a long-lived child process that opens files.

The child is killed if a file takes too long, and restarted if it has died.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .targets import ENDINGS

MEMORY = 10**9
SECONDS = 5.0
"""Processor seconds for one file; waiting on a busy machine is not a finding."""
PATIENCE = 60.0
"""By the clock, for those that wait and do not work."""
STARTUP = 120.0
ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Outcome:
    """Outcome of one file: ``accepted``, ``refused``, or a finding.

    Findings are ``error``, ``crash``, ``hang`` and ``memory``.
    """

    verdict: str
    said: str
    seconds: float
    peak: int

    @property
    def is_finding(self) -> bool:
        return self.verdict not in ("accepted", "refused")


def seconds_worked(pid: int) -> float:
    """Processor time of a process with its threads; wall-clock time if that is not available."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Supervisor:
    """One child at a time for files of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._folder = tempfile.TemporaryDirectory(prefix="odefs-fuzz-")
        self._path = Path(self._folder.name) / f"file{ENDINGS[kind]}"
        self._errors = open(Path(self._folder.name) / "stderr", "w+b")  # noqa: SIM115
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()
        self._errors.close()
        self._folder.cleanup()

    def outcome(self, content: bytes) -> Outcome:
        """Outcome of a file. Too much memory counts only if a fresh process confirms it."""
        found = self._try(content)
        if found.verdict == "memory":
            self._stop()
            found = self._try(content)
            self._stop()
        return found

    def _try(self, content: bytes) -> Outcome:
        self._path.write_bytes(content)
        child = self._child or self._start()
        self._say(child, str(self._path))
        answer = self._answer(child, SECONDS, PATIENCE)
        if answer is None:
            died = child.poll() is not None
            self._stop()
            said = (
                f"exit code {child.returncode}\n{self._last_words()}"
                if died
                else f"no answer within {SECONDS:g} s"
            )
            return Outcome("crash" if died else "hang", said, SECONDS, 0)
        verdict = "error" if answer["finding"] else "refused" if answer["refused"] else "accepted"
        if answer["seconds"] > SECONDS:
            verdict = "hang"
        elif answer["peak"] > MEMORY or "MemoryError" in answer["finding"]:
            verdict = "memory"
        return Outcome(
            verdict, answer["finding"] or answer["refused"], answer["seconds"], answer["peak"]
        )

    def _start(self) -> subprocess.Popen[bytes]:
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        module = f"{__package__}.child"
        top = ROOT if module.startswith("tests.") else ROOT / "tests"
        paths = [str(top), *sys.path]
        self._errors.seek(0)
        self._errors.truncate()
        self._child = subprocess.Popen(
            [sys.executable, "-m", module, self.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder.name,
            env={
                **os.environ,
                **one,
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            },
        )
        if self._answer(self._child, STARTUP, STARTUP) is None:
            raise RuntimeError(
                f"the process that opens the files does not start: {self._last_words()}"
            )
        return self._child

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    @staticmethod
    def _say(child: subprocess.Popen[bytes], path: str) -> None:
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps(path).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            child.wait()

    @staticmethod
    def _answer(
        child: subprocess.Popen[bytes], limit: float, patience: float
    ) -> dict[str, Any] | None:
        """One line from the child; ``None`` if it died or exceeded ``limit`` or ``patience``."""
        assert child.stdout is not None
        began, worked = time.monotonic(), seconds_worked(child.pid)
        while not select.select([child.stdout], [], [], 0.2)[0]:
            if time.monotonic() - began > patience or seconds_worked(child.pid) - worked > limit:
                return None
        line = child.stdout.readline()
        if not line.endswith(b"\n"):
            child.wait()
            return None
        return dict(json.loads(line))

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-4000:]
