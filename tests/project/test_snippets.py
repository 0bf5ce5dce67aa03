"""Every code block and command of every page is run, or is listed with the reason why not."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from locations import ROOT
from recipe_pages import Command, File, steps_of
from review_server import launch
from snippet_files import prepare
from snippet_rules import (
    AS_IT_STANDS,
    CATEGORIES,
    NOT_RUN,
    OF_TEST_SNIPPETS,
    RECIPE,
    RULES,
    WORKFLOW,
)
from snippet_settings import SECONDS, Setting, answers, background
from snippets import FAST_PAGES, SNIPPETS, category_of, counts, rule_of

EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)
PIP = re.compile(r"""pip install (["']?)odefs(?:\[([\w,]+)\])?\1(?: [\w-]+)*$""")
HERE = [snippet for snippet in SNIPPETS if category_of(snippet) in OF_TEST_SNIPPETS]
PAGES = list(dict.fromkeys(snippet.page for snippet in HERE))
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "MPLBACKEND": "agg",
}


@pytest.mark.parametrize(
    "page",
    [page if page in FAST_PAGES else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
)
def test_snippets_run(page, tmp_path):
    # The environments of the fast tests do not have the packages of all extras.
    run_all([one for one in HERE if one.page == page and not PIP.match(one.text)], tmp_path)


@pytest.mark.slow
def test_pip_finds_what_pages_install(tmp_path):
    run_all([snippet for snippet in HERE if PIP.match(snippet.text)], tmp_path)


def run_all(snippets, folder):
    """Run snippets in their order; an arrangement lasts from its first snippet to the end."""
    assert snippets
    with ExitStack() as stack:
        settings, exports = {}, ""
        for snippet in snippets:
            rule = rule_of(snippet)
            if rule not in settings:
                settings[rule] = stack.enter_context(arranged(rule, folder))
            setting = settings[rule]
            text = snippet.text
            for name in rule.replaced if rule else ():
                text = text.replace(name, setting.replaced[name])
            if snippet.file:
                (folder / snippet.file).write_text(snippet.text, encoding="utf-8")
            elif snippet.kind == "python":
                run([sys.executable, "-c", setting.first + text], folder, setting)
            elif text.startswith("odefs review"):
                prepare(snippet.page, text, folder)
                start_review(shlex.split(text)[2:], folder)
            elif "uvicorn " in text:
                stack.enter_context(start_server(text, folder, setting))
            else:
                prepare(snippet.page, text, folder)
                setting.before(snippet)
                done = run(["bash", "-c", exports + text], folder, setting)
                setting.after(snippet, done)
                if snippet.output is not None:
                    assert matches(snippet.output, done.stdout), done.stdout
                exports += f"{text}\n" if text.startswith("export ") else ""


def arranged(rule, folder):
    """The context manager of what a rule arranges."""
    if rule is None or not rule.arrangement:
        return nullcontext(Setting())
    # They need packages that not all environments of the fast tests have.
    from snippet_arrangements import ARRANGEMENTS

    return ARRANGEMENTS[rule.arrangement](folder)


def run(line, folder, setting):
    done = subprocess.run(
        line,
        capture_output=True,
        text=True,
        check=False,
        cwd=setting.folder or folder,
        env={**ENVIRONMENT, **setting.environment},
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{line[-1]}\n{done.stdout}\n{done.stderr}"
    return done


def start_server(text, folder, setting):
    """Start a server, which runs until the end of the page."""
    environment = {**ENVIRONMENT, **setting.environment}
    return background(["bash", "-c", text], folder, environment, lambda: answers(setting.port))


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
    lines = [line.rstrip() for line in expected.strip().splitlines()]
    patterns = ("(?:.*\n)*?.*" if line.strip() == "..." else re.escape(line) for line in lines)
    pattern = "\n".join(patterns)
    return re.fullmatch(pattern, "\n".join(row.rstrip() for row in shown.strip().splitlines()))


def test_extras_that_pages_install_exist():
    installed = [PIP.match(snippet.text) for snippet in SNIPPETS if "pip install" in snippet.text]
    named = [found[2] for found in installed if found and found[2]]
    assert len(named) > 5
    assert {extra for line in named for extra in line.split(",")} <= EXTRAS


def test_rules_are_of_use():
    for rule in RULES:
        held = [snippet for snippet in SNIPPETS if rule_of(snippet) is rule]
        assert held, rule
        assert rule.category in CATEGORIES
        for start in rule.starts:
            assert any(snippet.text.startswith(start) for snippet in held), start
        for name in rule.replaced:
            assert any(name in snippet.text for snippet in held), name
        assert bool(rule.arrangement) == (rule.category in OF_TEST_SNIPPETS)
        assert (ROOT / rule.run_by).is_file() == (rule.category not in OF_TEST_SNIPPETS)


def test_recipes_are_run_by_their_tests():
    """What is counted as run by ``test_recipes.py`` is one of the steps that it runs."""
    recipes = [snippet for snippet in SNIPPETS if category_of(snippet) == RECIPE]
    assert recipes
    for snippet in recipes:
        steps = steps_of(ROOT / snippet.page)
        if snippet.file:
            assert File(snippet.file, snippet.text) in steps, snippet
        else:
            commands = [step for step in steps if isinstance(step, Command)]
            runs = [line for step in commands for line in step.line.splitlines()]
            assert snippet.text in runs, snippet


def test_workflows_run_what_is_counted():
    """The versions of tools may be pinned there."""
    found = [snippet for snippet in SNIPPETS if category_of(snippet) == WORKFLOW]
    assert found
    for snippet in found:
        script = (ROOT / rule_of(snippet).run_by).read_text(encoding="utf-8")
        script = re.sub(r"--spec \S+ ", "", script)
        assert snippet.text in script, snippet


def test_few_snippets_are_not_run():
    """``python -m tests.snippets`` prints the numbers and names the exceptions."""
    found = counts()
    assert sum(found.values()) == len(SNIPPETS)
    not_run = [snippet for snippet in SNIPPETS if category_of(snippet) == NOT_RUN]
    assert len(not_run) <= 5, not_run
    as_they_stand = sum(number for (name, _), number in found.items() if AS_IT_STANDS in name)
    assert as_they_stand > 2 / 3 * len(SNIPPETS)
