"""Matrix products in which the bits of a row depend on that row alone.

BLAS promises no order of summation. OpenBLAS's float32 kernel for AVX2 computes the last eight
rows of a call in another order than the rows before them, others treat leftover rows or large
calls differently. A row's score would then depend on its batch. So rows are multiplied in slabs of
one shape, and the library at hand is probed once per shape: all rows of a slab are made equal, and
every place must give the same bits. Where one does not, spare rows at the end of each slab take
the places that differ; where that does not help, float64; and as the last resort einsum, whose
order of summation is NumPy's own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from odefs._ops.blocks import scratch
from odefs._ops.threads import one_blas_thread

SLAB_ROWS = 64
"""Measured: lower slabs lose throughput, higher ones make a single row dearer."""

SPARE_ROWS = (0, 16)
"""Numbers of unused rows to try. Both keep slabs on 64-byte boundaries, on which some libraries' choice of
kernel depends."""

PROBES = 3
"""Random rows that are tried: a different order of summation shows in almost every one of them."""

Multiply = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class SlabLayout:
    """How rows are cut for products with one shape of references."""

    dtype: np.dtype[Any]
    spare_rows: int
    uses_blas: bool = True

    def empty_slabs(self, n_rows: int, n_columns: int) -> np.ndarray:
        """Scratch of shape (slabs, rows, columns) with room for ``n_rows``."""
        n_slabs = -(-n_rows // SLAB_ROWS)
        return scratch("slabs", (n_slabs, SLAB_ROWS + self.spare_rows, n_columns), self.dtype)

    def cut(self, rows: np.ndarray) -> np.ndarray:
        """Rows as slabs, filled up with rows of zeros."""
        slabs = self.empty_slabs(*rows.shape)
        fill_slabs(slabs, rows)
        clear_rest(slabs, rows.shape[0])
        return slabs

    def multiply(self, references: np.ndarray, slabs: np.ndarray) -> np.ndarray:
        """``references @ rows.T`` of every slab, shape (slabs, references, rows); scratch, spare rows included."""
        shape = (slabs.shape[0], references.shape[0], slabs.shape[1])
        out = scratch("slab products", shape, self.dtype)
        (_by_blas if self.uses_blas else _by_einsum)(references, slabs, out)
        return out

    def products(self, references: np.ndarray, slabs: np.ndarray) -> np.ndarray:
        """The same as a new array of shape (references, rows), which ends with those that fill the last slab."""
        return in_row_order(self.multiply(references, slabs))


def fill_slabs(slabs: np.ndarray, rows: np.ndarray) -> None:
    """Copy rows into slabs of as many columns; places without a row are left as they are."""
    n_full, n_left = divmod(rows.shape[0], SLAB_ROWS)
    slabs[:n_full, :SLAB_ROWS] = rows[: n_full * SLAB_ROWS].reshape(n_full, SLAB_ROWS, rows.shape[1])
    if n_left:
        slabs[n_full, :n_left] = rows[n_full * SLAB_ROWS :]


def clear_rest(slabs: np.ndarray, n_rows: int) -> None:
    """Put zeros where there is no row."""
    slabs[:, SLAB_ROWS:] = 0
    if n_rows % SLAB_ROWS:
        slabs[-1, n_rows % SLAB_ROWS :] = 0


def in_row_order(products: np.ndarray) -> np.ndarray:
    """A copy, from shape (slabs, values, rows) to (values, rows), without spare rows."""
    kept = products[:, :, :SLAB_ROWS].transpose(1, 0, 2)
    return np.array(kept, order="C").reshape(products.shape[1], -1)


def slab_layout(n_references: int, n_columns: int, dtype: np.dtype[Any]) -> SlabLayout:
    """The first layout in which no row's product depends on its place, with BLAS on one thread."""
    return _layout(n_references, n_columns, np.dtype(dtype))


@lru_cache(maxsize=4096)
def _layout(n_references: int, n_columns: int, dtype: np.dtype[Any]) -> SlabLayout:
    precisions = dict.fromkeys([dtype, np.dtype(np.float64)])
    with one_blas_thread():
        for precision in precisions:
            for spare_rows in SPARE_ROWS:
                if _is_steady(n_references, n_columns, precision, spare_rows, _by_blas):
                    return SlabLayout(precision, spare_rows)
    return SlabLayout(np.dtype(np.float64), 0, uses_blas=False)


def _is_steady(n_references: int, n_columns: int, dtype: np.dtype[Any], spare_rows: int, multiply: Multiply) -> bool:
    """Whether equal rows have equal products wherever they stand in a slab."""
    rng = np.random.default_rng(0)
    references = aligned(rng.normal(size=(n_references, n_columns)), dtype)
    slab = aligned(np.zeros((1, SLAB_ROWS + spare_rows, n_columns)), dtype)
    out = aligned(np.zeros((1, n_references, SLAB_ROWS + spare_rows)), dtype)
    for _ in range(PROBES):
        slab[...] = rng.normal(size=n_columns)
        multiply(references, slab, out)
        if (out[:, :, :SLAB_ROWS] != out[:, :, :1]).any():
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
