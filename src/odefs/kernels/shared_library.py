"""Shared library of the compiled kernel (``_kernel.c``), if it was built, and its instruction sets.

It is built at install time if there is a C compiler and is never required. It does not depend on
Python, so one file (``_kernel.so``, or ``_kernel.dll`` on Windows) serves every Python version.
``ODEFS_KERNEL`` overrides the choice: ``numpy``, ``compiled``, or an instruction set in ``LEVELS``.
"""

import ctypes
import os
import sys
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from odefs._progress import logger

VERSION = 8
"""Must equal the version in ``_kernel.c``: a library left over from another version is not used."""

PATH = Path(__file__).with_name("_kernel.dll" if sys.platform == "win32" else "_kernel.so")

LEVELS = ("portable", "sse2", "neon", "avx2", "avx512")
"""Instruction sets in ascending order, numbered as in ``_kernel.c``."""

MOST_COLUMNS = {"portable": 40, "sse2": 60, "neon": 100, "avx2": 200, "avx512": 4096}
"""Largest number of columns for which the compiled kernel is faster than NumPy.

Measured against OpenBLAS on the same instruction set; the values for portable and neon are
conservative guesses. With missing cells the compiled kernel is always faster.
"""

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
    # CDLL releases the GIL during calls, so that threads score in parallel.
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


@cache
def levels_here() -> tuple[str, ...]:
    """Return the instruction sets that the library has and this processor can run, ascending."""
    found = library()
    return (
        ()
        if found is None
        else tuple(name for name in LEVELS if found.odefs_has_level(LEVELS.index(name)))
    )


def level_for(n_columns: int, has_missing: bool = False) -> str | None:
    """Return the instruction set for scoring ``n_columns``; ``None`` means NumPy.

    It depends on nothing else: a row's score must not depend on how many rows are scored with it.
    """
    # Cached with the wish as an argument: tests and users may change the variable at any time.
    return _level(os.environ.get("ODEFS_KERNEL", ""), n_columns, has_missing)


@lru_cache(maxsize=1024)
def _level(wish: str, n_columns: int, has_missing: bool) -> str | None:
    here, wish = levels_here(), wish.strip().lower()
    if wish in ("", "auto"):
        return _automatic_level(here, n_columns, has_missing)
    if wish == "numpy" or not n_columns:
        return None
    if wish == "compiled" and here:
        return here[-1]
    if wish in here:
        return wish
    raise ValueError(_refusal(wish, here))


def _automatic_level(here: tuple[str, ...], n_columns: int, has_missing: bool) -> str | None:
    """Return the last of some levels, if it is worth while for so many columns."""
    if not here or not n_columns:
        return None
    # NumPy needs several products per block with missing cells, the kernel one pass.
    return here[-1] if has_missing or n_columns <= MOST_COLUMNS[here[-1]] else None


def _refusal(wish: str, here: tuple[str, ...]) -> str:
    """Explain why the requested kernel is unavailable, and list those that are available."""
    allowed = ", ".join(("auto", "numpy", *(("compiled", *here) if here else ())))
    if wish not in (*LEVELS, "compiled"):
        return f"ODEFS_KERNEL={wish!r} is not a kernel; use one of {allowed}."
    if not here:
        return (
            f"ODEFS_KERNEL={wish!r} was requested, but the compiled kernel was not built: "
            f"use one of {allowed}, or reinstall odefs with a C compiler (GCC or Clang) installed."
        )
    return (
        f"ODEFS_KERNEL={wish!r} was requested, but this processor, its system or this build "
        f"does not support it; use one of {allowed}."
    )


def check_kernel_request() -> None:
    """Raise ``ValueError`` before any work if ``ODEFS_KERNEL`` requests an unavailable kernel.

    ``ODEFS_KERNEL`` is read again with each block of rows.
    """
    level_for(1)


def describe_kernel() -> str:
    """Describe the kernel in use, for bug reports."""
    here = levels_here()
    if not here:
        return "numpy (the compiled one was not built)"
    forced = os.environ.get("ODEFS_KERNEL", "").strip().lower() not in ("", "auto")
    try:
        level = level_for(1)
    except ValueError as error:
        return f"none: {error}"
    if level is None:
        return "numpy (by ODEFS_KERNEL)"
    limit = "" if forced else f", up to {MOST_COLUMNS[level]} columns; numpy above"
    return f"compiled ({level}{limit})"
