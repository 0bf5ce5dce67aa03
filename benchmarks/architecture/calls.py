"""Files and functions that typical actions go through, by a profiler in a process for each action.

Functions (``CO_OPTIMIZED``: not bodies of classes and modules) called on any thread are counted,
including calls by imports. From Python 3.12 on, list comprehensions are part of the function around
them.
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from importlib import import_module, metadata, util
from pathlib import Path

DETECT = "odefs detect table.csv --save model.odefs -o scores.csv --force"
SCORE = "odefs score model.odefs table.csv -o scored.csv --force"
ACTIONS = {
    "`ODEFS().fit(X)`": ("odefs ODEFS", "0"),
    "`LeSiNN().fit(X)`": ("odefs LeSiNN", "0"),
    "`odefs detect` (csv; page, model, scores)": (DETECT, "0"),
    "`odefs detect`, in parts": (DETECT, "1"),
    "`odefs score`": (SCORE, "0"),
    "`odefs score`, in parts": (SCORE, "1"),
    "scikit-learn `IsolationForest().fit(X)`": ("sklearn.ensemble IsolationForest", "0"),
}


def trace_actions(checkout: Path, table: Path, installed: bool) -> dict[str, list]:
    """A row per action; the console script of another checkout is read from its project file."""
    rows = {"": ["files", "functions", "packages", "lines of these files"]}
    project = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    script = "" if installed else tomllib.loads(project)["project"]["scripts"]["odefs"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_bytes(table.read_bytes())
        for title, (action, in_parts) in ACTIONS.items():
            environment = {
                **os.environ,
                "PYTHONPATH": str(checkout / "src"),
                "ODEFS_IN_PARTS": in_parts,
            }
            command = [sys.executable, "-P", __file__, script, *action.split()]
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                print(f"{action} in {checkout} failed: {done.stderr.strip()}", file=sys.stderr)
            rows[title] = (
                ["failed"] * 4
                if done.returncode
                else json.loads(Path(folder, "counted").read_text())
            )
    return rows


def _trace(package: Path, act: Callable[[], object]) -> None:
    called = {}  # by identity: equal functions at the same line of two files are equal code objects
    threading.setprofile(
        lambda frame, event, argument: called.setdefault(id(frame.f_code), frame.f_code)
    )
    sys.setprofile(threading.getprofile())
    try:
        act()
    finally:  # the command line ends with SystemExit
        sys.setprofile(None)
        functions = [
            Path(code.co_filename)
            for code in [*called.values()]
            if code.co_flags & inspect.CO_OPTIMIZED
        ]
        inside = [path for path in functions if path.is_relative_to(package)]
        folders = {path.relative_to(package).parts[:-1][:1] for path in inside}
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in set(inside))
        Path("counted").write_text(json.dumps([len(set(inside)), len(inside), len(folders), lines]))


def _main(script: str, module: str, *arguments: str) -> None:
    if len(arguments) > 1:
        sys.argv = [module, *arguments]
        (installed,) = metadata.entry_points(group="console_scripts", name=module)
        act = (metadata.EntryPoint(module, script, installed.group) if script else installed).load()
    else:
        import numpy as np

        cells = np.genfromtxt("table.csv", delimiter=",", skip_header=1)
        estimator = getattr(import_module(module), arguments[0])

        def act() -> object:
            return estimator().fit(cells[:, ~np.isnan(cells).any(axis=0)])

    _trace(Path(util.find_spec(module.partition(".")[0]).origin).parent, act)


if __name__ == "__main__":
    _main(*sys.argv[1:])
