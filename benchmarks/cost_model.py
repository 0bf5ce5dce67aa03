"""What a cluster would take for a table of 10^9 x 100, from what one core takes for each pass over a small one: the figures of ``docs/scale.md``."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.result import Result
from odefs import ODEFS
from odefs.datasets.wide import write_wide
from odefs.engines.local import LocalEngine
from odefs.engines.stream import RowBlocks

ROWS, COLUMNS = 200_000, 100
TARGET_ROWS, WORKERS, COMPONENTS = 10**9, 64, 32
PASSES = 6
"""Ranges, moments, bare scores, rows of the components, the row sample, final scores."""


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        write_wide(Path(folder), ROWS, COLUMNS)
        blocks = RowBlocks.from_parquet(folder)
        read = _per_row(lambda: [None for _ in blocks])
        X = np.concatenate(list(blocks))
    model = ODEFS(random_state=0, n_estimators=COMPONENTS, n_jobs=1).fit(X)._model
    engine = LocalEngine(X, 1)
    statistics = _per_row(lambda: (engine.ranges(), engine.moments(model.scaling)))
    *learned, full = model.components
    bare = _per_row(lambda: engine.raw_scores(model.scaling, model.detector, [full]))
    components = _per_row(lambda: engine.raw_scores(model.scaling, model.detector, learned))
    compute = statistics + bare + components
    seconds = (PASSES * read + compute) * TARGET_ROWS / WORKERS
    size = np.mean([component.columns.size for component in learned])
    return [
        _shown(f"one core, per row of {COLUMNS} float32 columns: reading parquet, a pass", f"{read * 1e6:.2f} us"),
        _shown("ranges and moments", f"{statistics * 1e6:.2f} us"),
        _shown("bare scores", f"{bare * 1e6:.2f} us"),
        _shown(f"{COMPONENTS} components of {size:.0f} columns on average", f"{components * 1e6:.2f} us"),
        _shown(
            f"hence 10^9 rows on {WORKERS} workers of one core, without waiting for disks", f"{seconds / 60:.1f} min"
        ),
    ]


def _shown(what: str, measured: str) -> Result:
    return Result(f"cost model: {what}", measured, "shown", True)


def _per_row(task: Callable[[], object]) -> float:
    """Processor seconds of the better of two runs: waiting for others does not count."""
    times = []
    for _ in range(2):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times) / ROWS
