"""What is shown of the kernel: which one is in use, and once in the log that there is none."""

import os
import shutil
import subprocess
import sys

import pytest

from building import ROOT
from odefs.kernels import shared_library
from odefs.kernels.shared_library import describe_kernel

SCRIPT = """
import logging, sys
if "handler" in sys.argv:
    logging.basicConfig(format="%(levelname)s:%(name)s:%(message)s")
import numpy
from odefs.kernels import shared_library
shared_library.PATH = shared_library.PATH.with_name(sys.argv[1])
from odefs import ODEFS, LeSiNN
from odefs.versions import collect_versions
X = numpy.random.default_rng(0).random((200, 5))
for model in (LeSiNN(), ODEFS(n_estimators=2), ODEFS(n_estimators=2, n_jobs=2)):
    model.fit(X)
print(collect_versions()["kernel"])
"""


def messages(name, *arguments, kernel="auto"):
    environment = {**os.environ, "ODEFS_KERNEL": kernel}
    line = [sys.executable, "-W", "ignore", "-c", SCRIPT, name, *arguments]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("numpy")
    return done.stderr.splitlines()


def test_a_missing_kernel_is_logged_once_and_never_printed():
    assert messages("nowhere.so") == []
    (message,) = messages("nowhere.so", "handler")
    assert message.startswith("WARNING:odefs:The compiled kernel was not built")
    assert "GCC or Clang" in message
    assert messages("nowhere.so", "handler", kernel="numpy") == []


def test_a_kernel_that_cannot_be_loaded_is_logged_with_the_reason():
    (message,) = messages("shared_library.py", "handler")
    assert "cannot be loaded (" in message


@pytest.mark.parametrize("order", [("--version", "--verbose"), ("--verbose", "--version")])
def test_the_command_line_shows_the_kernel(order, capsys, monkeypatch):
    from odefs.cli.main import main

    monkeypatch.setattr(sys, "argv", ["odefs", *order])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["kernel"] == describe_kernel()
    assert {"python", "odefs", "numpy"} <= set(shown)


def test_plain_version_loads_nothing_heavy():
    script = (
        "import sys; sys.argv = ['odefs', '--version']\nfrom odefs.cli.main import main\ntry: "
        "main()\nfinally: print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, modules = done.stdout.splitlines()
    assert first.startswith("odefs, version ")
    assert not set(modules.split()) & {"numpy", "scipy", "sklearn", "polars", "rich", "pandas"}


def test_verbose_alone_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "from odefs.cli.main import main; main()", "--verbose", "detect"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--version" in done.stderr


def test_kernels_of_another_python_are_not_looked_for(tmp_path, monkeypatch):
    assert shared_library.PATH.name in ("_kernel.so", "_kernel.dll")
    if shared_library.PATH.exists():
        shutil.copy(shared_library.PATH, tmp_path / "_kernel.cpython-311-x86_64-linux-gnu.so")
    monkeypatch.setattr(shared_library, "PATH", tmp_path / shared_library.PATH.name)
    assert shared_library.library.__wrapped__() is None
