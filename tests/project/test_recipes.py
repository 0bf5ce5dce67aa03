"""Recipes do what their pages show, with the packages of ``requirements/recipes.txt``."""

import shutil
import subprocess

import pytest

from recipe_pages import ENVIRONMENT, PAGES, SETUP, Command, File, steps_of

needs_packages = pytest.mark.skipif(
    not (ENVIRONMENT / ".recipes").exists(), reason="make slow and make recipes install them"
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The folder with the tables and the model that all recipes use."""
    folder = tmp_path_factory.mktemp("tables")
    for step in steps_of(SETUP):
        step.run(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_files_and_shows_what_they_print(page):
    steps = steps_of(page)
    assert any(isinstance(step, File) for step in steps)
    assert any(isinstance(step, Command) and step.output for step in steps)
    assert f"]({page.name})" in SETUP.read_text(encoding="utf-8")


@pytest.mark.slow
@needs_packages
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_prints_what_its_page_shows(page, tables, tmp_path):
    folder = shutil.copytree(tables, tmp_path / page.stem)
    for step in steps_of(page):
        step.run(folder)


@pytest.mark.slow
@needs_packages
def test_the_list_of_packages_is_complete():
    """It is installed without looking for dependencies."""
    line = [ENVIRONMENT / "bin" / "python", "-m", "pip", "check"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
