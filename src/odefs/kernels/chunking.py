"""How rows are cut into blocks: heights from a byte budget, scratch memory kept per thread."""

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

PADDING = 64
"""Blocks hold a multiple of this many rows: whole slabs of a matrix product (:mod:`odefs.kernels.stable_products`)."""

ALIGNMENT = 64
"""Scratch memory begins on a cache line: some BLAS libraries choose their kernels by it."""

BLOCK_BYTES = 8 * 2**20
"""What one worker may hold of a block: its rows and their distances to the references."""

MAX_BLOCK_ROWS = 1024
"""Measured: higher blocks leave the cache, lower ones pay more per call."""

MAX_KERNEL_ROWS = 8192
"""The same for the compiled kernel, which keeps its rows in cache by itself: each call and each task handed to a thread costs as much as some
hundred rows."""

BLOCKS_PER_THREAD = 4
"""Blocks are not made higher than leaves each thread so many: one that is slowed down by something else then leaves the rest to others."""


def block_rows(bytes_per_row: int, most: int = MAX_BLOCK_ROWS) -> int:
    """Height of a block whose rows cost ``bytes_per_row`` each, as a multiple of ``PADDING``."""
    rows = BLOCK_BYTES // max(1, bytes_per_row)
    return int(min(most, max(PADDING, rows // PADDING * PADDING)))


def kernel_rows(bytes_per_row: int, n_rows: int, n_threads: int) -> int:
    """Height of a block for the compiled kernel, where ``n_rows`` are to be shared among threads."""
    shared = padded_rows(n_rows // (BLOCKS_PER_THREAD * n_threads))
    return block_rows(bytes_per_row, min(MAX_KERNEL_ROWS, max(MAX_BLOCK_ROWS, shared)))


def row_blocks(n_rows: int, height: int) -> Iterator[slice]:
    """Slices of ``height`` rows that cover ``n_rows`` in order; the last one may be shorter."""
    for start in range(0, n_rows, height):
        yield slice(start, min(start + height, n_rows))


def padded_rows(n_rows: int) -> int:
    """The next multiple of ``PADDING``."""
    return -(-n_rows // PADDING) * PADDING


_local = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised array that this thread reuses under ``name``; valid until the next call with the same name.

    Fresh megabyte arrays cost page faults that are comparable to the arithmetic done on them.
    """
    buffers: dict[str, np.ndarray] = _local.__dict__.setdefault("buffers", {})
    n_bytes = math.prod(shape) * dtype.itemsize
    buffer = buffers.get(name)
    if buffer is None or buffer.nbytes < n_bytes:
        room = np.empty(n_bytes + ALIGNMENT, dtype=np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        buffers[name] = buffer = room[start : start + n_bytes]
    return buffer[:n_bytes].view(dtype).reshape(shape)
