"""Mistakes in a user's script are found by mypy and pyright, and only mistakes are."""

import json
import os
import re
import subprocess
import sys

import pytest

from locations import ROOT, TESTS

pytestmark = pytest.mark.slow

SCRIPTS = [TESTS / "types" / "right.py", TESTS / "types" / "wrong.py"]
KINDS = {
    "arg-type": "argument",
    "call-overload": "argument",
    "call-arg": "call",
    "attr-defined": "attribute",
    "assignment": "assignment",
    "reportArgumentType": "argument",
    "reportCallIssue": "call",
    "reportAttributeAccessIssue": "attribute",
    "reportAssignmentType": "assignment",
}
"""Kinds of mistakes by the rules of both checkers."""


def marked(script, checker):
    """Lines of a script with the kind of mistake that they are marked with."""
    lines = script.read_text(encoding="utf-8").splitlines()
    mark = re.compile(rf"  # (\w+)(?: \({checker}\))?$")
    found = [(number, mark.search(line)) for number, line in enumerate(lines, 1)]
    return {(script.name, number): kind[1] for number, kind in found if kind}


def by_mypy(folder):
    line = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={folder}"]
    options = ["--follow-imports=silent", "--ignore-missing-imports", "--output=json"]
    done = subprocess.run(
        [*line, *options, *map(str, SCRIPTS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
    )
    assert done.returncode in (0, 1), done.stderr
    for text in done.stdout.splitlines():
        error = json.loads(text)
        if error["severity"] == "error":
            yield os.path.basename(error["file"]), error["line"], error["code"]


def by_pyright(folder):
    settings = {
        "include": [str(script) for script in SCRIPTS],
        "extraPaths": [str(ROOT / "src")],
        "typeCheckingMode": "standard",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    line = [sys.executable, "-m", "basedpyright", "--project", str(folder), "--outputjson"]
    done = subprocess.run(
        [*line, "--pythonpath", sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    for error in json.loads(done.stdout)["generalDiagnostics"]:
        if error["severity"] == "error":
            number = error["range"]["start"]["line"] + 1
            yield os.path.basename(error["file"]), number, error["rule"]


@pytest.mark.parametrize(("checker", "check"), [("mypy", by_mypy), ("pyright", by_pyright)])
def test_exactly_the_mistakes_are_found(checker, check, tmp_path):
    found = {}
    for name, number, rule in check(tmp_path):
        found.setdefault((name, number), set()).add(KINDS.get(rule, rule))
    expected = {
        place: kind for script in SCRIPTS for place, kind in marked(script, checker).items()
    }
    assert len(expected) > 35
    assert found.keys() == expected.keys()
    assert {place: kind for place, kind in expected.items() if kind not in found[place]} == {}
