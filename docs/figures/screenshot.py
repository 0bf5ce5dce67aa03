"""Take the README's picture of the report: ``python docs/figures/screenshot.py``.

Needs chromium.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET = Path(__file__).parent / "report.png"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
)


def main() -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("chromium is needed to take the picture")
    with tempfile.TemporaryDirectory() as folder:
        odefs = Path(sys.executable).parent / "odefs"
        subprocess.run(
            [odefs, "detect", "--quiet"],
            cwd=folder,
            check=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
        page = Path(folder) / "transactions.outliers.html"
        command = [
            browser,
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            "--window-size=1100,1330",
            f"--screenshot={TARGET}",
            page.as_uri(),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    print(TARGET)


if __name__ == "__main__":
    main()
