"""The mean square to the nearest references column by column, by the compiled kernel (``_kernel_choices.h``)."""

import ctypes
from typing import Any

import numpy as np

from odefs.kernels.compiled import LEVELS
from odefs.kernels.shared_library import address, library


class _Choices(ctypes.Structure):
    """``Choices`` of ``_kernel.c``."""

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
    level: str, squares: np.ndarray, norms: np.ndarray, slack: np.ndarray, x: np.ndarray, r: np.ndarray, out: np.ndarray
) -> None:
    """Write ``1/c sum_i (x_k - r_ik)^2`` to ``out``, with ``r_i`` the first member of subset ``i`` that is as near as any, up to ``slack``.

    ``squares`` (rows x references) holds ``-2 x . r`` under weights and is overwritten, ``norms`` has a row of ``|r|^2`` for each member; float64 in C order.
    """
    n_members, n_subsets = norms.shape
    (n_rows, n_columns), arrays = x.shape, (squares, norms, slack, x, r, out)
    shapes = ((n_rows, norms.size), norms.shape, (n_rows,), x.shape, (norms.size, n_columns), x.shape)
    if any(
        a.shape != shape or a.dtype != np.float64 or not a.flags.c_contiguous
        for a, shape in zip(arrays, shapes, strict=True)
    ):
        raise ValueError("the compiled kernel takes float64 arrays in C order whose shapes fit each other")
    part = _Choices(*map(address, arrays[:-1]), n_rows, n_columns, n_members, n_subsets, address(out))
    found: Any = library()
    if found.odefs_mean_squares(LEVELS.index(level), ctypes.addressof(part)):
        raise MemoryError("no memory for a few rows of the compiled kernel")
