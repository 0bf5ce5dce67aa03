"""Block scoring against a matrix product of the same shapes: the cost of minimums and the rest."""

import numpy as np

from benchmarks.result import Result, best_of
from odefs.detectors import LeSiNNDetector
from odefs.kernels.chunking import MAX_BLOCK_ROWS, row_blocks
from odefs.system.threads import one_blas_thread

ROWS = 32_768
LIMIT = 1.8


def run() -> list[Result]:
    with one_blas_thread():
        return [_one(d) for d in (60, 100, 166, 300, 503)]


def _one(d: int) -> Result:
    rng = np.random.default_rng(0)
    # Centred rows, as after scaling, and separate references: in a large table, few rows are
    # references.
    X = rng.random((ROWS, d), dtype=np.float32) - np.float32(0.5)
    detector = LeSiNNDetector()
    state = detector.prepare(rng.random((400, d), dtype=np.float32) - np.float32(0.5), rng)
    references = np.ascontiguousarray(state.rows.T)
    blocks = list(row_blocks(ROWS, MAX_BLOCK_ROWS))
    product = np.empty((MAX_BLOCK_ROWS, references.shape[1]), dtype=np.float32)

    def score() -> None:
        for rows in blocks:
            detector.score(X[rows], state)

    def multiply() -> None:
        for rows in blocks:
            np.matmul(X[rows], references, out=product)

    # Taken in turns, so that a slow moment of the machine hits both.
    times = [(best_of(1, score), best_of(1, multiply)) for _ in range(15)]
    ours, bare = (min(column) for column in zip(*times, strict=True))
    ratio = ours / bare
    return Result(
        f"block scoring at d = {d} against the bare matrix product, one thread",
        f"{ratio:.2f} x",
        f"at most {LIMIT} x",
        ratio <= LIMIT,
    )
