"""``odefs detect`` with its report on a csv file with many more columns than rows."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.child_process import measure_odefs
from benchmarks.result import Result

ROWS, COLUMNS = 2_000, 20_000


def run(share: float = 1.0) -> list[Result]:
    n_rows, n_columns = int(ROWS * share), int(COLUMNS * share)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n_rows, n_columns)), 4)
    X[:10, :50] += 6
    with tempfile.TemporaryDirectory() as folder:
        names = [f"x{j}" for j in range(n_columns)]
        pl.DataFrame(X, schema=names).write_csv(Path(folder) / "wide.csv")
        used = measure_odefs("detect", "wide.csv", "--quiet", cwd=folder)
    return [
        Result(
            f"odefs detect with its report, csv of {n_rows:,} x {n_columns:,}",
            f"{used.wall_seconds:.0f} s ({used.cpu_seconds:.0f} s of processor time)",
            "under 60 s",
            used.wall_seconds < 60,
        ),
        Result(
            "its peak memory",
            f"{used.peak_megabytes:,.0f} MB",
            "under 3,000 MB",
            used.peak_megabytes < 3000,
        ),
    ]
