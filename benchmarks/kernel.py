"""Compiled kernel against the NumPy path and against the arithmetic limit of a core."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from benchmarks.result import Result, best_of
from odefs.detectors import LeSiNNDetector
from odefs.kernels import compiled, shared_library
from odefs.kernels.chunking import MAX_BLOCK_ROWS, kernel_rows, row_blocks
from odefs.system.threads import one_blas_thread, run_tasks

ROWS, THREADS = 65_536, 2
COMPONENTS, TURNS = 8, 50
TARGETS = {10: 8.0, 26: 5.0, 60: 3.0}
REPEATS = 20_000


def run() -> list[Result]:
    if not shared_library.levels_here():
        return [Result("compiled kernel", "not built", "built", False)]
    # Pinned once: that takes about as long as the smallest of these runs.
    with one_blas_thread():
        return [
            result
            for dtype in (np.float32, np.float64)
            for d in TARGETS
            for result in _one(d, np.dtype(dtype))
        ]


def _one(d: int, dtype: np.dtype) -> list[Result]:
    rng = np.random.default_rng(0)
    # Centred rows, as after scaling, and separate references: in a large table, few rows are
    # references.
    X = (rng.random((ROWS, d)) - 0.5).astype(dtype)
    detector = LeSiNNDetector()
    states = [
        detector.prepare((rng.random((400, d)) - 0.5).astype(dtype), rng) for _ in range(COMPONENTS)
    ]
    # Each in the blocks that the engine hands it.
    for_numpy = list(row_blocks(ROWS, MAX_BLOCK_ROWS))
    for_kernel = list(row_blocks(ROWS, kernel_rows(detector.bytes_per_row(d), ROWS, THREADS)))
    out = np.empty(ROWS)

    def seconds(name: str, tasks: list[slice], n_components: int) -> float:
        def score(rows: slice) -> None:
            for state in states[:n_components]:
                out[rows] = detector.score(X[rows], state)

        with _kernel(name):
            return best_of(1, lambda: run_tasks(score, tasks, THREADS))

    packed = states[0].packed(None, False)
    on_registers = _products_alone(packed, dtype)
    # Alternating, so that a slow moment of the machine affects all. A single component starts its
    # own threads, unlike in a fit.
    times = [
        [
            seconds(*way, n) / n
            for n in (1, COMPONENTS)
            for way in (("numpy", for_numpy), ("compiled", for_kernel))
        ]
        + [best_of(1, on_registers)]
        for _ in range(TURNS)
    ]
    by_numpy, compiled, numpy_sweep, compiled_sweep, limit = (
        min(column) for column in zip(*times, strict=True)
    )
    what = f"compiled kernel, d = {d}, {dtype.name}"
    results = [
        _against_numpy(
            f"{what}, against the NumPy path, {ROWS:,} rows, two threads", d, by_numpy, compiled
        ),
        _against_numpy(
            f"{what}, the same for {COMPONENTS} components in a sweep, for each",
            d,
            numpy_sweep,
            compiled_sweep,
        ),
        Result(
            f"{what}, its products alone, on registers, against the NumPy path",
            f"{by_numpy / limit:.1f} x ({1e3 * limit:.1f} ms)",
            "told",
            True,
        ),
    ]
    ways = {"expanded squares": packed, "direct squares": replace(packed, product=None)}
    for way, layout in ways.items():
        share, rate = _share_of_peak(X[: 4 * MAX_BLOCK_ROWS], layout)
        results.append(
            Result(
                f"{what}, {way}, share of what a core can do on registers alone",
                f"{100 * share:.0f} % ({rate / 1e9:.0f} GFLOP/s)",
                "told",
                True,
            )
        )
    return results


def _against_numpy(what: str, d: int, by_numpy: float, compiled: float) -> Result:
    ratio = by_numpy / compiled
    told = f"{ratio:.1f} x ({1e3 * compiled:.1f} ms)"
    return Result(what, told, f"at least {TARGETS[d]:.0f} x", ratio >= TARGETS[d])


def _products_alone(packed: compiled.Packed, dtype: np.dtype) -> Callable[[], None]:
    """Products of rows and references in the registers of all threads, without memory access."""
    level = shared_library.levels_here()[-1]
    n_products = ROWS * packed.n_subsets * packed.n_members * packed.n_columns
    repeats = round(n_products / THREADS / _registers_only(level, dtype, True, 1))
    return lambda: run_tasks(
        lambda _: _registers_only(level, dtype, True, repeats),
        list(range(THREADS)),
        THREADS,
    )


def _share_of_peak(X: np.ndarray, packed: compiled.Packed) -> tuple[float, float]:
    """Products per second relative to a loop without memory access, and the equivalent FLOP/s."""
    level, expanded = shared_library.levels_here()[-1], packed.product is not None
    n_pairs = X.shape[0] * packed.n_subsets * packed.n_members
    of_limit = _registers_only(level, X.dtype, expanded, REPEATS)
    times = []
    for _ in range(40):
        ours = best_of(1, lambda: compiled.mean_nearest(X, packed, level=level, root=True))
        limit = best_of(1, lambda: _registers_only(level, X.dtype, expanded, REPEATS))
        times.append((ours, limit))
    ours, limit = (min(column) for column in zip(*times, strict=True))
    # A product and a sum for each value, and a difference where the square is not expanded.
    rate = (2 if expanded else 3) * n_pairs * packed.n_columns / ours
    return (n_pairs * packed.n_columns / ours) / (of_limit / limit), rate


def _registers_only(level: str, dtype: np.dtype, expanded: bool, repeats: int) -> float:
    """Run the inner loop's arithmetic on registers only.

    Returns the number of pairs of values it processed.
    """
    number, is_double = shared_library.LEVELS.index(level), dtype == np.float64
    return float(shared_library.required_library().odefs_peak(number, is_double, expanded, repeats))


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
