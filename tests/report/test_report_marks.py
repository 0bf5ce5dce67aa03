"""Marks in a real browser: set, kept, cleared, and saved as a csv that a spreadsheet may open."""

import csv
import json
from dataclasses import replace

import numpy as np
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
from odefs.tables.answers.file import AnswerFile, answered
from odefs.tables.formulas import defused_name
from odefs.tables.table import table_of
from pages import EVIL, mixed_frame

pytestmark = [pytest.mark.slow, needs_browser]

SHA256 = "0123456789abcdef" * 4
BOM = b"\xef\xbb\xbf"
OWN = ["answer", "score", "reasons", "table"]


@pytest.fixture(scope="module")
def report():
    """Of the bundled example, with one hidden column that is a reason."""
    found = detect(pl.read_csv(transactions_path()), id="transaction", hide=["distance_km"])
    return build_report(replace(found, source={"name": "transactions.csv", "sha256": SHA256}))


@pytest.fixture
def page(browser, report, tmp_path):
    """The open page without marks; afterwards, it must have no errors and no network requests."""
    forget_logs(browser)
    visit(browser, report, tmp_path / "page.html")
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    browser.downloads = tmp_path
    yield browser
    check_quiet(browser)


def visit(browser, report, path):
    report.save(path, force=True)
    browser.get(path.as_uri())


def radio(browser, i, verdict):
    return browser.find_element(By.CSS_SELECTOR, f"tr[data-i='{i}'] .mark input[value={verdict}]")


def give(browser, marks):
    for i, verdict in marks.items():
        radio(browser, i, verdict).click()


def given(browser):
    return browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.mark input:checked')]"
        ".map((input) => [input.closest('tr').dataset.i, input.value]))"
    )


def counted(browser):
    return browser.find_element(By.ID, "marks-count").text


def is_shown(browser, id):
    return browser.find_element(By.ID, id).is_displayed()


def saved(browser, button="marks-save", name="transactions-answers.csv"):
    """Save, and return the bytes and the parsed lines, the header first."""
    for before in browser.downloads.glob(name):
        before.unlink()
    browser.find_element(By.ID, button).click()
    (path,) = WebDriverWait(browser, 10).until(lambda b: list(b.downloads.glob(name)))
    with path.open(encoding="utf-8-sig", newline="") as file:
        return path.read_bytes(), list(csv.reader(file, strict=True))


MARKS = {0: "real", 1: "real", 2: "fine", 5: "unsure", 8: "real"}
KEPT = {str(i): verdict for i, verdict in MARKS.items()}


def test_marks_are_counted_kept_and_cleared(page, report):
    listed = len(report.summary["top"])
    assert counted(page) == "No row is marked"
    assert not page.find_element(By.ID, "marks-save").is_enabled()
    give(page, MARKS)
    assert counted(page) == f"3 real, 1 fine, 1 unsure of {listed}"
    assert not page.find_elements(By.CSS_SELECTOR, "tr.details"), "marking must not open the row"
    page.refresh()
    assert given(page) == KEPT
    assert counted(page) == f"3 real, 1 fine, 1 unsure of {listed}"
    clear = page.find_element(By.ID, "marks-clear")
    clear.click()
    assert given(page) == {}
    assert page.execute_script("return localStorage.length") == 0
    assert clear.text == "Restore 5 marks"
    clear.click()
    assert given(page) == KEPT
    clear.click()
    page.refresh()
    assert given(page) == {}
    assert not is_shown(page, "marks-clear")


def test_a_mark_changes_and_a_second_click_removes_it(page):
    give(page, {0: "real"})
    give(page, {0: "fine"})
    assert given(page) == {"0": "fine"}
    give(page, {0: "fine"})
    assert given(page) == {}


def test_marks_by_keyboard_and_their_labels(page, report):
    page.execute_script("document.querySelector('tr[data-i=\"0\"] .open').focus()")
    keys = ActionChains(page)
    keys.send_keys(Keys.TAB, Keys.SPACE).perform()
    assert given(page) == {"0": "real"}
    keys.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    assert given(page) == {"0": "unsure"}
    focused = page.switch_to.active_element
    assert focused.accessible_name == "unsure"
    group = focused.find_element(By.XPATH, "ancestor::*[@role='radiogroup']")
    assert group.accessible_name == f"Mark of transaction {report.summary['top'][0]['name']}"
    keys.send_keys(Keys.TAB, Keys.TAB, Keys.SPACE).perform()
    assert given(page) == {"0": "unsure", "1": "real"}
    keys.send_keys(Keys.DELETE).perform()
    assert given(page) == {"0": "unsure"}


def test_rows_are_sorted_by_mark(page):
    give(page, MARKS)
    page.find_element(By.CSS_SELECTOR, "[data-sort=mark]").click()
    order = [
        int(row.get_attribute("data-i"))
        for row in page.find_elements(By.CSS_SELECTOR, "#outliers tr.row")
    ]
    assert order[:6] == [0, 1, 8, 2, 5, 3]


def test_the_csv_has_values_reasons_and_answers(page, report):
    give(page, MARKS)
    content, (header, *lines) = saved(page)
    summary = report.summary
    columns = summary["values"]["columns"]
    assert header == ["transaction", *OWN, *columns]
    assert content.startswith(BOM)
    assert content.count(b"\r\n") == content.count(b"\n") == 1 + len(MARKS)
    answers = {"real": "yes", "fine": "no", "unsure": "unsure"}
    kinds = {record["column"]: record["kind"] for record in summary["distributions"]}
    for (i, verdict), line in zip(MARKS.items(), lines, strict=True):
        row = summary["top"][i]
        assert line[:2] == [row["name"], answers[verdict]]
        assert float(line[2]) == pytest.approx(row["score"], rel=1e-5)
        assert line[3] == "; ".join(map(messages.short_reason, row["reasons"]))
        assert line[4] == f"sha256:{SHA256[:16]}"
        for name, cell, text in zip(columns, summary["values"]["rows"][i], line[5:], strict=True):
            if kinds[name] == "number":
                assert float(text) == cell, "all digits"
            else:
                assert text == messages.value(cell, kinds[name])


def test_the_second_button_adds_flagged_rows_without_an_answer(page, report):
    last = len(report.summary["top"]) - 1
    flagged = sum(row["flagged"] for row in report.summary["top"])
    assert not report.summary["top"][last]["flagged"]
    _, (_, *lines) = saved(page, "marks-save-all")
    assert [line[1] for line in lines] == [""] * flagged
    page.find_element(By.ID, "more").click()
    give(page, {3: "fine", last: "real"})
    _, (_, *lines) = saved(page, "marks-save-all")
    assert [line[1] for line in lines] == ["", "", "", "no", *[""] * (flagged - 4), "yes"]


def test_hidden_columns_are_not_in_the_csv(page, report):
    assert any(reason["hidden"] for row in report.summary["top"] for reason in row["reasons"])
    _, (header, *lines) = saved(page, "marks-save-all")
    assert "distance_km" not in header
    assert any("distance_km (hidden)" in line[3] for line in lines), "as on the page"
    distances = pl.read_csv(transactions_path())["distance_km"].cast(pl.String)
    largest = [text for text in distances if float(text) > 5000]
    assert largest
    assert not {cell for line in lines for cell in line} & set(largest)


def test_markup_and_formulas_in_names_and_values_stay_text(page, tmp_path):
    formulas = ["=1+1", "+x", "-x", "@x", "\t=1", "\r=1", 'a"b,c', EVIL]
    frame = mixed_frame()
    frame = frame.with_columns(
        pl.Series("=name", [*formulas, *["plain"] * 392]),
        amount=-frame["amount"],
        answer=pl.Series(np.random.default_rng(1).normal(size=400)),
        id=pl.Series([f"{formulas[i % 8]}{i}" for i in range(400)]),
    ).rename({"shop": EVIL, "id": "=id"})
    found = detect(frame, id="=id", keep=["=name"])
    report = build_report(replace(found, source={"name": f"{EVIL}.csv"}))
    visit(page, report, tmp_path / "evil.html")
    names = [row["name"] for row in report.summary["top"]]
    assert {name[0] for name in names[:8]} >= set("=+-@\t\r")
    page.find_element(By.ID, "more").click()
    give(page, dict.fromkeys(range(len(names)), "real"))
    assert page.execute_script("return document.scripts.length") == 2
    labels = page.find_elements(By.CSS_SELECTOR, "[role=radiogroup]")
    assert any(EVIL in label.get_attribute("aria-label") for label in labels)
    # The browser replaces the characters that file names may not have.
    _, (header, *lines) = saved(page, name="*script*-answers.csv")
    assert header[:5] == ["'=id", *OWN]
    assert {"'=name", EVIL, "answer (input)"} <= set(header)
    assert len(set(header)) == len(header)
    assert [line[0] for line in lines] == [defused_name(name) for name in names]
    assert {line[4] for line in lines} == {""}, "the table is unknown"
    texts = {line[header.index("'=name")] for line in lines}
    assert {"'=1+1", "'+x", "'-x", "'@x", "'\t=1", "'\r=1", 'a"b,c', EVIL} <= texts
    assert all(float(line[header.index("amount")]) < 0 for line in lines), "numbers stay numbers"
    for line in lines:
        for cell in line:
            assert cell[:1] not in set("=+-@\t\r") or float(cell) < 0


def test_rows_without_an_id_are_saved_by_their_number(page, tmp_path):
    frame = mixed_frame().with_columns(
        amount=pl.when(pl.int_range(400) == 8).then(None).otherwise(pl.col("amount"))
    )
    report = build_report(replace(detect(frame), source={"name": "t.csv", "sha256": SHA256}))
    visit(page, report, tmp_path / "numbers.html")
    _, (header, *lines) = saved(page, "marks-save-all", "t-answers.csv")
    assert header[0] == "row"
    rows = [row for row in report.summary["top"] if row["flagged"]]
    assert [line[0] for line in lines] == [str(row["row"]) for row in rows]
    assert [line[header.index("amount")] for line in lines if line[0] == "9"] == [""]
    days = {line[header.index("day")] for line in lines}
    assert all(day.startswith("2024-") for day in days)


@pytest.mark.parametrize("ids", ["row", "Answer"])
def test_the_command_line_reads_the_verdicts_whatever_the_columns_are_called(page, ids, tmp_path):
    frame = mixed_frame()
    rng = np.random.default_rng(1)
    frame = frame.with_columns(
        pl.Series("ANSWER", rng.choice(["yes", "no"], 400)),
        pl.Series("Time", rng.normal(size=400)),
        pl.Series(ids, rng.permutation(400) + 1),
    )
    report = build_report(replace(detect(frame, id=ids), source={"name": "t.csv"}))
    visit(page, report, tmp_path / "names.html")
    give(page, {0: "real", 1: "fine", 2: "unsure"})
    _, (header, *_) = saved(page, name="t-answers.csv")
    assert header[:2] == [f"{ids} (id)", "answer"]
    assert {"ANSWER (input)", "Time (input)"} <= set(header)
    file = AnswerFile(tmp_path / "t-answers.csv", table_of(frame), "", ids)
    rows = [row["row"] - 1 for row in report.summary["top"][:3]]
    assert answered(file.read()) == (rows, [True, False, None])


def test_marks_belong_to_one_table(page, report, tmp_path):
    give(page, {0: "real"})
    other = build_report(replace(detect(mixed_frame()), source={"name": "transactions.csv"}))
    visit(page, other, tmp_path / "other.html")
    assert given(page) == {}
    give(page, {1: "fine"})
    visit(page, report, tmp_path / "renamed.html")
    assert given(page) == {"0": "real"}


def test_another_tab_follows(page):
    first = page.current_window_handle
    address = page.current_url
    page.switch_to.new_window("tab")
    try:
        page.get(address)
        give(page, {4: "unsure"})
    finally:
        page.close()
        page.switch_to.window(first)
    WebDriverWait(page, 10).until(lambda b: given(b) == {"4": "unsure"})


@pytest.mark.parametrize("content", ["", "{", "[1]", '"x"', '{"0":"owned","999":"real","x":1}'])
def test_stored_content_that_is_no_mark_is_ignored(page, content):
    give(page, {0: "real"})
    page.execute_script("localStorage.setItem(localStorage.key(0), arguments[0])", content)
    page.refresh()
    assert given(page) == {}
    assert counted(page) == "No row is marked"
    give(page, {1: "fine"})
    page.refresh()
    assert given(page) == {"1": "fine"}


def test_the_page_works_where_storage_is_forbidden(page, report, tmp_path):
    """The frame of a notebook has an opaque origin, for which browsers forbid storage."""
    inline = report._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><body>{inline}", encoding="utf-8")
    page.get((tmp_path / "notebook.html").as_uri())
    page.switch_to.frame(0)
    WebDriverWait(page, 10).until(lambda b: counted(b) == "No row is marked")
    probe = "try { return localStorage.length } catch (error) { return error.name }"
    assert page.execute_script(probe) == "SecurityError"
    assert is_shown(page, "marks-lost")
    assert not is_shown(page, "marks-stored")
    give(page, {0: "real", 1: "fine"})
    assert given(page) == {"0": "real", "1": "fine"}
    _, lines = saved(page)
    assert [line[1] for line in lines] == ["answer", "yes", "no"]
    page.switch_to.default_content()


def test_the_page_says_when_storage_is_full(page):
    assert is_shown(page, "marks-stored")
    page.execute_script(
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }"
    )
    give(page, {0: "real"})
    assert given(page) == {"0": "real"}
    assert is_shown(page, "marks-lost")


def test_marks_print_as_words_without_buttons(page):
    def printed():
        return [
            cell.text
            for cell in page.find_elements(By.CSS_SELECTOR, "td.mark")
            if cell.text.strip()
        ]

    try:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        assert printed() == []
        assert not is_shown(page, "marks")
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        give(page, MARKS)
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        assert printed() == list(MARKS.values())
        assert is_shown(page, "marks-count")
        assert not any(
            button.is_displayed() for button in page.find_elements(By.CSS_SELECTOR, "#marks button")
        )
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_marks_fit_a_phone(page):
    size = {"width": 390, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.refresh()
        give(page, MARKS)
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
        box = radio(page, 0, "fine").rect
        assert min(box["width"], box["height"]) >= 24
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_identity_is_of_the_listed_rows_and_the_table(report):
    source = report.summary["source"]
    frame = pl.read_csv(transactions_path())
    found = detect(frame, id="transaction", hide=["distance_km"])
    again = build_report(replace(found, source=source, notes=[]))
    assert again.drawing["identity"] == report.drawing["identity"]
    others = [
        replace(found, source=source | {"sha256": "ff" * 32}),
        replace(found, source=source, scores=found.scores * 1.01),
    ]
    for other in others:
        assert build_report(other).drawing["identity"] != report.drawing["identity"]
    data = json.loads(report.html().partition('id="data">')[2].partition("</script>")[0])
    assert (data["page"], data["table"]) == (report.drawing["identity"], f"sha256:{SHA256[:16]}")
