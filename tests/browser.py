"""A headless browser, with checks for errors and network requests."""

import importlib.util
import json
import shutil

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",  # or a click comes while the page still glides
    "--window-size=1200,1000",
)
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER and importlib.util.find_spec("selenium")),
    reason="chromium, chromedriver and selenium are not all installed",
)


def start_browser(profile, downloads):
    from selenium import webdriver  # here, for the lowest versions are tested without it

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(30)
    driver.downloads = downloads
    driver.get("about:blank")  # the page the browser begins with loads parts of the browser itself
    return driver


def forget_logs(browser):
    browser.get_log("performance")
    browser.get_log("browser")


def check_quiet(browser, may_say=()):
    """The page had no errors and sent no requests since :func:`forget_logs`."""
    assert [entry for entry in browser.get_log("browser") if entry["level"] not in may_say] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked, "the page itself must show in the log"
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
