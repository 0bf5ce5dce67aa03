"""Working with the page in a real browser: save rows, filter them, open columns and rows."""

import csv
import io
from urllib.parse import urlencode

import polars as pl
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from browser import check_quiet, forget_logs, needs_browser
from odefs.datasets.transactions import transactions_path
from odefs.tables import messages
from pages import EVIL

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture
def page(browser, report, tmp_path):
    """The open page; afterwards, it must have no errors and no network requests."""
    forget_logs(browser)
    visit(browser, report, tmp_path / "page.html")
    yield browser
    check_quiet(browser)


def visit(browser, report, path, address=""):
    report.save(path, force=True)
    browser.get(path.as_uri() + address)


def text(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


def shown_names(browser):
    found = browser.find_elements(By.CSS_SELECTOR, "#outliers tr.row:not([hidden]) .open")
    return [cell.text for cell in found]


def choose(browser, id, start):
    """Choose the option that begins with a text."""
    select = Select(browser.find_element(By.ID, id))
    (wanted,) = [one for one in select.options if one.text.startswith(start)]
    select.select_by_visible_text(wanted.text)


def with_reason(report, column):
    return [
        row["name"]
        for row in report.summary["top"]
        if any(reason["column"] == column for reason in row["reasons"])
    ]


def test_the_saved_file_has_all_values_and_reasons(page, report):
    page.find_element(By.ID, "save").click()
    path = page.downloads / "transactions-outliers.csv"
    WebDriverWait(page, 20).until(lambda _: path.exists())
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    lines = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    frame = pl.read_csv(transactions_path())
    assert len(lines) == report.summary["flagged"]
    assert set(frame.columns) | {"score", "rank", "percentile", "kind", "reasons"} <= set(lines[0])
    for line, row in zip(lines, report.summary["top"], strict=False):
        assert line["transaction"] == row["name"]
        assert line["reasons"] == "; ".join(map(messages.short_reason, row["reasons"]))
        assert line["kind"] == messages.kind(report.summary["kinds"][row["kind"]])
        (cells,) = frame.filter(transaction=row["name"]).iter_rows(named=True)
        assert line["amount"] == str(cells["amount"])


def test_rows_are_narrowed_by_reason_kind_and_search_together(page, report):
    expected = with_reason(report, "amount")
    choose(page, "filter-column", "amount (")
    assert shown_names(page) == expected[:25]
    kind = next(
        k for k, one in enumerate(report.summary["kinds"]) if messages.kind(one) == "amount high"
    )
    choose(page, "filter-kind", f"{kind + 1}:")
    both = [row["name"] for row in report.summary["top"] if row["kind"] == kind]
    assert shown_names(page) == [name for name in expected if name in both]
    page.find_element(By.ID, "search").send_keys(both[1])
    assert shown_names(page) == [both[1]]
    assert (
        page.find_element(By.CSS_SELECTOR, f"[data-kind='{kind}']").get_attribute("aria-pressed")
        == "true"
    )
    address = page.execute_script("return location.hash")
    page.find_element(By.ID, "clear").click()
    assert len(shown_names(page)) == 25
    assert page.execute_script("return location.hash") == ""
    # The address shows the same rows again, and may name what the page lacks.
    page.execute_script("location.hash = arguments[0]", address)
    WebDriverWait(page, 10).until(lambda b: shown_names(b) == [both[1]])
    assert page.find_element(By.ID, "search").get_attribute("value") == both[1].lower()


def test_an_address_narrows_the_rows_when_the_page_opens(page, report, tmp_path):
    visit(page, report, tmp_path / "other.html", "#" + urlencode({"column": "items"}))
    assert shown_names(page) == with_reason(report, "items")[:25]
    page.get("about:blank")
    nowhere = "#" + urlencode({"column": EVIL, "kind": "99"})
    visit(page, report, tmp_path / "other.html", nowhere)
    assert len(shown_names(page)) == 25


def test_a_column_opens_into_its_distribution_with_flagged_values(page, report):
    chart = next(one for one in report.drawing["charts"] if one["column"] == "distance_km")
    button = page.find_element(By.XPATH, "//button[text()='distance_km']")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    flagged = [
        n for n in [*chart["flagged_counts"], chart["flagged_below"], chart["flagged_above"]] if n
    ]
    drawn = page.find_elements(By.CSS_SELECTOR, ".distribution .bar.above")
    assert len(drawn) == len(flagged)
    assert f"{chart['flagged_above']} above" in text(page, ".distribution .hint")
    page.find_element(By.CSS_SELECTOR, ".distribution .quiet").click()
    assert shown_names(page) == with_reason(report, "distance_km")
    button.send_keys(Keys.ENTER)
    assert not page.find_elements(By.CSS_SELECTOR, ".distribution")
    page.find_element(By.XPATH, "//button[text()='country']").click()
    lines = page.find_elements(By.CSS_SELECTOR, ".distribution .values tbody tr")
    country = next(one for one in report.drawing["charts"] if one["column"] == "country")
    assert len(lines) >= len(country["values"])
    assert "▲" in text(page, ".distribution .values")


def test_a_row_opens_next_to_its_nearest_ordinary_row(page, report):
    page.find_element(By.CSS_SELECTOR, "tr.row .open").click()
    near = report.drawing["nearest"]
    other = near["rows"][near["index"][0]]
    assert f"transaction {other['name']}, score" in text(page, "tr.details")
    lines = page.find_elements(By.CSS_SELECTOR, ".compare tbody tr")
    marked = [line for line in lines if line.get_attribute("class") == "differs"]
    names = [report.summary["values"]["columns"][k] for k in near["differs"][0]]
    assert [line.text.split()[0] for line in marked] == names[: len(marked)]
    assert all(line.text.endswith("differs") for line in marked)
    frame = pl.read_csv(transactions_path())
    (cells,) = frame.filter(transaction=other["name"]).iter_rows(named=True)
    country = next(line for line in lines if line.text.startswith("country"))
    assert country.text.split()[2] == cells["country"]
