"""The review in a real browser: keys, buttons, two tabs, a killed server, hostile cells."""

import json
import signal

import polars as pl
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import needs_browser, start_browser
from command import read
from odefs.cli.commands.review import PAGE
from pages import EVIL, mixed_frame
from review_server import review

pytestmark = [pytest.mark.slow, needs_browser]
KEYS = {"yes": "y", "no": "n", "unsure": "u"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    yield driver
    driver.quit()


@pytest.fixture
def table(tmp_path):
    """A table with markup in names, ids and cells."""
    frame = mixed_frame(200).with_columns(
        shop=pl.col("shop").replace("moon", EVIL),
        who=pl.Series([f"{EVIL}{k}" for k in range(200)]),
        free=pl.Series([f"<img src=x onerror=alert(1)>{k}" for k in range(200)]),
    )
    path = tmp_path / "hostile.csv"
    frame.rename({"amount": EVIL}).write_csv(path)
    return path


def text(browser, name):
    return browser.execute_script(f"return document.getElementById('{name}').textContent")


def wait(browser, condition):
    return WebDriverWait(browser, 60).until(lambda _: condition())


def open_page(browser, server):
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(server.address)
    wait(browser, lambda: text(browser, "title"))


def press(browser, key):
    """Press a key, and wait for what follows it."""
    before = text(browser, "progress")
    ActionChains(browser).send_keys(key).perform()
    wait(browser, lambda: text(browser, "progress") != before)


def click(browser, name):
    """Scroll to a control, above the bar of answers, and click it."""
    control = browser.find_element(By.ID, name)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", control)
    control.click()


def check_quiet(browser, server):
    """No errors, no dialogs, and no requests but to the server itself."""
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert [url for url in asked if not url.startswith((server.address, "data:"))] == []


def test_a_whole_review_by_keys_of_a_hostile_table(browser, table, tmp_path):
    given = ["yes", "no", "unsure", "yes", "no", "no"]
    with review(tmp_path, table, "--id", "who") as server:
        open_page(browser, server)
        for word in given:
            assert EVIL in text(browser, "title"), "markup is shown as text"
            press(browser, KEYS[word])
        assert text(browser, "progress") == "6 rows looked at: 2 outliers, 3 ordinary, 1 unsure."
        assert EVIL in text(browser, "strips")
        assert "<img src=x" in text(browser, "other-values")
        assert EVIL in text(browser, "similar-rows")
        assert browser.find_elements(By.CSS_SELECTOR, "#curve .curve")
        assert len(browser.find_elements(By.TAG_NAME, "script")) == 1
        assert not browser.find_elements(By.TAG_NAME, "img")
        press(browser, "z")
        assert text(browser, "progress").startswith("5 rows looked at")
        press(browser, "n")
        check_quiet(browser, server)
        click(browser, "finish")
        wait(browser, lambda: text(browser, "end-title"))
        assert server.process.wait(60) == 0
    lines = read(tmp_path / "hostile.answers.csv")
    assert [line["answer"] for line in lines] == given
    assert len({line["who"] for line in lines}) == len(given)


def test_buttons_focus_and_the_switch_for_keys(browser, tmp_path):
    with review(tmp_path) as server:
        open_page(browser, server)
        before = text(browser, "progress")
        assert not browser.find_element(By.ID, "undo").is_enabled()
        browser.find_element(By.CSS_SELECTOR, "[data-answer=no]").click()
        wait(browser, lambda: text(browser, "progress") != before)
        assert browser.switch_to.active_element.get_attribute("id") == "title"
        assert text(browser, "notice").startswith("Saved: transaction ")
        click(browser, "keys")
        ActionChains(browser).send_keys("y").perform()
        click(browser, "keys")
        press(browser, "y")
        assert text(browser, "progress") == "2 rows looked at: 1 outlier, 1 ordinary."
        click(browser, "more")
        assert len(browser.find_elements(By.CSS_SELECTOR, "#strips .strip")) == 15
        named = browser.execute_script(
            "return [...document.querySelectorAll('button, input, [role=img], svg[role=img]')]"
            ".filter((e) => e.checkVisibility() && !(e.getAttribute('aria-label') || "
            "e.textContent.trim() || e.labels?.length)).length"
        )
        assert named == 0, "every control and chart has a name"
        check_quiet(browser, server)


def test_a_phone_needs_no_sideways_scrolling(browser, table, tmp_path):
    with review(tmp_path, table) as server:
        size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            open_page(browser, server)
            press(browser, "n")
            press(browser, "y")
            widths = "return [document.documentElement.scrollWidth, innerWidth]"
            assert browser.execute_script(widths) == [390, 390]
            for button in browser.find_elements(By.CSS_SELECTOR, "#answers button"):
                assert button.is_displayed()
                assert button.size["height"] >= 44
        finally:
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_second_tab_doubles_nothing(browser, tmp_path):
    with review(tmp_path) as server:
        open_page(browser, server)
        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        try:
            browser.get(server.address)
            wait(browser, lambda: text(browser, "title"))
            # The tab stays as it is while another client answers its row.
            state = server.answer(server.state(), "yes")
            press(browser, "n")
            assert "that answer stays" in text(browser, "notice")
            assert text(browser, "progress") == "1 row looked at: 1 outlier, 0 ordinary."
            press(browser, "n")
        finally:
            browser.close()
            browser.switch_to.window(first)
        wait(browser, lambda: text(browser, "progress").startswith("2 rows"))
        press(browser, "y")
    lines = read(tmp_path / "transactions.answers.csv")
    assert [line["answer"] for line in lines] == ["yes", "no", "yes"]
    assert state["found"] == [1]


def test_a_killed_server_is_noticed_and_its_answers_are_kept(browser, tmp_path):
    with review(tmp_path) as server:
        open_page(browser, server)
        press(browser, "y")
        press(browser, "n")
        server.end(signal.SIGKILL)
        ActionChains(browser).send_keys("y").perform()
        wait(browser, lambda: "not running any more" in text(browser, "alert"))
    file = tmp_path / "transactions.answers.csv"
    assert [line["answer"] for line in read(file)] == ["yes", "no"]
    with review(tmp_path) as server:
        open_page(browser, server)
        assert text(browser, "progress") == "2 rows looked at: 1 outlier, 1 ordinary."
        press(browser, "u")
    assert [line["answer"] for line in read(file)] == ["yes", "no", "unsure"]


def test_the_file_for_the_browser_leads_to_the_page(browser, tmp_path):
    with review(tmp_path) as server:
        file = tmp_path / "review.html"
        file.write_text(PAGE.format(address=server.address))
        browser.get(file.as_uri())
        wait(browser, lambda: browser.current_url == server.address and text(browser, "title"))
        press(browser, "y")
        browser.refresh()
        wait(browser, lambda: text(browser, "progress").startswith("1 row looked at"))


def test_a_long_run_of_ordinary_rows_suggests_to_stop(browser, tmp_path):
    with review(tmp_path) as server:
        state = server.state()
        answered = 0
        while not state["stop"]:
            state = server.answer(state, "no")
            answered += 1
            assert answered <= 100
        open_page(browser, server)
        assert text(browser, "stop").startswith("Stop here? ")
        assert browser.find_element(By.ID, "stop").is_displayed()
