"""The installed command, run as people run it."""

import csv
import os
import subprocess
import sys
from pathlib import Path

ODEFS = Path(sys.executable).parent / "odefs"

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in ABSENT else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
"""Packages that are not installed, for a process whose environment has them."""


def odefs(*arguments, cwd, command=(ODEFS,), stdin=None, **environment):
    """Run ``odefs`` in a folder; the finished process with its output as text."""
    line = [str(part) for part in (*command, *arguments)]
    settings = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **environment}
    return subprocess.run(
        line,
        capture_output=True,
        check=False,
        cwd=cwd,
        env=settings,
        input=stdin,
        text=not isinstance(stdin, bytes),
    )


def messages(result):
    """Lines of standard error without progress, whose number depends on how busy the machine is.

    Takes a finished process or text.
    """
    text = getattr(result, "stderr", result)
    text = text if isinstance(text, str) else text.decode()
    return [line for line in text.splitlines() if not line.startswith("[progress] ")]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
