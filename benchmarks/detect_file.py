"""``odefs detect`` on a csv file of a million rows, in a separate process.

Time, memory, and the cost in addition to reading and the estimator.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.base import clone

from benchmarks.result import Result
from odefs.detection import detect
from odefs.tables.readers.open import open_table
from odefs.tables.table import HeldTable

ROWS = 1_000_000

PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Starts a command from a small process: the peak of a child begins at what its parent has."""


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _table().write_csv(path)
        command = [Path(sys.executable).parent / "odefs", "detect", path, "--quiet"]
        start = time.perf_counter()
        told = subprocess.run(
            [sys.executable, "-c", PEAK, *command], check=True, cwd=folder, capture_output=True
        )
        seconds = time.perf_counter() - start
        peak = int(told.stdout) / 1024
        page = (Path(folder) / "table.outliers.html").stat().st_size / 1e6
        around, alone = _beside_reading(path)
    return [
        Result(
            "odefs detect with its report, csv of 1,000,000 x 30",
            f"{seconds:.1f} s",
            "under 25 s",
            seconds < 25,
        ),
        Result(
            "its peak memory",
            f"{peak:,.0f} MB; the page has {page:.1f} MB",
            "under 2,000 MB",
            peak < 2000,
        ),
        Result(
            "encoding, fit and report of that table against the fit alone",
            f"{around / alone:.2f} x ({around:.1f} s, {alone:.1f} s)",
            "at most 2 x",
            around <= 2 * alone,
        ),
    ]


def _beside_reading(path: Path) -> tuple[float, float]:
    """Best of three each, alternating, so that a slow moment of the machine affects all."""
    table = open_table(path).table
    assert isinstance(table, HeldTable)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        # The frame, as a table would keep the columns that were converted the first time.
        found = detect(table.frame)
        found.report().html()
        between = time.perf_counter()
        clone(found.model).fit(found.X)
        times.append((between - start, time.perf_counter() - between))
    around, alone = (min(column) for column in zip(*times, strict=True))
    return around, alone


def _table() -> pl.DataFrame:
    """20 measurements, 4 counts, 5 categories and a date; 500 rows have one outlier cell."""
    rng = np.random.default_rng(0)
    columns = {f"measure{j}": np.round(rng.normal(50, 10, ROWS), 3) for j in range(20)}
    columns["measure3"][:500] += 200
    columns |= {f"count{j}": rng.integers(0, 500, ROWS) for j in range(4)}
    columns |= {f"kind{j}": rng.choice([f"v{i}" for i in range(3 + 5 * j)], ROWS) for j in range(5)}
    columns["time"] = np.datetime64("2020-01-01", "ms") + rng.integers(0, 10**10, ROWS).astype(
        "timedelta64[ms]"
    )
    return pl.DataFrame(columns)
