"""Pinned requirements: hashes, complete and consistent layers, lowest versions, no hosts."""

import importlib.metadata
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from locations import ROOT
from requirement_files import FOLDER, LAYERS, lines_of

FILES = (*LAYERS, "torch", "torch-cpu", "lowest", "fuzz", "lock", "recipes", "pyod-tests")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_pinned_and_hashed(name):
    lines = lines_of(name)
    assert lines
    for line in lines:
        assert line.hashes, line.name
        assert len(set(line.hashes)) == len(line.hashes)
    assert len({line.name for line in lines}) == len(lines)


def test_no_file_is_forgotten():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(FILES)


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_no_host_is_named(path):
    if path.is_file():
        assert not re.search(
            r"://|--(extra-)?index|--find-links|--trusted-host|\w\.(org|com|net|io)\b",
            path.read_text(),
        )


def test_a_layer_adds_to_the_one_below():
    seen = set()
    for below, name in zip((None, *LAYERS), LAYERS, strict=False):
        included = re.findall(
            r"^-r (\S+)$", (FOLDER / f"{name}.txt").read_text(), flags=re.MULTILINE
        )
        assert included == ([f"{below}.txt"] if below else [])
        names = {line.name for line in lines_of(name)}
        assert not names & seen
        seen |= names
    assert not {line.name for line in lines_of("torch")} & seen


def test_each_list_is_in_its_layer():
    """What people wrote into a .in file stands in the .txt of the same layer or below."""
    seen = {"torch"} & {line.name for line in lines_of("torch")}
    for name in LAYERS:
        seen |= {line.name for line in lines_of(name)}
        asked = re.findall(
            r"^[a-z][\w.-]*", (FOLDER / f"{name}.in").read_text(), flags=re.MULTILINE
        )
        assert asked
        assert {canonicalize_name(one) for one in asked} <= seen


def test_the_tests_run_on_the_pins():
    """Installed versions are the pinned ones, and all their dependencies are listed."""
    pinned = {line.name: line for layer in (*LAYERS, "torch") for line in lines_of(layer)}
    for line in (*(line for layer in LAYERS for line in lines_of(layer)), pinned["torch"]):
        if line.marker and not Requirement(f"{line.name} ; {line.marker}").marker.evaluate():
            continue
        found = importlib.metadata.distribution(line.name)
        assert Version(found.version).public == line.version, line.name
        for needed in map(Requirement, found.requires or []):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                known = pinned.get(canonicalize_name(needed.name))
                assert known, f"{line.name} needs {needed}, which is not pinned"
                assert needed.specifier.contains(known.version, prereleases=True), (
                    f"{line.name} needs {needed}"
                )


def test_both_builds_of_pytorch_have_one_version():
    (without_cuda,) = lines_of("torch-cpu")
    assert Version(without_cuda.version).public in {
        line.version for line in lines_of("torch") if line.name == "torch"
    }


def bounds():
    """Lower bounds of the dependencies and of the extras that ``make lowest`` installs."""
    left_out = {"gpu", "bench", "docs", "dev"}
    extras = [
        group for name, group in PROJECT["optional-dependencies"].items() if name not in left_out
    ]
    for text in {one for group in (PROJECT["dependencies"], *extras) for one in group}:
        requirement = Requirement(text)
        (specifier,) = requirement.specifier
        assert specifier.operator == ">=", text
        yield canonicalize_name(requirement.name), specifier.version


def test_the_lowest_versions_are_those_that_are_allowed():
    """The first release at or above a bound is its number, or a patch if that was withdrawn."""
    lowest = {line.name: line.version for line in lines_of("lowest")}
    for name, bound in bounds():
        assert Version(lowest[name]).release[:2] == (*Version(bound).release, 0)[:2], (
            name,
            bound,
            lowest[name],
        )


def test_pins_satisfy_pyproject():
    pinned = {line.name: line.version for layer in LAYERS for line in lines_of(layer)}
    for name, bound in bounds():
        assert Version(pinned[name]) >= Version(bound), name


def test_versions_of_python_agree():
    """Those of the classifiers are those that the pins are made for, and that ``make`` takes."""
    versions = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    places = runpy.run_path(str(FOLDER / "lock.py"))["PLACES"]
    assert {place["python_version"] for place in places} == set(versions)
    above = f"3.{int(versions[-1].split('.')[1]) + 1}"
    uv = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["environments"]
    assert all(f"python_full_version < '{above}'" in one for one in uv)
    assert f"sys.version_info < ({above.replace('.', ', ')})" in (ROOT / "Makefile").read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("version", [(3, 10, 9), (3, 15, 0)])
def test_make_refuses_versions_of_python_that_have_no_pins(version, tmp_path):
    python = tmp_path / "another python"
    python.write_text(f"import sys; sys.version_info = {version}; exec(sys.argv[2])")
    line = [
        "make",
        f"VENV={tmp_path}/venv",
        f'PYTHON={sys.executable} "{python}"',
        f"{tmp_path}/venv/.created",
    ]
    done = subprocess.run(line, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    versions = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert all(one in done.stdout for one in versions)
    assert "name another one with 'make PYTHON=" in done.stdout
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_new_tests_run_on_the_lowest_versions_too():
    """What is left out is named: each name is that of a test, and all else runs."""
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", "")
    left_out = re.search(r"^NOT_LOWEST := (.*)$", makefile, flags=re.MULTILINE)[1].split()
    every = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob("*/test_*.py")}
    matched = [
        {path for path in every if fnmatch(path, f"tests/{one.replace('%', '*')}.py")}
        for one in left_out
    ]
    assert all(matched)
    done = subprocess.run(
        ["make", "-n", "lowest"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert set(re.findall(r"tests/\w+/test_\w+\.py", done.stdout)) == every - set().union(*matched)


@pytest.mark.parametrize(("version", "is_told"), [("9.9", True), (None, False)])
def test_the_build_without_cuda_needs_a_hand(version, is_told, capsys):
    (without_cuda,) = lines_of("torch-cpu")
    lock = runpy.run_path(str(FOLDER / "lock.py"))
    lock["tell_torch_cpu"](version or Version(without_cuda.version).public)
    assert ("torch-cpu.txt: to be changed by hand" in capsys.readouterr().out) == is_told
