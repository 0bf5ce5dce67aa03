"""Compact lossless storage of the learned feature weights.

Most weights are exactly 0: one bit per cell marks the others, whose values follow. The restored
matrix is at most 64 times as large as its bits, so a file cannot require much more memory than its
own size.
"""

import numpy as np

from odefs.persist.checks import Arrays, require


def put_sparse(matrix: np.ndarray, arrays: dict[str, np.ndarray], name: str) -> None:
    """Store a float64 matrix."""
    flat = np.ascontiguousarray(matrix, dtype=np.float64).reshape(-1)
    # Compared as bits, so that -0.0 is kept too.
    present = flat.view(np.uint64) != 0
    arrays[f"{name}/present"] = np.packbits(present)
    arrays[f"{name}/values"] = flat[present]


def get_sparse(arrays: Arrays, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Return the matrix, after checking that bits and values match."""
    cells = shape[0] * shape[1]
    bits = arrays.take(f"{name}/present", "u", (-(-cells // 8),))
    require(bits.dtype == np.uint8, "the bits that mark feature weights have the wrong type")
    present = np.unpackbits(bits, count=cells).astype(bool)
    values = arrays.take(f"{name}/values", "f", (int(np.count_nonzero(present)),))
    require(np.isfinite(values).all(), "feature weights are not finite")
    matrix = np.zeros(cells)
    matrix[present] = values
    return matrix.reshape(shape)
