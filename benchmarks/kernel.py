"""The compiled kernel against the NumPy path, and how near its inner loop comes to the arithmetic limit of a core."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from benchmarks.result import Result, best_of
from odefs._ops import kernel
from odefs._ops.blocks import MAX_BLOCK_ROWS, kernel_rows, row_blocks
from odefs._ops.threads import one_blas_thread, run_tasks
from odefs.detectors import LeSiNNDetector

ROWS, THREADS = 65_536, 2
TARGETS = {10: 8.0, 26: 5.0, 60: 3.0}
REPEATS = 200_000


def run() -> list[Result]:
    if not kernel.levels_here():
        return [Result("compiled kernel", "not built", "built", False)]
    # Pinned once: that takes about as long as the smallest of these runs.
    with one_blas_thread():
        return [result for dtype in (np.float32, np.float64) for d in TARGETS for result in _one(d, np.dtype(dtype))]


def _one(d: int, dtype: np.dtype) -> list[Result]:
    rng = np.random.default_rng(0)
    # Centred rows, as the scaling delivers them, and references from elsewhere: of many rows, few are references.
    X = (rng.random((ROWS, d)) - 0.5).astype(dtype)
    detector = LeSiNNDetector()
    state = detector.prepare((rng.random((400, d)) - 0.5).astype(dtype), rng)
    # Each in the blocks that the engine hands it.
    for_numpy = list(row_blocks(ROWS, MAX_BLOCK_ROWS))
    for_kernel = list(row_blocks(ROWS, kernel_rows(detector.bytes_per_row(d), ROWS, THREADS)))
    out = np.empty(ROWS)

    def score(rows: slice) -> None:
        out[rows] = detector.score(X[rows], state)

    def seconds(name: str, tasks: list[slice], threads: int) -> float:
        with _kernel(name):
            return best_of(1, lambda: run_tasks(score, tasks, threads))

    packed = state.packed(None, False)
    on_registers = _multiply_adds(ROWS * d * packed.n_subsets * packed.n_members, dtype)
    # Taken in turns, so that a slow moment of the machine hits all.
    times = [
        (seconds("numpy", for_numpy, THREADS), seconds("compiled", for_kernel, THREADS), best_of(1, on_registers))
        for _ in range(30)
    ]
    by_numpy, compiled, limit = (min(column) for column in zip(*times, strict=True))
    ratio = by_numpy / compiled
    what = f"compiled kernel, d = {d}, {dtype.name}"
    results = [
        Result(
            f"{what}, against the NumPy path, {ROWS:,} rows, two threads",
            f"{ratio:.1f} x ({1e3 * compiled:.1f} ms)",
            f"at least {TARGETS[d]:.0f} x",
            ratio >= TARGETS[d],
        ),
        Result(
            f"{what}, its multiply-adds alone, on registers, against the NumPy path: no exact kernel is faster",
            f"{by_numpy / limit:.1f} x ({1e3 * limit:.1f} ms)",
            "told",
            True,
        ),
    ]
    for way, layout in (("expanded", packed), ("direct", replace(packed, product=None))):
        share, rate = _share_of_peak(X[: 4 * MAX_BLOCK_ROWS], layout)
        results.append(
            Result(
                f"{what}, {way} squares, share of what a core can do on registers alone",
                f"{100 * share:.0f} % ({rate / 1e9:.0f} GFLOP/s)",
                "told",
                True,
            )
        )
    return results


def _multiply_adds(n_pairs: int, dtype: np.dtype) -> Callable[[], None]:
    """So many multiply-adds on the registers of all threads, one for each value and reference: what expanded squares cannot do without."""
    level = kernel.levels_here()[-1]
    repeats = round(n_pairs / THREADS / kernel.registers_only(level, dtype, True, 1))
    return lambda: run_tasks(
        lambda _: kernel.registers_only(level, dtype, True, repeats), list(range(THREADS)), THREADS
    )


def _share_of_peak(X: np.ndarray, packed: kernel.Packed) -> tuple[float, float]:
    """Pairs of values per second of one call, over those of a loop without memory; and floating-point operations per second."""
    level = kernel.levels_here()[-1]
    expanded = packed.product is not None
    n_pairs = X.size * packed.n_subsets * packed.n_members
    pairs_of_limit = kernel.registers_only(level, X.dtype, expanded, REPEATS)
    times = []
    for _ in range(40):
        ours = best_of(1, lambda: kernel.mean_nearest(X, packed, level=level, root=True))
        limit = best_of(1, lambda: kernel.registers_only(level, X.dtype, expanded, REPEATS))
        times.append((ours, limit))
    ours, limit = (min(column) for column in zip(*times, strict=True))
    # A product and a sum for each pair, and a difference where the square is not expanded.
    return (n_pairs / ours) / (pairs_of_limit / limit), (2 if expanded else 3) * n_pairs / ours


@contextmanager
def _kernel(name: str) -> Iterator[None]:
    before = os.environ.get("ODEFS_KERNEL")
    os.environ["ODEFS_KERNEL"] = name
    try:
        yield
    finally:
        del os.environ["ODEFS_KERNEL"]
        if before is not None:
            os.environ["ODEFS_KERNEL"] = before


if __name__ == "__main__":
    for result in run():
        print(*result, sep=" | ", flush=True)
