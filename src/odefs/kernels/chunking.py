"""Row blocks: block heights derived from a byte budget, and scratch memory kept per thread."""

import math
import threading
from collections.abc import Iterator

import numpy as np

PADDING = 64
"""Blocks hold a multiple of this many rows: whole slabs of a matrix product
(:mod:`odefs.kernels.stable_products`).
"""

ALIGNMENT = 64
"""Scratch memory starts on a cache line: some BLAS libraries choose their kernels by alignment."""

BLOCK_BYTES = 8 * 2**20
"""Memory for one block per worker: its rows and their distances to the references."""

MAX_BLOCK_ROWS = 1024
"""Measured: taller blocks no longer fit the cache, shorter ones pay more overhead per call."""

MAX_KERNEL_ROWS = 8192
"""Limit for the compiled kernel, which keeps its rows in cache by itself: each call and each task
handed to a thread costs as much as a few hundred rows.
"""

BLOCKS_PER_THREAD = 4
"""Block height is limited so that each thread gets this many blocks: a thread slowed down by other
work then leaves blocks to the others.
"""


def block_rows(bytes_per_row: int, most: int = MAX_BLOCK_ROWS) -> int:
    """Return the height of a block with ``bytes_per_row``, as a multiple of ``PADDING``."""
    rows = BLOCK_BYTES // max(1, bytes_per_row)
    return int(min(most, max(PADDING, rows // PADDING * PADDING)))


def kernel_rows(bytes_per_row: int, n_rows: int, n_threads: int) -> int:
    """Return the block height for the compiled kernel when threads share ``n_rows``."""
    # Only for the compiled kernel, whose lanes do not see each other: where BLAS is called, heights
    # must not depend on the number of threads.
    shared = padded_rows(n_rows // (BLOCKS_PER_THREAD * n_threads))
    return block_rows(bytes_per_row, min(MAX_KERNEL_ROWS, max(MAX_BLOCK_ROWS, shared)))


def row_blocks(n_rows: int, height: int) -> Iterator[slice]:
    """Yield slices of ``height`` rows that cover ``n_rows`` in order; the last may be shorter."""
    for start in range(0, n_rows, height):
        yield slice(start, min(start + height, n_rows))


def padded_rows(n_rows: int) -> int:
    """Round up to a multiple of ``PADDING``."""
    return -(-n_rows // PADDING) * PADDING


_local = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> np.ndarray:
    """Return an uninitialised array that this thread reuses under ``name``.

    It is valid until the next call with the same name. Allocating fresh megabyte arrays would cost
    page faults comparable to the arithmetic done on them.
    """
    buffers: dict[str, np.ndarray] = _local.__dict__.setdefault("buffers", {})
    n_bytes = math.prod(shape) * dtype.itemsize
    buffer = buffers.get(name)
    if buffer is None or buffer.nbytes < n_bytes:
        storage = np.empty(n_bytes + ALIGNMENT, dtype=np.uint8)
        start = -storage.ctypes.data % ALIGNMENT
        buffers[name] = buffer = storage[start : start + n_bytes]
    return buffer[:n_bytes].view(dtype).reshape(shape)
