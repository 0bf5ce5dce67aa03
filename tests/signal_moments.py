"""A command that gets a real signal at a chosen import of its start.

Moments are counted in imports, since seconds depend on how busy the machine is.
"""

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENTRY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
    "odefs"
].partition(":")[0]

HOOK = """
import _signal, os, sys
# A shell that runs the tests in the background has them ignore interrupts, and all that they start.
_signal.signal(_signal.SIGINT, _signal.default_int_handler)
number, moment, noted, entry = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
first, seen, parent = entry.partition(".")[0], -1, os.getpid()

class Counter:
    def find_spec(self, name, path=None, target=None):
        global seen
        if (name == first or seen >= 0) and os.getpid() == parent:
            seen += 1
            if moment < 0:
                with open(noted, "w") as file:
                    file.write(str(seen))
            elif seen == moment:
                with open(noted, "w") as file:
                    file.write(str(sum(os.times()[:2])))
                os.kill(parent, number)

sys.meta_path.insert(0, Counter())
"""
"""Counts new imports from that of the entry point on, which is number 0."""

AS_SCRIPT = """
sys.argv = ["odefs", *sys.argv[5:]]
entry = __import__(entry, fromlist=["main"])
sys.exit(entry.main())
"""
AS_MODULE = """
sys.argv = ["odefs", *sys.argv[5:]]
import runpy
runpy.run_module("odefs", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended; ``cpu`` is its processor time in seconds from the signal on."""

    code: int
    stdout: str
    stderr: str
    noted: str
    cpu: float


def run_until(moment, number, arguments, cwd, as_module=False):
    """Run the command, and signal it at the n-th import; -1 for never, which counts the imports."""
    noted = cwd.parent / f"{cwd.name}.noted"
    noted.unlink(missing_ok=True)
    script = HOOK + (AS_MODULE if as_module else AS_SCRIPT)
    line = [
        sys.executable,
        "-c",
        script,
        str(int(number)),
        str(moment),
        str(noted),
        ENTRY,
        *map(str, arguments),
    ]
    texts = [cwd.parent / f"{cwd.name}.{name}" for name in ("out", "err")]
    with open(texts[0], "w") as out, open(texts[1], "w") as err:
        running = subprocess.Popen(line, cwd=cwd, stdout=out, stderr=err)
        _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    found = noted.read_text() if noted.exists() else ""
    begin = float(found) if moment >= 0 and found else 0.0
    return Ended(
        running.returncode,
        *(text.read_text() for text in texts),
        found,
        used.ru_utime + used.ru_stime - begin,
    )
