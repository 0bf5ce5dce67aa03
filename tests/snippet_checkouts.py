"""Copies of the checkout, for commands of ``CONTRIBUTING.md`` that work on it."""

from contextlib import contextmanager

from building import copy_sources
from snippet_settings import Setting

FEW_RUNS = """
RUNS = {name: run for name, run in RUNS.items() if name.startswith("csv codes")}
"""
FEW_FILES = {" 10000 ": " 100 "}


@contextmanager
def checkout(folder):
    yield Setting(folder=_copy(folder / "checkout"))


@contextmanager
def few_runs(folder):
    """A checkout that knows a few of the recorded runs only."""
    copy = _copy(folder / "few-runs")
    with open(copy / "tests" / "frozen" / "runs.py", "a", encoding="utf-8") as file:
        file.write(FEW_RUNS)

    def require_runs(snippet, done):
        assert "\n0 differences in 2 runs\n" in f"\n{done.stdout}", done.stdout

    yield Setting(folder=copy, after=require_runs)


@contextmanager
def few_files(folder):
    yield Setting(replaced=FEW_FILES, folder=_copy(folder / "few-files"))


def _copy(folder):
    folder.mkdir()
    copy_sources(folder)
    return folder
