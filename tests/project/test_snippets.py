"""Every code block and command of every page runs as it stands, or is listed with a reason."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from locations import ROOT
from review_server import launch
from snippet_files import prepare
from snippets import RUN_ELSEWHERE, SNIPPETS, counts, place

EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)
PIP = re.compile(r"""pip install (["']?)odefs(?:\[([\w,]+)\])?\1$""")
HERE = [snippet for snippet in SNIPPETS if place(snippet) is None]
PAGES = list(dict.fromkeys(snippet.page for snippet in HERE if not PIP.match(snippet.text)))
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "MPLBACKEND": "agg",
}


@pytest.mark.parametrize(
    "page",
    [page if page == "README.md" else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
)
def test_snippets_run(page, tmp_path):
    for snippet in HERE:
        if snippet.page != page or PIP.match(snippet.text):
            continue
        if snippet.kind == "python":
            run([sys.executable, "-c", snippet.text], tmp_path)
        elif snippet.text.startswith("odefs review"):
            prepare(page, snippet.text, tmp_path)
            start_review(shlex.split(snippet.text)[2:], tmp_path)
        else:
            prepare(page, snippet.text, tmp_path)
            shown = run(["bash", "-c", snippet.text], tmp_path)
            if snippet.output is not None:
                assert matches(snippet.output, shown), shown


def run(line, folder):
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=folder, env=ENVIRONMENT
    )
    assert done.returncode == 0, f"{line[-1]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def start_review(arguments, folder):
    """Start the review, and end it as soon as its page is served."""
    process = launch(folder, *arguments, BROWSER="true")
    try:
        assert process.stdout.readline().startswith("Review: http://"), process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def matches(expected, shown):
    """Whether the output is as the page shows it; lines of three dots stand for any lines."""
    lines = [re.escape(line.rstrip()) for line in expected.strip().splitlines()]
    pattern = "\n".join("(?:.*\n)*?.*" if line == r"\.\.\." else line for line in lines)
    return re.fullmatch(pattern, "\n".join(row.rstrip() for row in shown.strip().splitlines()))


def test_extras_that_pages_install_exist():
    installed = [PIP.match(snippet.text) for snippet in SNIPPETS if "pip install" in snippet.text]
    named = [found[2] for found in installed if found and found[2]]
    assert len(named) > 5
    assert {extra for line in named for extra in line.split(",")} <= EXTRAS


def test_exceptions_are_of_use_and_run_somewhere():
    for one in RUN_ELSEWHERE:
        assert any(one.holds(snippet) for snippet in SNIPPETS), one
        assert (ROOT / one.run_by).is_file(), one.run_by


def test_listed_commands_have_the_options_that_they_name():
    """Commands that run elsewhere are at least parsed."""
    from odefs.cli.main import COMMANDS

    commands = [snippet.text for snippet in SNIPPETS if place(snippet) is not None]
    lines = [text.split() for text in commands if text.startswith("odefs ")]
    assert lines
    for _, name, *arguments in lines:
        assert name in COMMANDS
        shown = run([sys.executable, "-m", "odefs", name, "--help"], ROOT)
        for option in (word for word in arguments if word.startswith("-")):
            assert re.search(rf"(^|\s|,|/){option}\b", shown), f"odefs {name} has no {option}"


def test_most_snippets_run_here():
    """Prints the numbers; ``python -m tests.snippets`` also names the exceptions."""
    found = counts()
    print(found)
    assert found["python", "run here"] >= 25
    assert found["shell", "run here"] >= 40
    assert found["python", "run elsewhere"] <= found["python", "run here"] / 2
