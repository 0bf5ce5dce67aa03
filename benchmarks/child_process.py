"""Processor time, wall time and peak memory of a command in a separate process."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SCRIPT = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024]))
"""
"""Starts a command from a small process: the peak of a child begins at what its parent has."""


class Usage(NamedTuple):
    """What a command has used; the processor time is that of all its threads."""

    cpu_seconds: float
    wall_seconds: float
    peak_megabytes: float


def measure(*command: str | Path, cwd: str | Path | None = None) -> Usage:
    """Run a command, whose output is discarded."""
    line = [sys.executable, "-c", SCRIPT, *map(str, command)]
    done = subprocess.run(
        line, check=True, cwd=cwd, env=as_installed(), stdout=subprocess.PIPE, text=True
    )
    return Usage(*json.loads(done.stdout))


def as_installed() -> dict[str, str]:
    """The environment, in which modules are compiled once, as those of installed packages are.

    Otherwise every start of a checkout would compile all of its modules.
    """
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure_odefs(*arguments: str | Path, cwd: str | Path | None = None) -> Usage:
    """Run the command line of the package that this process imports."""
    return measure(sys.executable, "-m", "odefs", *arguments, cwd=cwd)


def least(usages: Sequence[Usage]) -> Usage:
    """The least of several runs: the machine may be shared."""
    return Usage(*map(min, zip(*usages, strict=True)))
