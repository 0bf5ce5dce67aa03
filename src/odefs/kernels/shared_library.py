"""The shared library of the compiled kernel (``_kernel.c``), where it was built.

It knows nothing of Python, so one file, ``_kernel.so`` or on Windows ``_kernel.dll``, serves every version of it.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from odefs._logging import logger

VERSION = 8
"""As ``_kernel.c`` says it: a library left over from another version is not used."""

PATH = Path(__file__).with_name("_kernel.dll" if sys.platform == "win32" else "_kernel.so")

FUNCTIONS = {
    "odefs_kernel_version": ((), ctypes.c_int),
    "odefs_has_level": ((ctypes.c_int,), ctypes.c_int),
    "odefs_score": ((ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p), ctypes.c_int),
    "odefs_mean_squares": ((ctypes.c_int, ctypes.c_void_p), ctypes.c_int),
    "odefs_peak": ((ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64), ctypes.c_double),
}
"""Arguments and result of every function that the library exports."""


@cache
def library() -> ctypes.CDLL | None:
    """The shared library, or ``None`` where it was not built or cannot be loaded, which is logged."""
    try:
        found = _load()
    except (OSError, AttributeError) as error:
        # Whoever asks for NumPy does not miss it.
        if os.environ.get("ODEFS_KERNEL", "").strip().lower() != "numpy":
            why = f"cannot be loaded ({error})" if PATH.exists() else "was not built"
            logger.warning(
                "The compiled kernel %s; NumPy is used instead, which is slower. To get the kernel, reinstall odefs from "
                "source with GCC or Clang installed and ODEFS_REQUIRE_KERNEL=1 set, which reports why a build fails.",
                why,
            )
        return None
    return found


def _load() -> ctypes.CDLL:
    found = ctypes.CDLL(str(PATH))
    for name, (arguments, result) in FUNCTIONS.items():
        function = getattr(found, name)
        function.argtypes, function.restype = arguments, result
    version = found.odefs_kernel_version()
    if version != VERSION:
        raise OSError(f"it has version {version} and this odefs needs version {VERSION}")
    return found


def address(array: np.ndarray | None) -> int | None:
    """Where an array begins."""
    return None if array is None else array.__array_interface__["data"][0]
