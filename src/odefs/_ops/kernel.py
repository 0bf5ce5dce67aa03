"""The compiled kernel (``_kernel.c``): whether it is there, when it is used, how references are packed for it and how it is called.

It is built at install time where there is a compiler and never required. ``ODEFS_KERNEL`` overrides the choice: ``numpy``, ``compiled``, or one of
the instruction sets in ``LEVELS``.
"""

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np

LEVELS = ("portable", "sse2", "neon", "avx2", "avx512")
"""Instruction sets in ascending order, as ``_kernel.c`` counts them."""

VERSION = 1

MOST_COLUMNS = {"portable": 40, "sse2": 60, "neon": 100, "avx2": 160, "avx512": 160}
"""Up to here the compiled kernel is the faster one; beyond, the matrix product is."""


class _Block(ctypes.Structure):
    """``Block`` of ``_kernel.c``."""

    _fields_ = (
        ("rows", ctypes.c_void_p),
        ("n_rows", ctypes.c_int64),
        ("row_stride", ctypes.c_int64),
        ("column_stride", ctypes.c_int64),
        ("columns", ctypes.c_void_p),
        ("centre", ctypes.c_void_p),
        ("scale", ctypes.c_void_p),
        ("references", ctypes.c_void_p),
        ("table_columns", ctypes.c_int64),
        ("n_columns", ctypes.c_int64),
        ("n_subsets", ctypes.c_int64),
        ("n_members", ctypes.c_int64),
        ("take_root", ctypes.c_int64),
        ("total", ctypes.c_double),
        ("out", ctypes.c_void_p),
    )


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
        found.odefs_peak.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64)
        found.odefs_peak.restype = ctypes.c_double
        return found
    return None


@cache
def levels_here() -> tuple[str, ...]:
    """The instruction sets that the library has and this processor can run, ascending."""
    found = library()
    return () if found is None else tuple(name for i, name in enumerate(LEVELS) if found.odefs_has_level(i))


def level_for(n_columns: int, has_missing: bool = False) -> str | None:
    """The instruction set to score so many columns with; ``None`` stands for NumPy.

    It depends on nothing else: a row's score must not depend on how many rows come with it.
    """
    here = levels_here()
    wish = os.environ.get("ODEFS_KERNEL", "").strip().lower()
    if wish in ("", "auto"):
        return here[-1] if here and (has_missing or n_columns <= MOST_COLUMNS[here[-1]]) and n_columns else None
    if wish == "numpy" or not n_columns:
        return None
    if wish == "compiled" and here:
        return here[-1]
    if wish in here:
        return wish
    allowed = ", ".join(("auto", "numpy", *(("compiled", *here) if here else ())))
    why = (
        "" if here else " The compiled kernel was not built: reinstall odefs with a C compiler (GCC or Clang) at hand."
    )
    raise ValueError(f"ODEFS_KERNEL={wish!r} is not one of {allowed}.{why}")


def describe_kernel() -> str:
    """Which kernel is in use, for bug reports."""
    here = levels_here()
    if not here:
        return "numpy (the compiled one was not built)"
    forced = "ODEFS_KERNEL" in os.environ
    level = level_for(1)
    if level is None:
        return "numpy (by ODEFS_KERNEL)"
    limit = "" if forced else f", up to {MOST_COLUMNS[level]} columns; numpy above"
    return f"compiled ({level}{limit})"


@dataclass(frozen=True, eq=False)
class Packed:
    """References in the order in which the kernel reads them: by subset, chunk of 8 or 4 members, column, member.

    With weights, rows and references become ``(x - centre) * root_weights``. ``total`` is the sum of the weights.
    """

    values: np.ndarray
    n_columns: int
    n_subsets: int
    n_members: int
    centre: np.ndarray | None
    root_weights: np.ndarray | None
    total: float
    has_missing: bool


def pack_references(
    rows: np.ndarray, n_subsets: int, w: np.ndarray | None = None, *, has_missing: bool = False
) -> Packed:
    """Pack member-major references (see :mod:`odefs._ops.nearest`). Subsets are filled up to full chunks with their last member."""
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    n_columns = rows.shape[1]
    weights = np.ones(n_columns) if w is None else np.asarray(w, dtype=np.float64)
    centre = root_weights = None
    seen = ~np.isnan(rows)
    if w is not None:
        # A weight multiplies the rounding of what it is applied to, so the origin must be close.
        middle = np.where(seen, rows, 0).sum(axis=0, dtype=np.float64) / np.maximum(1, seen.sum(axis=0))
        centre, root_weights = middle.astype(rows.dtype), np.sqrt(weights).astype(rows.dtype)
        rows = (rows - centre) * root_weights
    members = [rows.reshape(-1, n_subsets, n_columns)]
    if has_missing:
        flags = seen.reshape(members[0].shape).astype(rows.dtype)
        members = [np.where(flags > 0, members[0], 0), flags, flags * weights.astype(rows.dtype)]
    size = members[0].shape[0]
    padded = -(-size // 4) * 4
    chosen = np.minimum(np.arange(padded), size - 1)
    step = 4 if has_missing else 8
    chunks = []
    for start in range(0, padded, step):
        part = np.concatenate([values[chosen[start : start + step]] for values in members])
        chunks.append(part.transpose(1, 2, 0).reshape(n_subsets, -1))
    values = np.ascontiguousarray(np.concatenate(chunks, axis=1), dtype=rows.dtype)
    return Packed(values, n_columns, n_subsets, padded, centre, root_weights, float(weights.sum()), has_missing)


def mean_nearest(
    X: np.ndarray, packed: Packed, *, level: str, root: bool, columns: np.ndarray | None = None
) -> np.ndarray:
    """Mean over the subsets of the (squared, unless ``root``) distance to the nearest member, float64.

    ``columns`` names the columns of ``X`` to use. Without ``has_missing`` rows with NaN score NaN; with it, rows that share no column with any
    reference do.
    """
    if columns is None and X.shape[1] != packed.n_columns:
        raise ValueError(f"X has {X.shape[1]} columns, the references have {packed.n_columns}.")
    X = np.require(X, packed.values.dtype, "A")
    if any(stride % X.itemsize for stride in X.strides):
        X = np.ascontiguousarray(X)
    if columns is not None:
        columns = np.ascontiguousarray(columns, dtype=np.int64)
    out = np.empty(X.shape[0])
    block = _Block(
        _address(X),
        X.shape[0],
        X.strides[0] // X.itemsize,
        X.strides[1] // X.itemsize,
        _address(columns),
        _address(packed.centre),
        _address(packed.root_weights),
        _address(packed.values),
        X.shape[1],
        packed.n_columns,
        packed.n_subsets,
        packed.n_members,
        root,
        packed.total,
        _address(out),
    )
    found: Any = library()
    is_double = packed.values.dtype == np.float64
    failure = found.odefs_score(LEVELS.index(level), packed.has_missing, is_double, ctypes.addressof(block))
    if failure == 1:
        raise MemoryError("no memory for a few rows of the compiled kernel")
    if failure:
        raise IndexError(f"the component's columns do not fit a block of {X.shape[1]} columns")
    return out


def registers_only(level: str, dtype: np.dtype[Any], repeats: int) -> float:
    """Run the inner loop's arithmetic without memory, for benchmarks; returns the number of pairs of values it stands for."""
    found: Any = library()
    return float(found.odefs_peak(LEVELS.index(level), dtype == np.float64, repeats))


def _address(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data
