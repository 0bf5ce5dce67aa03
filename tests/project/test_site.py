"""The site is built without warnings; links work, public names are listed, no network needed."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import pytest
from selenium.webdriver.common.by import By

import odefs
from browser import CHROMIUM, DRIVER, check_quiet, forget_logs, start_browser
from locations import ROOT

BUILD = ROOT / "docs" / "site" / "build.py"
KEY_PAGES = [
    "index",
    "gallery/tutorial",
    "gallery/which_columns",
    "gallery/threshold",
    "gallery/when_selection_helps",
    "tutorials/analyst",
    "tutorials/data-scientist",
    "tutorials/researcher",
    "tutorials/platform-engineer",
    "how-to/add-a-detector",
    "how-to/large-tables",
    "how-to/gpu",
    "reference/paper",
    "reference/formulas",
    "explanation/results",
    "explanation/performance",
    "explanation/peers",
    "explanation/contract",
    "how-to/ecosystems",
    "how-to/onnx",
    "reference/command-line",
    "project/security",
    "reference/api/index",
]


class Page(HTMLParser):
    """What a page loads, where it leads, which places in it can be led to, and its elements."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.leads, self.places, self.tags = [], [], set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.places |= {attrs.get("id"), attrs.get("name") if tag == "a" else None}
        if tag == "a":
            self.leads.append(attrs.get("href") or "")
        elif tag == "link" and {"stylesheet", "preload", "icon"} & set(
            (attrs.get("rel") or "").split()
        ):
            self.loads.append(attrs["href"])
        elif tag in ("script", "img", "iframe", "source") and attrs.get("src"):
            self.loads.append(attrs["src"])


def named_in_api(html):
    """Names that the site's API reference describes."""
    pages = (html / "reference" / "api" / "generated").glob("*.html")
    return set().union(
        *(
            re.findall(r'class="sig sig-object py" id="([\w.]+)"', page.read_text())
            for page in pages
        )
    )


def check_links(html):
    """Nothing is loaded from other hosts; links within the site resolve."""
    pages = {path: Page(path) for path in html.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 60
    for path, page in pages.items():
        name = path.relative_to(html)
        for target in page.loads:
            assert not re.match(r"(\w+:)?//", target), f"{name} loads {target}"
        for target in [*page.loads, *page.leads]:
            if re.match(r"\w+:", target):
                continue
            file, place = urldefrag(target.split("?")[0])
            leads_to = (path.parent / unquote(file)).resolve() if file else path
            assert leads_to.exists(), f"{name} leads to {target}"
            if place and leads_to in pages:
                assert unquote(place) in pages[leads_to].places, (
                    f"{name} leads to {target}, a place that is not there"
                )


@pytest.mark.slow
def test_the_site(tmp_path):
    """One test, since the build is slow and every pytest worker would repeat it."""
    environment = {key: value for key, value in os.environ.items() if key != "ODEFS_DATA"}
    line = [sys.executable, str(BUILD), str(tmp_path / "site")]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    html = tmp_path / "site" / "html"

    for name in KEY_PAGES:
        assert (html / f"{name}.html").exists(), name
    described = named_in_api(html)
    assert {f"odefs.{name}" for name in odefs.__all__ if name != "__version__"} <= described
    assert {
        "odefs.ODEFS.fit",
        "odefs.ODEFS.explain",
        "odefs.ODEFS.paper",
        "odefs.ODEFS.trust_",
    } <= described
    assert {
        "odefs.baselines.CINFO",
        "odefs.detectors.Detector",
        "odefs.theory.theorem1",
    } <= described
    check_links(html)
    assert "math" in Page(html / "reference" / "formulas.html").tags
    for script in (ROOT / "docs" / "examples").glob("*.py"):
        assert list((html / "_images").glob(f"sphx_glr_{script.stem}_*.png")), (
            f"{script.name} draws nothing"
        )
    if not (CHROMIUM and DRIVER):
        pytest.skip(
            "built and checked, but not looked at: chromium and chromedriver are not installed"
        )
    look_at(html, tmp_path)


def look_at(html, folder):
    browser = start_browser(folder / "profile", folder / "downloads")
    try:
        for name in (
            "index",
            "gallery/when_selection_helps",
            "reference/formulas",
            "explanation/results",
        ):
            forget_logs(browser)
            browser.set_window_size(1200, 1000)
            browser.get((html / f"{name}.html").as_uri())
            check_quiet(browser, may_say=("INFO",))
            assert browser.find_element(By.TAG_NAME, "h1").is_displayed()
            pictures = browser.find_elements(By.CSS_SELECTOR, "article img")
            browser.execute_script(
                "document.querySelectorAll('img').forEach(image => image.loading = 'eager')"
            )
            shown = "return Promise.all(arguments[0].map(image => image.decode())).then(() => true)"
            assert browser.execute_script(shown, pictures)
            wide = (
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            for width in (1200, 500):
                browser.set_window_size(width, 900)
                assert browser.execute_script(wide) <= 0, (
                    f"{name} is wider than a window of {width}"
                )
    finally:
        browser.quit()


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_site", BUILD)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_are_turned_into_the_sites(build):
    staged = {
        "docs/guides/a.md": "guides/a.md",
        "docs/b.md": "b.md",
        "docs/examples/c.py": "examples/c.py",
        "SECURITY.md": "project/security.md",
    }
    text = "[b](../b.md#part) [s](../../SECURITY.md) [c](../examples/c.py) [w](https://x.org/b.md)\n```md\n[b](../../SECURITY.md)\n```\n"
    turned = build.turn_links(text, "docs/guides/a.md", staged)
    assert turned == (
        "[b](../b.md#part) [s](../project/security.md) [c](../gallery/c.rst) [w](https://x.org/b.md)\n"
        "```md\n[b](../../SECURITY.md)\n```\n"
    )
    assert build.turn_links("[b](docs/b.md)", "SECURITY.md", staged) == "[b](../b.md)"
    with pytest.raises(SystemExit, match="which is no part of the site"):
        build.turn_links("[m](../Makefile)", "docs/b.md", staged)


def test_staging_follows_the_sources(build, tmp_path):
    root, source = tmp_path / "root", tmp_path / "source"
    (root / "docs" / "site").mkdir(parents=True)
    for name in ("docs/a.md", "docs/b.md", "docs/site/conf.py", "SECURITY.md"):
        (root / name).write_text(f"{name}\n")
    build.stage(source, root)
    (source / "gallery").mkdir()
    (source / "gallery" / "made.rst").write_text("made")
    before = (source / "a.md").stat().st_mtime_ns
    (root / "docs" / "b.md").unlink()
    build.stage(source, root)
    assert (source / "a.md").stat().st_mtime_ns == before
    assert not (source / "b.md").exists()
    assert (source / "gallery" / "made.rst").exists()
    assert (source / "project" / "security.md").read_text() == "SECURITY.md\n"
