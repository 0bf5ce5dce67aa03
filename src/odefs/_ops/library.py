"""The shared library of the compiled kernel (``_kernel.c``), where it was built."""

import ctypes
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np

VERSION = 7
"""As ``_kernel.c`` says it: a library left over from another version is not used."""


@cache
def library() -> ctypes.CDLL | None:
    """The shared library, or ``None`` where it was not built."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_kernel{suffix}")
        if not path.is_file():
            continue
        try:
            found = ctypes.CDLL(str(path))
            if found.odefs_kernel_version() != VERSION:
                continue
        except (OSError, AttributeError):
            continue
        found.odefs_score.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        found.odefs_mean_squares.argtypes = (ctypes.c_int, ctypes.c_void_p)
        found.odefs_pack_tiles.argtypes = (ctypes.c_void_p,)
        found.odefs_peak.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
        found.odefs_peak.restype = ctypes.c_double
        return found
    return None


def address(array: np.ndarray | None) -> int | None:
    """Where an array begins."""
    return None if array is None else array.__array_interface__["data"][0]
