"""A command in a child process with a limited address space, and its peak memory.

A fault cannot take the machine down.
"""

import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from command import ODEFS

SAFE_BYTES = 8 * 10**9

CHILD = """
import json, resource, subprocess, sys
done = subprocess.run(
    sys.argv[1:], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(json.dumps([done.returncode, done.stdout, done.stderr, peak]))
"""


class Measured(NamedTuple):
    returncode: int
    stdout: str
    stderr: str
    peak: int
    """Bytes that were resident at most."""


def measured(*arguments, cwd, group=None, **environment):
    """Run ``odefs``, in a control group if one is given."""
    import json

    settings = {
        **os.environ,
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "RUST_BACKTRACE": "0",
        **environment,
    }

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (SAFE_BYTES, SAFE_BYTES))
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    line = [sys.executable, "-c", CHILD, str(ODEFS), *map(str, arguments)]
    done = subprocess.run(
        line, capture_output=True, check=True, cwd=cwd, env=settings, text=True, preexec_fn=limit
    )
    return Measured(*json.loads(done.stdout))


@contextmanager
def control_group(n_bytes):
    """A control group below this process's, with a memory limit; ``OSError`` if not possible."""
    base = Path("/sys/fs/cgroup")
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    first = next((path for _, names, path in lines if "memory" in names.split(",")), None)
    unified = next((path for number, _, path in lines if number == "0"), "/")
    parent = base / unified.lstrip("/") if first is None else base / "memory" / first.lstrip("/")
    group = parent / f"odefs-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / ("memory.max" if first is None else "memory.limit_in_bytes")).write_text(
            str(n_bytes)
        )
        yield group
    finally:
        group.rmdir()
