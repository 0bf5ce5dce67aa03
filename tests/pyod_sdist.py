"""PyOD's own tests, from its last source distribution that contains them.

Versions after 0.5.0 publish their tests in the repository only. pip downloads the distribution and
compares its hash with ``requirements/pyod-tests.txt``; nothing of it is installed or stored here.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.locations import ROOT

REQUIREMENT = ROOT / "requirements" / "pyod-tests.txt"
VERSION = "0.5.0"


def fetch_tests(folder: Path) -> Path:
    """Download the distribution to a folder and return the folder of its tests."""
    # pip asks setup.py for the name and version, and setup.py imports the package, which needs a
    # scikit-learn of 2018. A module with the version alone takes its place.
    stand_in = folder / "stand_in"
    stand_in.mkdir()
    (stand_in / "pyod.py").write_text(f"__version__ = {VERSION!r}\n")
    options = ["--no-deps", "--no-binary=:all:", "--no-build-isolation", "--require-hashes"]
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", *options, "-r", REQUIREMENT, "-d", folder],
        env={**os.environ, "PYTHONPATH": str(stand_in), "PYTHONSAFEPATH": "1"},
        check=True,
    )
    with tarfile.open(folder / f"pyod-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"pyod-{VERSION}" / "pyod" / "test"
