"""Workflows and hooks: pinned actions, few permissions, no event data in scripts, one version."""

import re
import shutil
import subprocess
import tomllib

import pytest
import yaml

from locations import ROOT
from requirement_files import LAYERS, lines_of

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
USES = re.compile(r"^\s*(?:- )?uses: (\S+)(.*)$", re.MULTILINE)
PINNED = re.compile(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40})")
MAY_HAVE_A_TOKEN = {("docs", "deploy"), ("release", "publish"), ("release", "rehearse")}

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs_of(path):
    return yaml.safe_load(path.read_text())["jobs"]


def steps_of(path):
    return [step for job in jobs_of(path).values() for step in job.get("steps", [])]


def test_there_are_workflows_for_a_release():
    assert {path.stem for path in WORKFLOWS} >= {"tests", "wheels", "docs", "release"}


@every_workflow
def test_every_action_is_pinned_and_its_version_named(path):
    found = USES.findall(path.read_text())
    assert len(found) == sum("uses" in part for part in (*steps_of(path), *jobs_of(path).values()))
    for action, comment in found:
        if action.startswith("./"):
            assert (ROOT / action).is_file()
            continue
        assert PINNED.fullmatch(action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_an_action_has_one_version_everywhere():
    found = {match for path in WORKFLOWS for match in re.findall(PINNED, path.read_text())}
    assert len(found) == len({action for action, _ in found})


@every_workflow
def test_permissions_are_given_to_jobs_and_are_few(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {}
    for name, job in jobs_of(path).items():
        writes = {key for key, value in job["permissions"].items() if value != "read"}
        assert writes <= (
            {"id-token", "pages"} if (path.stem, name) in MAY_HAVE_A_TOKEN else set()
        ), name
        if writes:
            assert job["environment"]["name"], name
            assert not [step for step in job["steps"] if "run" in step], (
                f"{name} runs a script beside its token"
            )


@every_workflow
def test_jobs_end_and_leave_no_credentials(path):
    for name, job in jobs_of(path).items():
        assert "uses" in job or job["timeout-minutes"] <= 120, name
    for step in steps_of(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@every_workflow
def test_scripts_hold_no_expressions(path):
    """Event data reaches a script through its environment, never as part of its text."""
    for step in steps_of(path):
        assert "${{" not in step.get("run", ""), step


def test_every_supported_python_is_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = set(re.findall(r":: (3\.\d+)", "\n".join(project["classifiers"])))
    jobs = jobs_of(ROOT / ".github" / "workflows" / "tests.yml")
    for name in ("linux", "elsewhere"):
        assert set(jobs[name]["strategy"]["matrix"]["python"]) >= supported


def test_the_job_to_require_needs_all_others():
    jobs = jobs_of(ROOT / ".github" / "workflows" / "tests.yml")
    assert set(jobs["all"]["needs"]) == jobs.keys() - {"all"}


def test_hooks_have_the_pinned_versions():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    asked = {
        one
        for repo in hooks
        for hook in repo["hooks"]
        for one in hook.get("additional_dependencies", [])
    }
    pinned = {line.name: line.version for layer in LAYERS for line in lines_of(layer)}
    versions = dict(one.split("==") for one in asked)
    assert len(versions) == len(asked)
    assert "ruff" in versions
    assert all(pinned.get(name, version) == version for name, version in versions.items())


def test_dependency_groups_are_pinned():
    """What the groups name is in the layers that make installs."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    pinned = {line.name for name in (*LAYERS, "fuzz") for line in lines_of(name)}
    asked = {
        re.match(r"[\w.-]+", one)[0]
        for group in groups.values()
        for one in group
        if isinstance(one, str)
    }
    assert asked
    assert asked <= pinned


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [("zizmor", "--offline", "--no-progress", "--pedantic", ".github"), ("actionlint",)]
)
def test_linters_find_nothing(line):
    if shutil.which(line[0]) is None:
        pytest.skip(f"{line[0]} is not installed; pre-commit runs it")
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
