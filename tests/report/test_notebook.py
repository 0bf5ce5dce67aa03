"""A notebook runs in a kernel: what its cells show, how large that is, and what remains of it."""

import re
from urllib.parse import unquote

import nbformat
import pytest
from nbclient import NotebookClient

from browser import needs_browser, start_browser
from locations import TESTS
from pages import Texts

LIGHT = 60_000
"""Most characters of one output; the whole page is larger, and is shown only if it is asked for."""


class Notebook(NotebookClient):
    """Keeps every state of outputs that were redrawn."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.redrawn = []

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] == "update_display_data":
            self.redrawn.append((cell_index, msg["content"]["data"]["text/plain"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def client(folder):
    """The notebook after a run in the interpreter of the tests."""
    source = (TESTS / "report" / "notebook_cells.py").read_text(encoding="utf-8")
    cells = [
        nbformat.v4.new_code_cell(code.strip(), metadata={"name": name})
        for name, code in re.findall(r"^# %% (.+)\n((?:(?!# %%).*\n)*)", source, re.MULTILINE)
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    run = Notebook(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    run.execute()
    return run


@pytest.fixture(scope="module")
def cells(client):
    return {cell.metadata.name: cell.outputs for cell in client.nb.cells}


def only(outputs, form="text/html"):
    (output,) = outputs
    return output.data[form]


def test_a_detection_is_a_light_table(cells):
    shown = only(cells["detection"])
    assert len(shown) < LIGHT
    text = Texts(shown).text
    assert "T0422" in text
    assert "distance_km" in text
    assert "<a " not in shown, "no page was written"


def test_a_saved_page_is_linked(cells, folder):
    shown = only(cells["page"])
    assert len(shown) < LIGHT
    ((_, link),) = [element for element in Texts(shown).elements if element[0] == "a"]
    assert link["target"] == "_blank"
    page = (folder / unquote(link["href"])).read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert not link["href"].startswith(("file:", "/")), "Jupyter's pages may not open files"


def test_explanations_and_frames_are_tables(cells):
    for name in ("explanation", "frame"):
        shown = only(cells[name])
        assert len(shown) < LIGHT
        assert "distance_km" in Texts(shown).text


def test_a_plot_is_drawn_once(cells):
    forms = [form for output in cells["plot"] for form in output.data]
    assert forms.count("image/png") == 1


def test_estimators_show_the_diagram_and_what_they_found(cells):
    for name, facts in {
        "model": ["threshold", "trust_", "feature_importances_", "noise_columns_"],
        "all columns": ["threshold"],
    }.items():
        shown = only(cells[name])
        assert len(shown) < LIGHT
        assert "sk-top-container" in shown
        assert re.findall(r"<th[^>]*>(\w+)</th>", shown.split("odefs-facts")[1]) == facts


def test_the_bar_is_redrawn_in_place_and_gone_at_the_end(client, cells):
    bar, result = cells["bar"]
    assert bar.data == {"text/plain": "", "text/html": ""}
    assert result.output_type == "execute_result"
    number = list(cells).index("bar")
    drawn = [text for index, text in client.redrawn if index == number]
    assert drawn.pop() == ""
    assert drawn
    assert all(drawn)


def test_the_log_is_shown_on_request(cells):
    kinds = [output.output_type for output in cells["bar and log"]]
    assert "stream" in kinds
    assert cells["bar and log"][0].data["text/plain"] == ""


def test_the_whole_page_is_shown_on_request(cells):
    assert "<iframe" in only(cells["report"])


@pytest.mark.slow
@needs_browser
def test_the_link_opens_the_page_in_a_browser(cells, folder, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    shown = folder / "shown.html"
    shown.write_text(f"<!DOCTYPE html><body>{only(cells['page'])}", encoding="utf-8")
    browser = start_browser(tmp_path / "profile", tmp_path / "downloads")
    try:
        browser.get(shown.as_uri())
        browser.find_element(By.LINK_TEXT, "Open the whole page").click()
        WebDriverWait(browser, 30).until(lambda b: len(b.window_handles) == 2)
        browser.switch_to.window(browser.window_handles[1])
        WebDriverWait(browser, 30).until(
            lambda b: b.find_elements(By.CSS_SELECTOR, "#chart-scores svg")
        )
    finally:
        browser.quit()
