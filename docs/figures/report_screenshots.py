"""Take the pictures of the guide to the report: ``python docs/figures/report_screenshots.py``.

Four pages (small, wide, many rows flagged, none flagged), each in a wide window in light and dark,
in a window of 390 pixels, and printed; and an open row and column. Needs chromium, chromedriver,
selenium, pillow and pypdfium2. With a folder as argument it also writes every view in full size.
"""

import base64
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pypdfium2
from PIL import Image
from selenium import webdriver

FOLDER = Path(__file__).parent
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
HEIGHT, SCALE, COLOURS = 1100, 0.45, 48
LONG = "temperature of the sensor behind the second valve of the northern line, in kelvin, "
OPEN = (
    "document.querySelector('tr.row .open').click();"
    "for (const one of [...document.querySelectorAll('.column-open')].slice(0, 2)) one.click();"
)


def tables(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each page and the arguments of its command."""
    rng = np.random.default_rng(0)
    yield "small", []
    wide = {f"measured quantity {k:04d}": rng.normal(size=400).round(3) for k in range(2000)}
    wide[LONG * 3] = rng.normal(size=400).round(3)
    wide[LONG * 3][:6] += 40
    wide["place"] = rng.choice(["north", "south", "a place with a very long name " * 8], 400)
    pl.DataFrame(wide).write_csv(folder / f"{'measurements_of_all_sensors_' * 7}.csv")
    yield "wide", [f"{'measurements_of_all_sensors_' * 7}.csv", "--flag", "12"]
    many = {f"c{k:02d}": rng.normal(size=200_000).round(3) for k in range(8)}
    pl.DataFrame(many).write_csv(folder / "many.csv")
    yield "many", ["many.csv", "--contamination", "0.25"]
    none = {name: rng.normal(size=300).round(3) for name in "abc"}
    pl.DataFrame(none).write_csv(folder / "none.csv")
    yield "none", ["none.csv", "--threshold", "1000"]


def main() -> None:
    full_size = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = start_browser(folder)
        try:
            for page, arguments in tables(folder):
                target = folder / f"{page}.html"
                line = [sys.executable, "-m", "odefs", "detect", "--quiet", *arguments]
                subprocess.run([*line, "--report", target.name], cwd=folder, check=True)
                views = take_views(browser, target)
                for kind, view in views.items() if full_size else ():
                    view.save(full_size / f"{page}-{kind}.png")
                save(in_a_row(list(views.values())), f"report-{page}.png", SCALE)
            open_parts(browser, folder / "small.html")
        finally:
            browser.quit()


def start_browser(folder: Path) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or sys.exit("chromium is needed")
    for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def take_views(browser: webdriver.Chrome, page: Path) -> dict[str, Image.Image]:
    """Return the page in light, in dark with the table, on a phone, and printed."""
    views = {
        "light": shot(browser, page, 1300, "light"),
        "dark": shot(
            browser, page, 1300, "dark", "document.getElementById('top').scrollIntoView()"
        ),
        "phone": shot(browser, page, 390, "light"),
    }
    shot(browser, page, 1300, "light")
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    document = pypdfium2.PdfDocument(base64.b64decode(printed["data"]))
    picture = document[0].render(scale=HEIGHT / document[0].get_height()).to_pil()
    return views | {"print": picture.convert("RGB")}


def shot(
    browser: webdriver.Chrome, page: Path, width: int, colours: str, script: str = ""
) -> Image.Image:
    """Return what a window shows of the page after a script."""
    size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [
        {"name": "prefers-color-scheme", "value": colours},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    browser.execute_script(script)
    return Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")


def open_parts(browser: webdriver.Chrome, page: Path) -> None:
    """Take an open row, and an open column."""
    for name, selector in (("row", "tr.details"), ("column", "table.importances")):
        shot(browser, page, 1100, "light", OPEN)
        part = browser.find_element("css selector", selector)
        save(Image.open(io.BytesIO(part.screenshot_as_png)), f"report-{name}.png", 0.8)


def in_a_row(views: list[Image.Image], gap: int = 24) -> Image.Image:
    width = sum(view.width + gap for view in views) - gap
    joined = Image.new("RGB", (width, HEIGHT), "#9aa3ad")
    place = 0
    for view in views:
        joined.paste(view, (place, 0))
        place += view.width + gap
    return joined


def save(picture: Image.Image, name: str, scale: float) -> None:
    size = round(picture.width * scale), round(picture.height * scale)
    small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    # Rare colours count as much as common ones, and dots between two colours would need much space.
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(FOLDER / name, optimize=True)
    print(FOLDER / name, (FOLDER / name).stat().st_size)


if __name__ == "__main__":
    main()
