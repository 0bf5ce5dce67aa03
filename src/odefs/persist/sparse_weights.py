"""The matrix of learned feature weights, lossless and small.

Most weights are exactly 0: one bit per cell says where the others are, and these follow as they
are. The matrix that comes back is at most 64 times as large as its bits, so a file still cannot ask
for much more memory than its own size.
"""

import numpy as np

from odefs.persist.checks import Arrays, require


def put_sparse(matrix: np.ndarray, arrays: dict[str, np.ndarray], name: str) -> None:
    """Store a float64 matrix."""
    flat = np.ascontiguousarray(matrix, dtype=np.float64).reshape(-1)
    # By their bits, so that -0.0 is kept too.
    present = flat.view(np.uint64) != 0
    arrays[f"{name}/present"] = np.packbits(present)
    arrays[f"{name}/values"] = flat[present]


def get_sparse(arrays: Arrays, name: str, shape: tuple[int, int]) -> np.ndarray:
    """The matrix, after a check that bits and values belong together."""
    cells = shape[0] * shape[1]
    bits = arrays.take(f"{name}/present", "u", (-(-cells // 8),))
    require(bits.dtype == np.uint8, "feature weights are not marked by bits")
    present = np.unpackbits(bits, count=cells).astype(bool)
    values = arrays.take(f"{name}/values", "f", (int(np.count_nonzero(present)),))
    require(np.isfinite(values).all(), "feature weights are not finite")
    matrix = np.zeros(cells)
    matrix[present] = values
    return matrix.reshape(shape)
