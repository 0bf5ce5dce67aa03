"""Matrix products in which the bits of a row depend on that row alone.

BLAS promises no order of summation. OpenBLAS's float32 kernel for AVX2 computes the first and the
last eight rows of a call in another order than the rows between them, others treat leftover rows or
large calls differently. A row's score would then depend on its batch. So rows are multiplied in
slabs of one shape, and the library at hand is probed once per shape: all rows of a slab are made
equal, and every place must give the same bits. Where one does not, spare rows at both ends of each
slab take the places that differ; where that does not help, float64; and as the last resort einsum,
whose order of summation is NumPy's own.
"""

import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from odefs.kernels.chunking import scratch
from odefs.system.threads import one_blas_thread

SLAB_ROWS = 64
"""Measured: lower slabs lose throughput, higher ones make a single row dearer."""

SPARE_ROWS = (0, 8)
"""Numbers of unused rows at each end to try. Both keep slabs on 64-byte boundaries, on which some
libraries' choice of kernel depends."""

PROBES = 3
"""Random rows that are tried: a different order of summation shows in almost every one of them."""


@dataclass(frozen=True)
class SlabLayout:
    """How rows are cut for products with one shape of references."""

    dtype: np.dtype[Any]
    spare_rows: int
    uses_blas: bool = True

    def empty_slabs(self, n_rows: int, n_columns: int) -> np.ndarray:
        """Scratch of shape (slabs, places, columns), with zeros in the places of spare rows and of rows beyond ``n_rows``."""
        slabs = scratch("slabs", (-(-n_rows // SLAB_ROWS), SLAB_ROWS + 2 * self.spare_rows, n_columns), self.dtype)
        slabs[:, : self.spare_rows] = slabs[:, self.spare_rows + SLAB_ROWS :] = 0
        if n_rows % SLAB_ROWS:
            slabs[-1, self.spare_rows + n_rows % SLAB_ROWS :] = 0
        return slabs

    def rows_of(self, slabs: np.ndarray) -> np.ndarray:
        """A view of slabs, or of anything with as many places along its second axis, without spare rows."""
        return slabs[:, self.spare_rows : self.spare_rows + SLAB_ROWS]

    def fill(self, slabs: np.ndarray, rows: np.ndarray) -> None:
        """Copy rows into slabs of as many columns."""
        places, (n_full, n_left) = self.rows_of(slabs), divmod(rows.shape[0], SLAB_ROWS)
        places[:n_full] = rows[: n_full * SLAB_ROWS].reshape(n_full, SLAB_ROWS, rows.shape[1])
        if n_left:
            places[n_full, :n_left] = rows[n_full * SLAB_ROWS :]

    def multiply(self, references: np.ndarray, slabs: np.ndarray) -> np.ndarray:
        """``references @ rows.T`` of every slab, shape (slabs, references, places); scratch."""
        out = scratch("slab products", (slabs.shape[0], references.shape[0], slabs.shape[1]), self.dtype)
        (_by_blas if self.uses_blas else _by_einsum)(references, slabs, out)
        return out

    def in_row_order(self, products: np.ndarray) -> np.ndarray:
        """A copy, from shape (slabs, values, places) to (values, rows); it ends with rows that fill the last slab."""
        kept = products[:, :, self.spare_rows : self.spare_rows + SLAB_ROWS].transpose(1, 0, 2)
        return np.array(kept, order="C").reshape(products.shape[1], -1)

    def products(self, references: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """``references @ rows.T`` as a new array."""
        slabs = self.empty_slabs(*rows.shape)
        self.fill(slabs, rows)
        return self.in_row_order(self.multiply(references, slabs))[:, : rows.shape[0]]


_lock = threading.Lock()


def slab_layout(n_references: int, n_columns: int, dtype: np.dtype[Any]) -> SlabLayout:
    """The first layout in which no row's product depends on its place, with BLAS on one thread."""
    # One thread probes, the others wait: each would do the same work, and hold as much memory.
    with _lock:
        return _layout(n_references, n_columns, np.dtype(dtype))


def _after_fork() -> None:
    """Whoever held the lock in the parent does not do so here."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@lru_cache(maxsize=4096)
def _layout(n_references: int, n_columns: int, dtype: np.dtype[Any]) -> SlabLayout:
    rng = np.random.default_rng(0)
    # A few random rows, repeated: which kernel a product takes depends on the shape, not on the values.
    references = np.resize(rng.normal(size=(PROBES, n_columns)), (n_references, n_columns))
    rows = rng.normal(size=(PROBES, n_columns))
    with one_blas_thread():
        for precision in dict.fromkeys([dtype, np.dtype(np.float64)]):
            for spare_rows in SPARE_ROWS:
                layout = SlabLayout(precision, spare_rows)
                if _is_steady(layout, aligned(references, precision), rows):
                    return layout
    return SlabLayout(np.dtype(np.float64), 0, uses_blas=False)


def _is_steady(layout: SlabLayout, references: np.ndarray, rows: np.ndarray) -> bool:
    """Whether equal rows have equal products wherever they stand in a slab."""
    for row in rows:
        products = layout.products(references, np.broadcast_to(row, (SLAB_ROWS, row.size)))
        if (products != products[:, :1]).any():
            return False
    return True


def aligned(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """A copy in C order that begins where a cache line does, wherever the allocator puts it."""
    n_bytes = values.size * dtype.itemsize
    room = np.empty(n_bytes + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + n_bytes].view(dtype).reshape(values.shape)
    copy[...] = values
    return copy


def _by_blas(references: np.ndarray, slabs: np.ndarray, out: np.ndarray) -> None:
    np.matmul(references, slabs.transpose(0, 2, 1), out=out)


def _by_einsum(references: np.ndarray, slabs: np.ndarray, out: np.ndarray) -> None:
    for slab, part in zip(slabs, out, strict=True):
        np.einsum("rk,ik->ri", references, slab, out=part)
