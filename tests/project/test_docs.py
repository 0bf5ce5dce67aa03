"""What the documentation names exists; test_snippets.py runs its code."""

import doctest
import importlib
import re
import subprocess
import sys

import pytest

from locations import ROOT

PAGES = [
    "README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]


def code_blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL)


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_your_own_detector_finds_the_planted_column():
    (code,) = code_blocks("docs/how-to/add-a-detector.md")
    shown = run(code)
    assert re.match(r"columns: \[ *7 ", shown)
    assert "first reason for row 0: x7" in shown


def resolve(dotted):
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(dotted)


@pytest.mark.parametrize("page", PAGES)
def test_names_on_the_page_exist(page):
    names = set(re.findall(r"`(odefs\.[\w.]+?)`", (ROOT / page).read_text()))
    for name in names:
        resolve(name)
    if page == "docs/reference/paper.md":
        assert len(names) > 25


def test_every_line_of_the_algorithm_is_named():
    text = (ROOT / "docs/reference/paper.md").read_text().split("## Algorithm 1")[1].split("##")[0]
    lines = set()
    for first, last in re.findall(r"^\| (\d+)(?:(?: to |, )(\d+))? \|", text, flags=re.MULTILINE):
        lines |= set(range(int(first), int(last or first) + 1))
    assert lines == set(range(1, 15)) - {13}, "line 13 is the end of the loop"


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


SOURCE = ROOT / "src"
EXAMPLES = [
    path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


def test_modules_with_examples_are_found():
    assert set(EXAMPLES) >= {
        "odefs.estimators.odefs",
        "odefs.detection",
        "odefs.engines.dask.client",
    }


@pytest.mark.parametrize("module", EXAMPLES)
def test_docstring_examples(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


def test_the_opening_promises_what_the_first_example_keeps():
    import polars as pl

    import odefs
    from odefs.datasets.transactions import transactions_path

    found = odefs.detect(pl.read_csv(transactions_path()), id="transaction")
    opening = " ".join((ROOT / "README.md").read_text().split("## Install")[0].split())
    assert f"`trust_` is {found.model.trust_:g}" in opening
    assert len(found.noise) == 7
    assert "seven columns are noise" in opening
