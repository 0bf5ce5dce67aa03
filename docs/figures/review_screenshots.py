"""Take the pictures of the guide to reviews: ``python docs/figures/review_screenshots.py``.

Reviews the bundled example by a rule: large amounts are outliers, distant places are not. Needs
chromium, chromedriver, selenium and pillow.
"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

FOLDER = Path(__file__).parent
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
N_ANSWERS = 8
SIZES = {"review.png": (1200, 860), "review-phone.png": (390, 760)}
COLOURS = 64
SHOWN = "return document.getElementById('title').textContent"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, "-m", "odefs", "review", "--no-browser", "--quiet"]
        server = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().removeprefix("Review: ").strip()
            for _ in range(N_ANSWERS):
                answer(address)
            take_pictures(address, folder)
        finally:
            server.kill()
            server.wait()
        print((Path(folder) / "transactions.answers.csv").read_text())


def answer(address: str) -> None:
    """Answer the present row by the rule."""
    state = request(address + "state")
    because = state["row"]["because"]
    given = "yes" if "amount" in because else "no" if "distance_km" in because else "unsure"
    body = {"sequence": state["sequence"], "row": state["row"]["row"], "answer": given}
    request(address + "answer", body)


def request(address: str, body: dict[str, object] | None = None) -> Any:
    origin = "/".join(address.split("/")[:3])
    headers = {"Content-Type": "application/json", "Origin": origin}
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(address, content, headers)) as reply:
        return json.load(reply)


def take_pictures(address: str, folder: str) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or sys.exit("chromium is needed")
    for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for name, (width, height) in SIZES.items():
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            browser.get(address)
            WebDriverWait(browser, 30).until(lambda page: page.execute_script(SHOWN))
            picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
            picture.quantize(COLOURS).save(FOLDER / name, optimize=True)
            print(FOLDER / name)
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
