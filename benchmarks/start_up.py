"""Start-up time of ``import odefs`` and ``odefs --help``, and processor time of short commands."""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.child_process import as_installed, least, measure, measure_odefs
from benchmarks.result import Result, best_of
from odefs.datasets.transactions import transactions_path

ODEFS = Path(sys.executable).parent / "odefs"
REPEATS = 3
IMPORT_REPEATS, IMPORT_RATIO = 10, 1.1
SCREEN, PAGE = 1.2, 2.0
"""Limits for commands that print to the screen, and that write the page."""


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
        _beside_scikit_learn(),
        *_short_commands(),
    ]


def _beside_scikit_learn() -> Result:
    """Processor time until an estimator can be used, alternately with scikit-learn's forest."""
    lines = ("import odefs; odefs.ODEFS", "from sklearn.ensemble import IsolationForest")
    runs = [[measure(sys.executable, "-c", line) for line in lines] for _ in range(IMPORT_REPEATS)]
    own, forest = (least([run[k] for run in runs]).cpu_seconds for k in range(2))
    return Result(
        "import of ODEFS, next to IsolationForest",
        f"{own / forest:.2f} x the processor time",
        f"under {IMPORT_RATIO} x",
        own < IMPORT_RATIO * forest,
    )


def _short_commands() -> list[Result]:
    """Processor time of all threads, on the bundled table of 800 rows."""
    table = str(transactions_path())
    detect, score = ("detect", table, "--id", "transaction"), ("score", "m.odefs", table)
    commands = {
        "odefs detect of 800 rows, the screen alone": (*detect, "--no-report"),
        "odefs detect of 800 rows with its page": (*detect, "--report", "page.html"),
        "odefs score of 800 rows, the screen alone": score,
        "odefs score of 800 rows with its page": (*score, "--report", "page.html"),
    }
    found = []
    with tempfile.TemporaryDirectory() as folder:
        measure_odefs(*detect, "--no-report", "--save", "m.odefs", cwd=folder)
        for what, arguments in commands.items():
            used = least(
                [measure_odefs(*arguments, "--force", cwd=folder) for _ in range(REPEATS)]
            ).cpu_seconds
            limit = PAGE if "--report" in arguments else SCREEN
            found.append(
                Result(
                    what,
                    f"{used:.2f} s of processor time",
                    f"under {limit} s",
                    used < limit,
                )
            )
    return found


def _seconds(*command: str) -> float:
    environment = as_installed()
    return best_of(
        7, lambda: subprocess.run(command, check=True, capture_output=True, env=environment)
    )
