"""What the documentation says exists, and its code runs."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from locations import ROOT
from odefs.datasets.transactions import transactions_path

PAGES = [
    "README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]

RECIPES = "docs/how-to/recipes/"
"""Pages with packages of their own; test_recipes.py runs them."""


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


@pytest.mark.parametrize(
    "name",
    [
        name if name == "README.md" else pytest.param(name, marks=pytest.mark.slow)
        for name in PAGES
        if code_blocks(name) and not name.startswith(RECIPES)
    ],
)
def test_code_blocks_run(name):
    for code in code_blocks(name):
        run(code)


def test_pages_with_code_are_found():
    with_code = {name for name in PAGES if code_blocks(name)}
    assert with_code > {
        "README.md",
        "docs/index.md",
        "docs/how-to/large-tables.md",
        "docs/how-to/ecosystems.md",
        "docs/tutorials/researcher.md",
    }


def test_the_readme_shows_what_the_command_prints(tmp_path):
    block = (ROOT / "README.md").read_text().split("```console\n")[1].split("```")[0]
    command, _, expected = block.partition("\n")
    _, program, *arguments = command.split()
    arguments = [
        str(transactions_path()) if part == transactions_path().name else part for part in arguments
    ]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    line = [str(Path(sys.executable).parent / program), *arguments]
    shown = subprocess.run(
        line, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    ).stdout
    assert [row.rstrip() for row in shown.strip().splitlines()] == expected.strip().splitlines()


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
