"""Every module can be imported first: none depends on what was imported before it."""

import os
import subprocess
import sys

import pytest

from locations import ROOT

CODE = """
import importlib, os, sys
import numpy, polars, pyarrow, sklearn.base  # Once for all of them.
for name in sys.stdin.read().split():
    if os.fork() == 0:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            os._exit(0 if not str(error.name).startswith("odefs") else 1)
        except BaseException as error:
            print(name, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process for each module takes too long")
def test_every_module_can_be_imported_first():
    """Import-linter sees no cycle through a package's own imports."""
    found = sorted((ROOT / "src" / "odefs").rglob("*.py"))
    names = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in found]
    names = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    done = subprocess.run(
        [sys.executable, "-c", CODE], input=" ".join(names), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert len(names) > 100
