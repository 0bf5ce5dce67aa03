"""PyOD's own tests with the adapters in place of its detectors: ``python -m tests.pyod_suite DIR``.

PyOD publishes its tests in its repository only, in none of its packages: DIR is the folder
``pyod/test`` of a checkout of the installed version. Its files are copied and run as they are, once
for each adapter, with the class that they test exchanged.

NumPy's random numbers are seeded before each test (``--seed``): PyOD's test of LSCP draws its table
without a seed, and whether ranks keep its tolerance depends on the table, with PyOD's own detectors
as well. ``EXPECTED`` lists what cannot pass; the exit code is 1 if any other test fails, if one of
these fails for another reason, or if it passes.
"""

import argparse
import importlib
import re
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ADAPTERS = ("ODEFS", "LeSiNN")
EXCHANGED = {
    "test_knn.py": ("pyod.models.knn:KNN",),
    "test_lof.py": ("pyod.models.lof:LOF",),
    "test_iforest.py": ("pyod.models.iforest:IForest",),
    "test_lscp.py": ("pyod.models.lof:LOF",),
    "test_feature_bagging.py": ("pyod.models.feature_bagging:LOF",),
}
"""Files of PyOD's tests, and the classes that an adapter takes the place of."""

UNKNOWN = "got an unexpected keyword argument"
EXPECTED = {
    "*: TestKnnMean.*": f"{UNKNOWN} 'method'",
    "*: TestKnnMedian.*": f"{UNKNOWN} 'method'",
    "*: TestKnnMahalanobis.*": f"{UNKNOWN} 'algorithm'",
    "*: TestLOF.test_parameters": "'n_neighbors_'",
    "*: TestIForest.test_parameters": "'estimators_'",
    "LeSiNN: TestIForest.test_feature_importances": "'feature_importances_'",
}
"""Tests that cannot pass with another detector, and a part of the message, which is the reason:
they set parameters or read attributes that only the exchanged detector has.
"""

SETTINGS = """
import importlib
import numpy as np
import pytest
import odefs.compat.pyod

for place in {places!r}:
    module, name = place.split(":")
    setattr(importlib.import_module(module), name, odefs.compat.pyod.{adapter})


@pytest.fixture(autouse=True)
def same_numbers_in_every_run():
    np.random.seed({seed})
"""


class Outcome(NamedTuple):
    """One test of PyOD with one adapter."""

    adapter: str
    test: str
    failure: str | None

    @property
    def expected(self) -> str | None:
        """The error that the test is known to raise."""
        name = f"{self.adapter}: {self.test}"
        found = (why for pattern, why in EXPECTED.items() if fnmatch(name, pattern))
        return next(found, None)

    @property
    def is_surprise(self) -> bool:
        if self.failure is None or self.expected is None:
            return (self.failure is None) != (self.expected is None)
        return self.expected not in self.failure


def run_suite(folder: Path, seed: int = 0) -> list[Outcome]:
    """Run the known files of a folder with each adapter."""
    names = [name for name in EXCHANGED if (folder / name).exists()]
    if not names:
        raise SystemExit(f"{folder} has none of {', '.join(EXCHANGED)}.")
    return [
        outcome
        for name in names
        for adapter in ADAPTERS
        for outcome in _run(folder / name, EXCHANGED[name], adapter, seed)
    ]


def _run(path: Path, places: tuple[str, ...], adapter: str, seed: int) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        shutil.copy(path, here)
        (here / "conftest.py").write_text(
            SETTINGS.format(places=places, adapter=adapter, seed=seed)
        )
        (here / "pytest.ini").write_text("[pytest]\n")
        line = [sys.executable, "-m", "pytest", "-q", "--junitxml=out.xml", path.name]
        done = subprocess.run(line, cwd=here, capture_output=True, text=True, check=False)
        if not (here / "out.xml").exists():
            raise SystemExit(done.stdout + done.stderr)
        cases = ElementTree.parse(here / "out.xml").getroot().iter("testcase")
        return [Outcome(adapter, _name(case), _failure(case)) for case in cases]


def _name(case: ElementTree.Element) -> str:
    return f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"


def _failure(case: ElementTree.Element) -> str | None:
    """The last line of the error, or ``None``."""
    found = [part for part in case if part.tag in ("failure", "error")]
    if not found:
        return None
    return re.sub(r"\s+", " ", found[0].get("message") or "no message")


def installed_version() -> str:
    return str(importlib.import_module("pyod.version").__version__)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.pyod_suite", description=__doc__)
    parser.add_argument("folder", type=Path, help="pyod/test of a checkout of PyOD")
    parser.add_argument("--seed", type=int, default=0, help="seed of NumPy's random numbers")
    given = parser.parse_args()
    outcomes = run_suite(given.folder, given.seed)
    passed = sum(outcome.failure is None for outcome in outcomes)
    print(f"PyOD {installed_version()}: {passed} of {len(outcomes)} tests pass.")
    for outcome in outcomes:
        if outcome.failure is not None:
            kind = "UNEXPECTED" if outcome.is_surprise else "expected"
            print(f"{outcome.adapter}: {outcome.test} fails ({kind}): {outcome.failure}")
        elif outcome.is_surprise:
            print(f"{outcome.adapter}: {outcome.test} passes, but is listed in EXPECTED.")
    return int(any(outcome.is_surprise for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
