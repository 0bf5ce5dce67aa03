"""Shared library of the compiled kernel (``_kernel.c``), if it was built.

It does not depend on Python, so one file (``_kernel.so``, or ``_kernel.dll`` on Windows) serves
every Python version.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from odefs._progress import logger

VERSION = 8
"""Must equal the version in ``_kernel.c``: a library left over from another version is not used."""

PATH = Path(__file__).with_name("_kernel.dll" if sys.platform == "win32" else "_kernel.so")

FUNCTIONS = {
    "odefs_kernel_version": ((), ctypes.c_int),
    "odefs_has_level": ((ctypes.c_int,), ctypes.c_int),
    "odefs_score": ((ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p), ctypes.c_int),
    "odefs_mean_squares": ((ctypes.c_int, ctypes.c_void_p), ctypes.c_int),
    "odefs_peak": ((ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64), ctypes.c_double),
}
"""Argument types and result type of every function that the library exports."""


@cache
def library() -> ctypes.CDLL | None:
    """Return the shared library, or ``None`` (logged) if it was not built or cannot be loaded."""
    try:
        found = _load()
    except (OSError, AttributeError) as error:
        # A user who requested NumPy needs no warning.
        if os.environ.get("ODEFS_KERNEL", "").strip().lower() != "numpy":
            why = f"cannot be loaded ({error})" if PATH.exists() else "was not built"
            logger.warning(
                "The compiled kernel %s; NumPy is used instead, which is slower. To get the "
                "kernel, reinstall odefs from source with GCC or Clang installed and "
                "ODEFS_REQUIRE_KERNEL=1 set, which reports why a build fails.",
                why,
            )
        return None
    return found


def required_library() -> ctypes.CDLL:
    """Return the shared library for callers that already chose one of its instruction sets."""
    found = library()
    if found is None:
        raise RuntimeError(
            "The compiled kernel is not available; set ODEFS_KERNEL=numpy to use NumPy."
        )
    return found


def _load() -> ctypes.CDLL:
    found = ctypes.CDLL(str(PATH))
    for name, (arguments, result) in FUNCTIONS.items():
        function = getattr(found, name)
        function.argtypes, function.restype = arguments, result
    version = found.odefs_kernel_version()
    if version != VERSION:
        raise OSError(f"it has version {version}, but this odefs requires version {VERSION}")
    return found


def address(array: np.ndarray | None) -> int | None:
    """Return the memory address of an array's data."""
    return None if array is None else array.__array_interface__["data"][0]
