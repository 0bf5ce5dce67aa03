"""Start-up time of ``import odefs`` and ``odefs --help``, in addition to a bare interpreter."""

import subprocess
import sys
from pathlib import Path

from benchmarks.result import Result, best_of

ODEFS = Path(sys.executable).parent / "odefs"


def run() -> list[Result]:
    bare = _seconds(sys.executable, "-c", "pass")
    imported = _seconds(sys.executable, "-c", "import odefs") - bare
    helped = _seconds(str(ODEFS), "--help")
    return [
        Result("import odefs", f"{1000 * imported:.0f} ms", "under 100 ms", imported < 0.1),
        Result(
            "odefs --help, the whole process",
            f"{1000 * helped:.0f} ms",
            "under 400 ms",
            helped < 0.4,
        ),
    ]


def _seconds(*command: str) -> float:
    return best_of(7, lambda: subprocess.run(command, check=True, capture_output=True))
