"""The report in a real browser: mouse, keyboard, phone; no errors, no requests."""

import csv
import io
import json
from dataclasses import replace

import polars as pl
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import check_quiet, forget_logs, needs_browser
from odefs.datasets.transactions import transactions_path
from odefs.detection import detect
from odefs.report import build_report
from odefs.tables import messages
from odefs.tables.records.notes import Provenance
from pages import EVIL

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def report():
    """Of the bundled example."""
    run = Provenance(command="odefs detect transactions.csv --id transaction")
    found = detect(pl.read_csv(transactions_path()), id="transaction")
    return build_report(replace(found, source={"name": "transactions.csv"}, run=run))


@pytest.fixture(scope="module")
def pages(tmp_path_factory, report):
    """The bundled example, and one with markup everywhere."""
    folder = tmp_path_factory.mktemp("pages")
    frame = pl.read_csv(transactions_path())
    report.save(folder / "plain.html")
    (folder / "plain.json").write_text(report.json())
    odd = frame.with_columns(
        country=pl.col("country").replace("PA", EVIL), transaction=EVIL + pl.col("transaction")
    ).rename({"amount": EVIL})
    evil = replace(detect(odd, id="transaction"), source={"name": f"{EVIL}.csv"})
    build_report(evil).save(folder / "evil.html")
    return folder


@pytest.fixture(scope="module")
def summary(pages):
    """What the plain page shows."""
    return json.loads((pages / "plain.json").read_text())


def start_sentence(summary):
    return f"{summary['flagged']} of 800 rows score above {summary['scores']['short_threshold']:g}."


@pytest.fixture
def page(browser, pages):
    """The open page; afterwards, it must have no errors and no network requests."""
    forget_logs(browser)
    visit(browser, pages / "plain.html")
    yield browser
    check_quiet(browser)


def visit(browser, path):
    browser.get(path.as_uri())


def text(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


def shown_names(browser):
    return [
        cell.text
        for cell in browser.find_elements(By.CSS_SELECTOR, "#outliers tr.row:not([hidden]) .open")
    ]


def focused(browser):
    return browser.switch_to.active_element


def press(browser, *keys):
    ActionChains(browser).send_keys(*keys).perform()


def tab_to(browser, wanted, limit=80):
    """Press Tab until ``wanted`` (of the focused element) holds."""
    for _ in range(limit):
        press(browser, Keys.TAB)
        if wanted(focused(browser)):
            return focused(browser)
    raise AssertionError("Tab does not lead there")


def count(browser, selector):
    return browser.execute_script("return document.querySelectorAll(arguments[0]).length", selector)


def state(browser, name):
    return browser.execute_script("return odefsReport.state[arguments[0]]", name)


def test_charts_are_drawn(page, summary):
    assert count(page, "#chart-scores .bar") == len(summary["scores"]["counts"])
    assert count(page, "#chart-map .point") == summary["map"]["drawn"] == 800
    page.find_element(By.CSS_SELECTOR, "#training > summary").click()
    training = summary["training"]
    WebDriverWait(page, 10).until(lambda b: count(b, "#chart-weights .cell"))
    assert count(page, "#chart-weights .cell") == len(training["columns"]) * len(
        training["components"]
    )


def test_bars_are_as_high_as_their_counts_and_the_threshold_stands_between_them(page, summary):
    heights = page.execute_script(
        "return [...document.querySelectorAll('#chart-scores .bar')].map((b) => "
        "b.height.baseVal.value)"
    )
    counts = summary["scores"]["counts"]
    by_count = sorted(range(len(counts)), key=lambda k: counts[k])
    assert sorted(heights) == pytest.approx([heights[k] for k in by_count])
    assert [h == 0 for h in heights] == [n == 0 for n in counts]
    colours = (
        "return [...document.querySelectorAll('#chart-scores .bar')].map((b) => "
        "b.classList.contains('above'))"
    )
    cut, lows = summary["scores"]["short_threshold"], summary["scores"]["edges"][:-1]
    assert page.execute_script(colours) == [low >= cut for low in lows]


def test_the_objective_of_every_component_is_a_line(page, report, tmp_path):
    rounds = [[-0.01, -0.02, -0.025, -0.026], [-0.011, -0.03, -0.031]]
    components = [
        part | {"objective": rounds[k % 2]}
        for k, part in enumerate(report.summary["training"]["components"])
    ]
    summary = report.summary | {"training": report.summary["training"] | {"components": components}}
    replace(report, summary=summary).save(tmp_path / "rounds.html")
    visit(page, tmp_path / "rounds.html")
    page.find_element(By.CSS_SELECTOR, "#training > summary").click()
    WebDriverWait(page, 10).until(lambda b: count(b, "#chart-objective .trace"))
    assert count(page, "#chart-objective .trace") == len(components)


def test_a_tooltip_follows_the_mouse(page, summary):
    bar = page.find_element(By.CSS_SELECTOR, "#chart-scores .bar")
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", bar)
    ActionChains(page).move_to_element(bar).perform()
    assert text(page, "#tip").splitlines()[-1] == f"rows: {summary['scores']['counts'][0]}"


def test_charts_are_drawn_again_where_the_window_changes_its_width(page):
    width = "return Number(document.querySelector('#chart-map svg').getAttribute('width'))"
    before = page.execute_script(width)
    size = {"width": 700, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        WebDriverWait(page, 10).until(lambda b: b.execute_script(width) < before)
        assert count(page, "#chart-map svg") == 1
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_click_opens_a_row_and_a_second_one_closes_it(page, summary):
    row = page.find_element(By.CSS_SELECTOR, "#outliers tr.row .why")
    row.click()
    details = text(page, "tr.details")
    first = summary["top"][0]
    assert f"Why {first['name']} stands out" in details
    assert first["reasons"][0]["column"] == "distance_km"
    for reason in first["reasons"]:
        assert messages.sentence(reason) in details
    assert "beyond the right end" in details
    assert (
        page.find_element(By.CSS_SELECTOR, "tr.row .open").get_attribute("aria-expanded") == "true"
    )
    assert state(page, "picked") == 0
    assert text(page, "#chart-map .picked") == first["name"]
    assert count(page, "#chart-map .ring.shown") == 1
    row.click()
    assert not page.find_elements(By.CSS_SELECTOR, "tr.details")
    assert count(page, "#chart-map .ring.shown") == 0


def test_sorting_follows_the_headers(page, summary):
    header = page.find_element(By.CSS_SELECTOR, "[data-sort=name]")
    header.click()
    names = shown_names(page)
    assert names == sorted(names)
    assert header.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    header.click()
    assert shown_names(page) == sorted(shown_names(page), reverse=True)
    assert header.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    assert len(page.find_elements(By.CSS_SELECTOR, "#outliers [aria-sort]")) == 1
    page.find_element(By.CSS_SELECTOR, "[data-sort=score]").click()
    assert shown_names(page)[:2] == [row["name"] for row in summary["top"][:2]]


def test_searching_narrows_and_clearing_widens(page, summary):
    reasons = {
        row["name"]: " ".join(map(messages.short_reason, row["reasons"])) for row in summary["top"]
    }
    expected = [name for name, said in reasons.items() if "amount = " in said]
    page.find_element(By.ID, "search").send_keys("AMOUNT = ")
    assert shown_names(page) == expected
    assert (
        text(page, "#table-status") == f'{len(expected)} of {len(reasons)} rows: with "amount =".'
    )
    page.find_element(By.ID, "clear").click()
    assert len(shown_names(page)) == 25
    page.find_element(By.ID, "more").click()
    assert len(shown_names(page)) == len(summary["top"])


def test_a_kind_shows_its_rows(page, summary):
    page.find_element(By.CSS_SELECTOR, "[data-kind='0']").click()
    members = summary["kinds"][0]["members"]
    assert shown_names(page) == [summary["top"][i]["name"] for i in members]
    assert text(page, "#table-status") == f"{len(members)} of {len(summary['top'])} rows: kind 1."
    assert state(page, "kept") == members
    assert count(page, "#chart-map .point:not(.beside)") == len(members)
    page.find_element(By.CSS_SELECTOR, "[data-kind='0']").click()
    assert len(shown_names(page)) == 25
    assert count(page, "#chart-map .point.beside") == 0


def test_counts_command_table_map_and_csv_follow_the_threshold(page, summary):
    assert text(page, "#threshold-count") == start_sentence(summary)
    slider = page.find_element(By.ID, "threshold")
    slider.send_keys(*[Keys.ARROW_RIGHT] * 60)
    value = float(text(page, "#threshold-value"))
    assert value > summary["scores"]["threshold"]
    above = int(text(page, "#threshold-count").split()[0])
    assert text(page, "#threshold-count") == f"{above} of 800 rows score above {value:g}."
    assert (
        text(page, "#threshold-command")
        == f"odefs detect transactions.csv --id transaction --threshold {value:g}"
    )
    assert slider.get_attribute("aria-valuetext") == f"{value:g}"
    flags = page.find_elements(By.CSS_SELECTOR, "#outliers td.flag.yes")
    assert len(flags) == above < summary["flagged"]
    assert count(page, "#chart-map .point.above") == above
    colours = (
        "return [...document.querySelectorAll('#chart-scores .bar')].map((b) => "
        "b.classList.contains('above'))"
    )
    assert page.execute_script(colours) == [low >= value for low in summary["scores"]["edges"][:-1]]
    page.find_element(By.ID, "save").click()
    saved = page.downloads / "transactions-outliers.csv"
    WebDriverWait(page, 10).until(lambda _: saved.exists())
    lines = list(csv.DictReader(io.StringIO(saved.read_text(encoding="utf-8-sig"), newline="")))
    assert len(lines) == above
    assert (lines[0]["transaction"], lines[0]["rank"]) == (summary["top"][0]["name"], "1")
    assert all(float(line["score"]) > value for line in lines)
    page.find_element(By.ID, "threshold-reset").click()
    assert text(page, "#threshold-count") == start_sentence(summary)


def test_the_map_opens_rows_and_an_area_narrows_the_table(page, summary):
    chart = page.find_element(By.CSS_SELECTOR, "#chart-map svg")
    page.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart
    )
    # Points are drawn from the lowest score to the highest.
    point = page.find_elements(By.CSS_SELECTOR, "#chart-map .point")[-1 - 8]
    ActionChains(page).move_to_element(point).click().perform()
    assert f"Why {summary['top'][8]['name']} stands out" in text(page, "tr.details")
    assert "Its row is open in the table" in text(page, "#map-status")
    ActionChains(page).move_to_element_with_offset(
        chart, 300, -150
    ).click_and_hold().move_by_offset(180, 300).release().perform()
    WebDriverWait(page, 5).until(
        lambda b: "in the area marked on the map" in text(b, "#table-status")
    )
    narrowed = int(text(page, "#table-status").split()[0])
    assert 0 < narrowed < len(summary["top"])
    was = state(page, "area")
    assert was["x"][0] < was["x"][1]
    brush = page.find_element(By.CSS_SELECTOR, "#chart-map .brush")
    corner = -brush.rect["width"] / 2 + 3, -brush.rect["height"] / 2 + 3
    ActionChains(page).move_to_element_with_offset(brush, *corner).click_and_hold().move_by_offset(
        40, 0
    ).release().perform()
    now = state(page, "area")
    assert now["x"][0] > was["x"][0]
    assert now["x"][1] - now["x"][0] == pytest.approx(was["x"][1] - was["x"][0])
    assert now["y"] == pytest.approx(was["y"])
    page.find_element(By.ID, "clear").click()
    assert text(page, "#table-status").startswith(f"{len(summary['top'])} rows")
    assert state(page, "area") is None
    assert count(page, "#chart-map .brush.shown") == 0


def test_the_main_path_with_tab_and_enter_alone(page, summary):
    page.execute_script("window.scrollTo(0, 0)")
    press(page, Keys.TAB)
    assert focused(page).text == "Skip to the top outliers"
    tab_to(page, lambda element: element.get_attribute("data-kind") == "0")
    press(page, Keys.ENTER)
    assert text(page, "#table-status") == f"8 of {len(summary['top'])} rows: kind 1."
    tab_to(page, lambda element: element.get_attribute("id") == "threshold")
    press(page, Keys.ARROW_RIGHT)
    assert text(page, "#threshold-count") != start_sentence(summary)
    tab_to(page, lambda element: element.get_attribute("id") == "search")
    tab_to(page, lambda element: element.get_attribute("id") == "clear")
    press(page, Keys.ENTER)
    assert focused(page).get_attribute("id") == "search"
    press(page, "T0058")
    assert shown_names(page) == ["T0058"]
    tab_to(page, lambda element: element.get_attribute("data-sort") == "score")
    press(page, Keys.ENTER)
    tab_to(page, lambda element: "open" in element.get_attribute("class").split())
    press(page, Keys.ENTER)
    assert "Why T0058 stands out" in text(page, "tr.details")
    assert focused(page).get_attribute("aria-expanded") == "true"
    button = tab_to(page, lambda element: element.text.startswith("Show all 15 columns"))
    before = len(page.find_elements(By.CSS_SELECTOR, ".strip"))
    assert button.is_displayed()
    press(page, Keys.ENTER)
    assert len(page.find_elements(By.CSS_SELECTOR, ".strip")) == 15 > before


def test_no_sideways_scrolling_on_a_phone(page, pages):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for name in ("plain.html", "evil.html"):
            visit(page, pages / name)
            page.find_element(By.CSS_SELECTOR, "tr.row .open").click()
            assert page.execute_script("return document.documentElement.scrollWidth") == 360
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_mode_reaches_the_charts(page):
    colour = "return getComputedStyle(document.querySelector('#chart-scores .bar.above')).fill"
    light = page.execute_script(colour)
    try:
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        WebDriverWait(page, 5).until(lambda b: b.execute_script(colour) != light)
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_markup_in_the_data_shows_as_text(page, pages):
    visit(page, pages / "evil.html")
    assert len(page.find_elements(By.CSS_SELECTOR, "script")) == 2
    assert text(page, ".file") == f"{EVIL}.csv"
    for button in page.find_elements(By.CSS_SELECTOR, "tr.row .open")[:3]:
        assert button.text.startswith(EVIL)
        button.click()
        assert EVIL in text(page, "tr.details")
    page.find_element(By.CSS_SELECTOR, "#training > summary").click()
    WebDriverWait(page, 10).until(lambda b: EVIL[:8] in text(b, "#chart-weights"))
    assert len(page.find_elements(By.CSS_SELECTOR, "script")) == 2


INJECTED = (
    "<script>document.documentElement.dataset.owned = 'element'</script>",
    "<img src='data:,' onerror=\"document.documentElement.dataset.owned = 'handler'\">",
    "<script src=\"data:text/javascript,document.documentElement.dataset.owned='source'\">"
    "</script>",
    "<style>#top { display: none }</style>",
    "<p id='styled' style='position: fixed'>x</p>",
)


def test_nothing_that_is_put_into_the_page_runs(page, pages, tmp_path):
    """Markup that passes the escaping gets no script or style: the policy lists hashes."""
    content = (pages / "plain.html").read_text(encoding="utf-8")
    (tmp_path / "injected.html").write_text(
        content.replace("<main>", "<main>" + "".join(INJECTED)), encoding="utf-8"
    )
    visit(page, tmp_path / "injected.html")
    assert count(page, "main > script") == 2
    assert page.execute_script("return document.documentElement.dataset.owned ?? null") is None
    assert page.find_element(By.ID, "top").is_displayed()
    assert page.find_element(By.ID, "styled").value_of_css_property("position") == "static"
    assert count(page, "#chart-map .point") == 800, "the page's own script runs"
    complaints = [entry["message"] for entry in page.get_log("browser")]
    assert len([said for said in complaints if "Content Security Policy" in said]) >= len(INJECTED)
    evaluated = "document.documentElement.dataset.owned = eval('1')"
    page.execute_script(
        "const s = document.createElement('button'); s.setAttribute('onclick', arguments[0]); "
        "document.body.append(s); s.click()",
        evaluated,
    )
    assert page.execute_script("return document.documentElement.dataset.owned ?? null") is None
    forget_logs(page)
    visit(page, pages / "plain.html")


def test_the_notebook_frame_works(page, pages, tmp_path):
    frame = pl.read_csv(transactions_path())
    inline = build_report(detect(frame, id="transaction"))._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><body>{inline}", encoding="utf-8")
    page.get((tmp_path / "notebook.html").as_uri())
    page.switch_to.frame(0)
    WebDriverWait(page, 10).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#chart-scores svg"))
    page.find_element(By.CSS_SELECTOR, "tr.row .open").click()
    assert "Why T0422 stands out" in text(page, "tr.details")
    page.switch_to.default_content()
