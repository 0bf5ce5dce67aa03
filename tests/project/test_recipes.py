"""Recipes do what their pages show, with the packages of ``requirements/recipes.txt``."""

import os
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


PAGE = """
```python
# folder/count.py
print(len(open("words.txt").read().split()))
```
```sh
export WORDS="one two"
echo $WORDS > words.txt
```
```console
$ echo $WORDS
one two
$ cat folder/count.py | head -n 1
# folder/count.py
```
"""


@pytest.mark.skipif(os.name != "posix", reason="pages are written for a POSIX shell")
def test_what_a_page_shows_is_compared(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    file, *commands = steps_of(page)
    assert isinstance(file, File)
    for step in (file, *commands):
        step.run(tmp_path)
    assert (tmp_path / "words.txt").read_text() == "one two\n"
    page.write_text(PAGE.replace("one two\n$", "one three\n$"), encoding="utf-8")
    changed = steps_of(page)[2]
    with pytest.raises(AssertionError, match="one two"):
        changed.run(tmp_path)
    with pytest.raises(AssertionError, match="exit code 4"):
        Command("exit 4  # exit code 4", None).run(tmp_path)


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
