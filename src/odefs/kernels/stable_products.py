"""Matrix products in which the bits of a row depend on that row alone.

BLAS does not guarantee an order of summation. OpenBLAS's float32 kernel for AVX2 sums the first and
the last eight rows of a call in a different order than the rows between them; other libraries treat
leftover rows or large calls differently. A row's score would then depend on its batch. Rows are
therefore multiplied in slabs of one fixed shape, and the installed library is probed once per
shape: all rows of a slab are made equal, and every position must give the same bits. If some
position does not, spare rows at both ends of each slab occupy the positions that differ; if that
does not help, float64 is used; and as the last resort einsum, whose order of summation is NumPy's
own.
"""

import os
import threading
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from odefs.kernels.chunking import scratch
from odefs.system.threads import one_blas_thread

SLAB_ROWS = 64
"""Measured: shorter slabs lose throughput, taller ones make a single row more expensive."""

SPARE_ROWS = (0, 8)
"""Numbers of unused rows at each end to try. Both keep slabs on 64-byte boundaries, on which some
libraries' choice of kernel depends.
"""

PROBES = 3
"""Number of random rows to try: a different order of summation shows in almost every one."""


@dataclass(frozen=True)
class SlabLayout:
    """Division of rows into slabs for products with one shape of references."""

    dtype: np.dtype[np.generic]
    spare_rows: int
    uses_blas: bool = True

    def empty_slabs(self, n_rows: int, n_columns: int) -> np.ndarray:
        """Return scratch of shape (slabs, positions, columns).

        Spare rows and rows beyond ``n_rows`` are zero.
        """
        slabs = scratch(
            "slabs",
            (-(-n_rows // SLAB_ROWS), SLAB_ROWS + 2 * self.spare_rows, n_columns),
            self.dtype,
        )
        # Scratch holds old numbers, possibly NaN or infinity.
        slabs[:, : self.spare_rows] = slabs[:, self.spare_rows + SLAB_ROWS :] = 0
        if n_rows % SLAB_ROWS:
            slabs[-1, self.spare_rows + n_rows % SLAB_ROWS :] = 0
        return slabs

    def rows_of(self, slabs: np.ndarray) -> np.ndarray:
        """Return a view of slabs, or of any array with the same second axis, without spare rows."""
        return slabs[:, self.spare_rows : self.spare_rows + SLAB_ROWS]

    def fill(self, slabs: np.ndarray, rows: np.ndarray) -> None:
        """Copy rows into slabs with the same number of columns."""
        places, (n_full, n_left) = self.rows_of(slabs), divmod(rows.shape[0], SLAB_ROWS)
        places[:n_full] = rows[: n_full * SLAB_ROWS].reshape(n_full, SLAB_ROWS, rows.shape[1])
        if n_left:
            places[n_full, :n_left] = rows[n_full * SLAB_ROWS :]

    def multiply(self, references: np.ndarray, slabs: np.ndarray) -> np.ndarray:
        """Return ``references @ rows.T`` of every slab, shape (slabs, references, positions);
        scratch.
        """
        out = scratch(
            "slab products", (slabs.shape[0], references.shape[0], slabs.shape[1]), self.dtype
        )
        (_by_blas if self.uses_blas else _by_einsum)(references, slabs, out)
        return out

    def in_row_order(self, products: np.ndarray) -> np.ndarray:
        """Copy from shape (slabs, values, positions) to (values, rows).

        The result ends with the rows that pad the last slab.
        """
        kept = products[:, :, self.spare_rows : self.spare_rows + SLAB_ROWS].transpose(1, 0, 2)
        # A copy, since scratch is overwritten by the next product.
        return np.array(kept, order="C").reshape(products.shape[1], -1)

    def products(self, references: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return ``references @ rows.T`` as a new array."""
        slabs = self.empty_slabs(*rows.shape)
        self.fill(slabs, rows)
        return self.in_row_order(self.multiply(references, slabs))[:, : rows.shape[0]]


_lock = threading.Lock()


def slab_layout(n_references: int, n_columns: int, dtype: np.dtype[np.generic]) -> SlabLayout:
    """Return the first layout in which no row's product depends on its position.

    BLAS runs on one thread.
    """
    # One thread probes while the others wait: each would do the same work and use as much memory.
    with _lock:
        return _layout(n_references, n_columns, np.dtype(dtype))


def _after_fork() -> None:
    """Replace the lock: the thread that held it in the parent does not exist in the child."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@lru_cache(maxsize=4096)
def _layout(n_references: int, n_columns: int, dtype: np.dtype[np.generic]) -> SlabLayout:
    rng = np.random.default_rng(0)
    # A few random rows, repeated: BLAS chooses a kernel by the shape, not by the values.
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
    """Return whether equal rows have equal products at every position of a slab."""
    for row in rows:
        products = layout.products(references, np.broadcast_to(row, (SLAB_ROWS, row.size)))
        # Exact comparison is meant: equal rows must have equal bits.
        if (products != products[:, :1]).any():
            return False
    return True


def aligned(values: np.ndarray, dtype: np.dtype[np.generic]) -> np.ndarray:
    """Return a copy in C order that starts on a cache line."""
    n_bytes = values.size * dtype.itemsize
    storage = np.empty(n_bytes + 64, dtype=np.uint8)
    start = -storage.ctypes.data % 64
    copy = storage[start : start + n_bytes].view(dtype).reshape(values.shape)
    copy[...] = values
    return copy


def _by_blas(references: np.ndarray, slabs: np.ndarray, out: np.ndarray) -> None:
    # matmul calls BLAS once per slab, always with the same shape.
    np.matmul(references, slabs.transpose(0, 2, 1), out=out)


def _by_einsum(references: np.ndarray, slabs: np.ndarray, out: np.ndarray) -> None:
    for slab, part in zip(slabs, out, strict=True):
        np.einsum("rk,ik->ri", references, slab, out=part)
