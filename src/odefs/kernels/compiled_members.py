"""Mean squares to the nearest references per column, computed by the compiled kernel
(``_kernel_choices.h``).
"""

import ctypes

import numpy as np

from odefs.kernels.compiled import LEVELS
from odefs.kernels.shared_library import address, required_library


class _Choices(ctypes.Structure):
    """Mirror of the C struct ``Choices`` in ``_kernel.c``."""

    _fields_ = (
        ("squares", ctypes.c_void_p),
        ("norms", ctypes.c_void_p),
        ("slack", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("references", ctypes.c_void_p),
        ("n_rows", ctypes.c_int64),
        ("n_columns", ctypes.c_int64),
        ("n_members", ctypes.c_int64),
        ("n_subsets", ctypes.c_int64),
        ("out", ctypes.c_void_p),
    )


def mean_squares(
    level: str,
    squares: np.ndarray,
    norms: np.ndarray,
    slack: np.ndarray,
    x: np.ndarray,
    r: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write ``1/c sum_i (x_k - r_ik)^2`` to ``out``.

    ``r_i`` is the first member of subset ``i`` whose square is within ``slack`` of the smallest.
    ``squares`` (rows x references) holds ``-2 x . r`` under weights and is overwritten; ``norms``
    has a row of ``|r|^2`` for each member. All arrays are float64 in C order.
    """
    n_members, n_subsets = norms.shape
    (n_rows, n_columns), arrays = x.shape, (squares, norms, slack, x, r, out)
    shapes = (
        (n_rows, norms.size),
        norms.shape,
        (n_rows,),
        x.shape,
        (norms.size, n_columns),
        x.shape,
    )
    if any(
        a.shape != shape or a.dtype != np.float64 or not a.flags.c_contiguous
        for a, shape in zip(arrays, shapes, strict=True)
    ):
        raise ValueError(
            "The compiled kernel requires float64 arrays in C order with consistent shapes."
        )
    arguments = _Choices(
        *map(address, arrays[:-1]), n_rows, n_columns, n_members, n_subsets, address(out)
    )
    if required_library().odefs_mean_squares(LEVELS.index(level), ctypes.addressof(arguments)):
        raise MemoryError("Out of memory in the compiled kernel.")
