"""LeSiNN against scikit-learn's isolation forest on a million rows, and its memory use."""

import multiprocessing
from pathlib import Path

import numpy as np
from sklearn.ensemble import IsolationForest

from benchmarks.result import Result, best_of
from odefs import LeSiNN

ROWS, COLUMNS = 1_000_000, 50


def make_rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((ROWS, COLUMNS), dtype=np.float32)


def run() -> list[Result]:
    X = make_rows()
    ours = best_of(3, lambda: LeSiNN(random_state=0).fit(X).score_samples(X))
    theirs = best_of(2, lambda: IsolationForest(n_jobs=2, random_state=0).fit(X).score_samples(X))
    ratio = ours / theirs
    megabytes = peak_memory()
    return [
        Result(
            f"LeSiNN().fit(X).score_samples(X), {ROWS:,} x {COLUMNS} float32, against "
            "IsolationForest(n_jobs=2)",
            f"{ratio:.2f} x ({ours:.2f} s, {theirs:.2f} s)",
            "at most 0.35 x",
            ratio <= 0.35,
        ),
        Result(
            "its peak memory above the input",
            f"{megabytes:.0f} MB",
            "under 200 MB",
            megabytes < 200,
        ),
    ]


def peak_memory() -> float:
    """Measured in a process of its own, where nothing else has raised the peak."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_peak_memory_here)


def _peak_memory_here() -> float:
    X = make_rows()
    LeSiNN(random_state=0).fit(X[:5000]).score_samples(X[:5000])
    # Making X may have peaked higher than it stays: start the high-water mark anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    LeSiNN(random_state=0).fit(X).score_samples(X)
    return _memory("VmHWM") - before


def _memory(field: str) -> float:
    """A line of the process's memory account, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) / 1024
