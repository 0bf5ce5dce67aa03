"""Growth in rows and columns, tables larger than memory, single rows, and Dask.

Tests whether time is linear. Every measurement of memory runs in a separate process.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.result import Result, best_of
from odefs import ODEFS
from odefs.datasets.synthetic import parts, write_wide

CHILD = """
import json, sys, time
from pathlib import Path
import numpy as np
from odefs import ODEFS
from odefs.engines.stream import RowBlocks
how, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
blocks = RowBlocks.from_parquet(folder)
if how == "memory":
    X = np.empty((n, blocks.n_columns), dtype=np.float32)
    start = 0
    for block in blocks:
        X[start:start + len(block)] = block
        start += len(block)
begin = time.perf_counter()
model = ODEFS(random_state=0).fit(X if how == "memory" else blocks)
seconds = time.perf_counter() - begin
# Not ru_maxrss, which begins at what the parent process had.
status = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
flagged, components = int(model.is_outlier_.sum()), len(model.feature_subsets_)
print(json.dumps({"s": seconds, "peak": peak, "flagged": flagged, "components": components}))
"""


def run(share: float = 1.0) -> list[Result]:
    """All of them; with a ``share`` below 1 on so many rows only."""
    return [*rows(share), *columns(share), *latency(), *stream(share), *dask(share)]


def rows(share: float = 1.0) -> list[Result]:
    """Time per row from 10^5 to 3.2 x 10^6 rows at d = 30."""
    counts = [round(n * share) for n in (100_000, 800_000, 3_200_000)]
    per_row = []
    for n in counts:
        X = np.concatenate([part.X for part in parts(n, 30)])
        per_row.append(best_of(3 if n < 10**6 else 2, lambda X=X: _fit(X)) / n)
        del X
    growth = per_row[-1] / per_row[0] - 1
    told = ", ".join(f"{t * 1e6:.2f}" for t in per_row)
    what = f"time per row from {counts[0]:,} to {counts[-1]:,} rows, d = 30, 32 components"
    return [Result(what, f"{growth:+.0%} ({told} us)", "at most +15%", growth <= 0.15)]


def columns(share: float = 1.0) -> list[Result]:
    """Time per column from d = 50 to 1600 at n = 20,000."""
    n = round(20_000 * share)
    per_column = []
    for d in (50, 400, 1600):
        X = np.concatenate([part.X for part in parts(n, d)])
        per_column.append(best_of(2, lambda X=X: _fit(X)) / d)
    growth = per_column[-1] / per_column[0] - 1
    told = ", ".join(f"{t * 1e3:.2f}" for t in per_column)
    what = f"time per column from d = 50 to 1600, n = {n:,}"
    return [Result(what, f"{growth:+.0%} ({told} ms)", "at most +25%", growth <= 0.25)]


def _fit(X: np.ndarray) -> ODEFS:
    # A fixed number of components, since with "auto" it depends on the data.
    return ODEFS(random_state=0, n_estimators=32).fit(X)


def latency() -> list[Result]:
    """One row alone: d = 100, 60 components."""
    X = np.concatenate([part.X for part in parts(20_000, 100)])
    # Trusted, so that all of them score; with noise kept, so that their subsets are wide.
    model = ODEFS(random_state=0, n_estimators=60, trust=1.0, noise_columns="keep").fit(X)
    times = []
    for row in X[:1000]:
        begin = time.perf_counter()
        model.outlier_scores(row[None])
        times.append(time.perf_counter() - begin)
    median, worst = (float(np.percentile(times, q)) * 1e3 for q in (50, 99))
    what = "one row scored alone, d = 100, 60 components: median and p99"
    return [Result(what, f"{median:.2f} ms, {worst:.2f} ms", "shown", True)]


def stream(share: float = 1.0) -> list[Result]:
    """10,000,000 x 50 from parquet, against the same rows in memory."""
    n = round(10_000_000 * share)
    with tempfile.TemporaryDirectory() as folder:
        write_wide(Path(folder), n, 50)
        # Alternating, and the better of two: each takes half a minute, with slow moments of the
        # machine.
        runs = [[_child(how, folder, n) for how in ("stream", "memory")] for _ in range(2)]
    there, here = (min(same, key=lambda run: run["s"]) for same in zip(*runs, strict=True))
    ratio, peak = there["s"] / here["s"], max(run["peak"] for run, _ in runs) / 1e9
    told = (
        f"{there['s'] / n * 1e6:.2f} and {here['s'] / n * 1e6:.2f} us, {there['components']} "
        "components"
    )
    what = f"{n:,} x 50 parquet fitted and scored in passes"
    return [
        Result(
            f"{what}: time per row against in memory",
            f"{ratio:.2f} x ({told})",
            "at most 1.6 x",
            ratio <= 1.6,
        ),
        Result(f"{what}: peak resident memory", f"{peak:.2f} GB", "under 1.2 GB", peak < 1.2),
        Result(
            f"{what}: flagged rows",
            f"{there['flagged']:,}",
            f"{here['flagged']:,}",
            there["flagged"] == here["flagged"],
        ),
    ]


def _child(how: str, folder: str, n: int) -> dict[str, float]:
    line = [sys.executable, "-c", CHILD, how, folder, str(n)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def dask(share: float = 1.0) -> list[Result]:
    """2,000,000 x 50 on two local worker processes, against this process with as many threads."""
    try:
        from odefs.engines.dask import local_client
    except ModuleNotFoundError:
        return [Result("Dask", "not installed", "installed", False)]
    n = round(2_000_000 * share)
    with tempfile.TemporaryDirectory() as folder:
        write_wide(Path(folder), n, 50)
        X = np.concatenate([part.X for part in parts(n, 50)])
        here, there = ODEFS(random_state=0, n_jobs=2), ODEFS(random_state=0, engine="dask")
        alone = best_of(2, lambda: here.fit(X))
        with local_client(2):
            spread = best_of(2, lambda: there.fit(folder))
    ratio = spread / alone
    difference = float(np.max(np.abs(there.outlier_scores_ / here.outlier_scores_ - 1)))
    same = bool(np.array_equal(there.is_outlier_, here.is_outlier_))
    what = f"Dask with two workers, {n:,} x 50 parquet"
    return [
        Result(
            f"{what}, against one process",
            f"{ratio:.2f} x ({spread:.1f} s, {alone:.1f} s)",
            "at most 1.6 x",
            ratio <= 1.6,
        ),
        Result(
            f"{what}: largest relative difference of scores",
            f"{difference:.1e}",
            "at most 1e-6",
            difference <= 1e-6,
        ),
        Result(f"{what}: flagged rows", "the same" if same else "others", "the same", same),
    ]
