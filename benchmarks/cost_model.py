"""Cost model of a cluster for a table of 10^9 x 100, for ``docs/explanation/large-tables.md``.

It is computed from the time of one core for each pass over a small table, and checked against
complete fits in passes of 10^5 to 10^7 rows. All times are processor seconds, without waiting.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.result import Result
from odefs import ODEFS
from odefs.datasets.synthetic import write_wide
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.stream import RowBlocks, StreamEngine
from odefs.ensemble.model import Component

SAMPLE_ROWS, COLUMNS = 200_000, 100
TARGET_ROWS, WORKERS, COMPONENTS = 10**9, 64, 32
CLUSTER_PASSES = 6
"""Ranges; moments; rows that components learn from, twice; the row sample; final scores."""

CHECKED_ROWS, CHECKED_COLUMNS, PASS_ROWS = (100_000, 1_000_000, 10_000_000), 50, 500_000
SMALL_ROWS = 20_000
"""Of a fit that is all but constant cost."""


@dataclass(frozen=True)
class Costs:
    """Seconds per row: a pass of reading, ranges and moments, scores of the components."""

    read: float
    statistics: float
    scores: float


def run(share: float = 1.0) -> list[Result]:
    return [*cluster(), *check(share)]


def cluster() -> list[Result]:
    # Noise columns kept: the wider the subsets, the more a row costs.
    model = ODEFS(
        random_state=0, n_estimators=COMPONENTS, trust=1.0, noise_columns="keep", n_jobs=1
    )
    with tempfile.TemporaryDirectory() as folder:
        write_wide(Path(folder), SAMPLE_ROWS, COLUMNS)
        blocks = RowBlocks.from_parquet(folder)
        learned = model.fit(np.concatenate(list(blocks)))._model.scoring
        found = _costs(blocks, model, learned)
    seconds = (
        (CLUSTER_PASSES * found.read + found.statistics + found.scores) * TARGET_ROWS / WORKERS
    )
    size = np.mean([component.columns.size for component in learned])
    return [
        _shown(
            f"one core, per row of {COLUMNS} float32 columns: reading parquet, a pass",
            f"{found.read * 1e6:.2f} us",
        ),
        _shown("ranges and moments", f"{found.statistics * 1e6:.2f} us"),
        _shown(
            f"{COMPONENTS} components of {size:.0f} columns on average",
            f"{found.scores * 1e6:.2f} us",
        ),
        _shown(
            f"hence 10^9 rows on {WORKERS} workers of one core, {CLUSTER_PASSES} passes, without "
            "waiting for disks",
            f"{seconds / 60:.1f} min",
        ),
    ]


def check(share: float) -> list[Result]:
    """Fits with one thread and another that reads ahead, against a constant plus cost per row."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        constant = _seconds(lambda: _fit(Path(folder) / "small", SMALL_ROWS), 1)
    for n_rows in (round(n * share) for n in CHECKED_ROWS):
        with tempfile.TemporaryDirectory() as folder:
            write_wide(Path(folder), n_rows, CHECKED_COLUMNS)
            blocks = RowBlocks.from_parquet(folder)
            model = ODEFS(random_state=0, n_jobs=1)
            measured = _seconds(lambda blocks=blocks, model=model: model.fit(blocks), 1)
        with tempfile.TemporaryDirectory() as folder:
            write_wide(Path(folder), PASS_ROWS, CHECKED_COLUMNS)
            per_row = _passes(RowBlocks.from_parquet(folder), model) / PASS_ROWS
        predicted = constant + max(0, n_rows - SMALL_ROWS) * per_row
        ratio = measured / predicted
        results.append(
            Result(
                f"cost model: a fit of {n_rows:,} x {CHECKED_COLUMNS} in passes, "
                f"{len(model._model.scoring)} scoring components, against the model's prediction",
                f"{ratio:.2f} x ({measured:.1f} s, {predicted:.1f} s)",
                "0.7 to 1.4 x",
                0.7 <= ratio <= 1.4,
            )
        )
    return results


def _fit(folder: Path, n_rows: int) -> None:
    write_wide(folder, n_rows, CHECKED_COLUMNS)
    ODEFS(random_state=0, n_jobs=1).fit(RowBlocks.from_parquet(folder))


def _costs(blocks: RowBlocks, model: ODEFS, components: Sequence[Component]) -> Costs:
    X = np.concatenate(list(blocks))
    engine, fitted = InMemoryEngine(X, 1), model._model

    def per_row(task: Callable[[], object]) -> float:
        return _seconds(task, 2) / len(X)

    return Costs(
        per_row(lambda: [None for _ in blocks]),
        per_row(lambda: (engine.ranges(), engine.moments(fitted.scaling))),
        per_row(lambda: engine.raw_scores(fitted.scaling, fitted.detector, components)),
    )


def _passes(blocks: RowBlocks, model: ODEFS) -> float:
    """Ranges; moments and all samples; training rows (once if learning is not trusted); scores."""
    engine, fitted = StreamEngine(blocks, 1), model._model
    passes = (
        engine.ranges,
        lambda: engine.moments(fitted.scaling),
        engine.run_prefetch,
        lambda: engine.judged(fitted),
    )
    return sum(_seconds(one, 2) for one in passes)


def _shown(what: str, measured: str) -> Result:
    return Result(f"cost model: {what}", measured, "shown", True)


def _seconds(task: Callable[[], object], times: int) -> float:
    """Processor seconds of the best run."""
    found = []
    for _ in range(times):
        start = time.process_time()
        task()
        found.append(time.process_time() - start)
    return min(found)
