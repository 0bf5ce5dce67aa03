"""Layout of the page in a real browser: long names, narrow windows, print, large pages."""

import base64
import re
import zlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import check_quiet, forget_logs, needs_browser
from odefs import ODEFS
from odefs.detection import detect
from odefs.report import build_report
from odefs.tables import messages
from odefs.tables.records.notes import Provenance

pytestmark = [pytest.mark.slow, needs_browser]

LONG = "a column whose name goes on with units, instruments and remarks " * 4
SOLID = "x" * 240
OPENS = "return performance.timing.loadEventEnd - performance.timing.navigationStart"
WIDTHS = "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"


@pytest.fixture(scope="module")
def long_report():
    """Long names of the file, of columns, of categories and of rows."""
    rng = np.random.default_rng(0)
    columns = {f"measured quantity {k:02d}": rng.normal(size=200) for k in range(6)}
    columns |= {LONG: rng.normal(size=200), SOLID: rng.normal(size=200)}
    columns[LONG][:3] += 30
    columns[SOLID][3:6] += 30
    places = ["near", "b" * 230, *["far"] * 196, *["a category with a long text " * 9] * 2]
    names = [f"{SOLID}{i}" for i in range(200)]
    frame = pl.DataFrame(columns).with_columns(pl.Series("place", places), id=pl.Series(names))
    found = detect(frame, id="id", flag=12)
    run = Provenance(command=f"odefs detect {SOLID}.csv")
    return build_report(replace(found, source={"name": f"{SOLID}.csv"}, run=run))


@pytest.fixture
def page(browser, report, tmp_path):
    """The open page; afterwards, it must have no errors and no network requests."""
    forget_logs(browser)
    visit(browser, report, tmp_path / "page.html")
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    check_quiet(browser)


def visit(browser, report, path):
    report.save(path, force=True)
    browser.get(path.as_uri())


def resize(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def text(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


OVERLAPS = """
const parts = [
  "main section > *", ".tools > *", ".kinds > li", ".facts > *", ".threshold > *",
  "tr.row:not([hidden]) > *", ".compare tr > *", ".values tr > *", ".importances > * > tr > *",
];
const isSeen = (e) => !e.closest(".away, [hidden], details:not([open])") && e.checkVisibility();
const boxes = [...document.querySelectorAll(parts.join(", "))].filter(isSeen);
const start = (e) => e.outerHTML.slice(0, 80);
const found = [];
for (const one of boxes) {
  const a = one.getBoundingClientRect();
  const isOutside = a.left < -1 || a.right > innerWidth + 1;
  if (isOutside && !one.closest(".scroller")) found.push(`outside: ${start(one)}`);
  for (const other of boxes) {
    if (other === one) break;
    if (other.parentElement !== one.parentElement) continue;
    const b = other.getBoundingClientRect();
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1) found.push(`${start(one)} overlaps ${start(other)}`);
  }
}
return found;
"""


@pytest.mark.parametrize("width", [390, 1300])
def test_long_names_fit_without_overlaps(page, long_report, tmp_path, width):
    resize(page, width)
    visit(page, long_report, tmp_path / "long.html")
    page.find_element(By.CSS_SELECTOR, "tr.row .open").click()
    for button in page.find_elements(By.CSS_SELECTOR, ".column-open")[:9]:
        button.click()
    inner, outer = page.execute_script(WIDTHS)
    assert inner == outer <= width
    assert page.execute_script(OVERLAPS) == []


REASONS = """
return [...document.querySelectorAll("tr.row:not([hidden]) .why")].flatMap((why) => {
  const boxes = [...why.children].map((e) => e.getBoundingClientRect());
  const isBelow = (a, b) => b.top >= a.bottom - 0.5;
  return boxes.slice(1).map((b, k) => isBelow(boxes[k], b) || b.left - boxes[k].right >= 3);
});
"""


@pytest.mark.parametrize("width", [390, 500, 700, 1300])
def test_reasons_of_a_row_are_apart(page, report, width):
    resize(page, width)
    are_apart = page.execute_script(REASONS)
    assert are_apart
    assert all(are_apart)


def test_the_headline_has_at_most_two_lines_at_any_width(page, report, long_report, tmp_path):
    lines = (
        "const h = document.querySelector('h1'); const height = h.getBoundingClientRect().height;"
        "return Math.round(height / parseFloat(getComputedStyle(h).lineHeight))"
    )
    for one in (report, long_report):
        visit(page, one, tmp_path / "headline.html")
        for width in (320, 390, 600, 900, 1300, 2000):
            resize(page, width)
            assert page.execute_script(lines) <= 2, width


PLOT = (
    "const [l, f] = ['.cut', '.frame'].map((s) => document.querySelector('#chart-scores ' + s)"
    ".getBoundingClientRect()); return [l.left - f.left, f.right - l.right, l.top - f.top]"
)


@pytest.mark.parametrize("beyond", [1.02, 1.15, 1e6])
def test_the_threshold_line_stays_inside_the_plot(page, tmp_path, beyond):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    highest = detect(frame).scores.max()
    visit(page, build_report(detect(frame, threshold=beyond * highest)), tmp_path / "none.html")
    assert min(page.execute_script(PLOT)[:2]) > 1
    # A threshold on the axis needs no arrow.
    assert bool(page.find_elements(By.CSS_SELECTOR, "#chart-scores .picked.shown")) == (beyond > 2)
    slider = page.find_element(By.ID, "threshold")
    slider.send_keys(Keys.HOME)
    assert min(page.execute_script(PLOT)[:2]) >= 0


def printed_text(browser):
    """Content streams of the printed pages, and the number of pages."""
    result = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    content = base64.b64decode(result["data"])
    streams = []
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            streams.append(zlib.decompress(part))
        except zlib.error:
            continue
    return b"\n".join(streams), len(re.findall(rb"/Type\s*/Page\b", content))


def test_print_has_text_and_no_controls(page, report, tmp_path):
    streams, pages = printed_text(page)
    assert streams.count(b"Tj") + streams.count(b"TJ") > 100, "text is printed as text"
    assert 2 <= pages <= 8
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(page, 718)
    try:
        controls = "input, select, .quiet, .save, .tools, .threshold, .take"
        visible = [
            one for one in page.find_elements(By.CSS_SELECTOR, controls) if one.is_displayed()
        ]
        assert visible == []
        assert page.execute_script("return document.documentElement.scrollWidth") <= 718
        tables = (
            "return [...document.querySelectorAll('table')]"
            ".map((table) => table.scrollWidth - table.clientWidth)"
        )
        assert max(page.execute_script(tables)) <= 0
        assert text(page, "h1") == messages.headline(report.summary)
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def many_flagged():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=100_000) for name in "abcdef"})
    return detect(frame, contamination=0.5, model=ODEFS(n_estimators=2, random_state=0))


def many_columns():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"measured quantity {k:04d}": rng.normal(size=300) for k in range(2000)})
    return detect(frame, flag=150, model=ODEFS(n_estimators=2, random_state=0))


@pytest.mark.parametrize("make", [many_flagged, many_columns])
def test_large_pages_are_small_and_open_quickly(page, tmp_path, make):
    report = build_report(make())
    path = tmp_path / "large.html"
    times = []
    for _ in range(3):
        visit(page, report, path)
        WebDriverWait(page, 20).until(lambda b: b.execute_script(OPENS) > 0)
        times.append(page.execute_script(OPENS))
    assert path.stat().st_size < 5_000_000
    # Far above what an idle machine takes: a loaded one must not fail here.
    assert min(times) < 10_000
    flagged, listed = report.summary["flagged"], len(report.summary["top"])
    if flagged > listed:
        assert f"{listed} of the {flagged:,} flagged rows are listed" in text(page, "#table-status")
    held = len(report.drawing["csv"]["lines"])
    if flagged > held:
        assert f"{held} of these {flagged:,} rows" in text(page, "#save-hint")
