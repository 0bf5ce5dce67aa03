"""Compiled kernel (``_kernel.c``): availability, choice of instruction set, packing, calls.

It is built at install time if there is a C compiler and is never required. ``ODEFS_KERNEL``
overrides the choice: ``numpy``, ``compiled``, or one of the instruction sets in ``LEVELS``.
"""

import ctypes
import os
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from odefs.kernels.cancellation_check import can_expand_squares
from odefs.kernels.shared_library import address, library, required_library

LEVELS = ("portable", "sse2", "neon", "avx2", "avx512")
"""Instruction sets in ascending order, numbered as in ``_kernel.c``."""

COMPILED_CANCELLATION_SHARE = {np.dtype(np.float32): 2e-2, np.dtype(np.float64): 1e-6}
"""Expanded squares below this share of ``|x|^2`` are recomputed directly. Those above keep 5 digits
in float32 and 9 in float64.
"""

MOST_COLUMNS = {"portable": 40, "sse2": 60, "neon": 100, "avx2": 200, "avx512": 4096}
"""Largest number of columns for which the compiled kernel is faster than NumPy.

Measured against OpenBLAS on the same instruction set; the values for portable and neon are
conservative guesses. With missing cells the compiled kernel is always faster.
"""


class _Block(ctypes.Structure):
    """Mirror of the C struct ``Block`` in ``_kernel.c``."""

    _fields_ = (
        ("rows", ctypes.c_void_p),
        ("n_rows", ctypes.c_int64),
        ("row_stride", ctypes.c_int64),
        ("column_stride", ctypes.c_int64),
        ("columns", ctypes.c_void_p),
        ("centre", ctypes.c_void_p),
        ("scale", ctypes.c_void_p),
        ("references", ctypes.c_void_p),
        ("product", ctypes.c_void_p),
        ("table_columns", ctypes.c_int64),
        ("n_columns", ctypes.c_int64),
        ("n_subsets", ctypes.c_int64),
        ("n_members", ctypes.c_int64),
        ("take_root", ctypes.c_int64),
        ("is_binary", ctypes.c_int64),
        ("total", ctypes.c_double),
        ("cancellation", ctypes.c_double),
        ("out", ctypes.c_void_p),
    )


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
    return _level(os.environ.get("ODEFS_KERNEL", ""), n_columns, has_missing)


@lru_cache(maxsize=1024)
def _level(wish: str, n_columns: int, has_missing: bool) -> str | None:
    here, wish = levels_here(), wish.strip().lower()
    if wish in ("", "auto"):
        return (
            here[-1]
            if here and (has_missing or n_columns <= MOST_COLUMNS[here[-1]]) and n_columns
            else None
        )
    if wish == "numpy" or not n_columns:
        return None
    if wish == "compiled" and here:
        return here[-1]
    if wish in here:
        return wish
    raise ValueError(_refusal(wish, here))


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


@dataclass(frozen=True, eq=False)
class Packed:
    """References in the order in which the kernel reads them.

    The order is: subset, chunk of 8 or 4 members, column, member. ``product`` holds ``|r|^2`` and
    ``-2 r`` in the same order, one row more in each chunk; it is ``None`` if squares are not to be
    expanded. With weights, rows and references become ``(x - centre) * root_weights``. ``total`` is
    the sum of the weights.
    """

    values: np.ndarray
    product: np.ndarray | None
    n_columns: int
    n_subsets: int
    n_members: int
    centre: np.ndarray | None
    root_weights: np.ndarray | None
    total: float
    has_missing: bool
    is_binary: bool
    """Whether all references are 0 or 1: expanded squares of such rows are exact."""

    @cached_property
    def block(self) -> _Block:
        """Arguments of a call that are the same for all blocks of rows."""
        return _Block(
            centre=address(self.centre),
            scale=address(self.root_weights),
            references=address(self.values),
            product=address(self.product),
            n_columns=self.n_columns,
            n_subsets=self.n_subsets,
            n_members=self.n_members,
            is_binary=self.is_binary,
            total=self.total,
            cancellation=COMPILED_CANCELLATION_SHARE[self.values.dtype],
        )


def pack_references(
    rows: np.ndarray,
    n_subsets: int,
    w: np.ndarray | None = None,
    *,
    has_missing: bool = False,
) -> Packed:
    """Pack member-major references (see :mod:`odefs.kernels.distances`).

    Subsets are filled up to full chunks by repeating their last member.
    """
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    n_columns = rows.shape[1]
    weights = np.ones(n_columns) if w is None else np.asarray(w, dtype=np.float64)
    centre = root_weights = None
    seen = ~np.isnan(rows)
    if w is not None:
        # A weight also multiplies rounding errors, so the origin must be close to the values.
        middle = np.where(seen, rows, 0).sum(axis=0, dtype=np.float64) / np.maximum(
            1, seen.sum(axis=0)
        )
        centre, root_weights = middle.astype(rows.dtype), np.sqrt(weights).astype(rows.dtype)
        rows = (rows - centre) * root_weights
    members = rows.reshape(-1, n_subsets, n_columns)
    product = None
    is_binary = bool(np.all((rows == 0) | (rows == 1)))
    if has_missing:
        flags = seen.reshape(members.shape).astype(rows.dtype)
        values = _in_chunks(
            [np.where(flags > 0, members, 0), flags, flags * weights.astype(rows.dtype)], 4
        )
    else:
        values = _in_chunks([members], 8)
        if is_binary or can_expand_squares(members, COMPILED_CANCELLATION_SHARE[rows.dtype]):
            norms = np.einsum("pgk,pgk->pg", members, members)[..., None]
            product = _in_chunks([np.concatenate([norms, -2 * members], axis=2)], 8)
    n_members = -(-members.shape[0] // 4) * 4
    total = float(weights.sum())
    return Packed(
        values,
        product,
        n_columns,
        n_subsets,
        n_members,
        centre,
        root_weights,
        total,
        has_missing,
        is_binary,
    )


def _in_chunks(parts: list[np.ndarray], step: int) -> np.ndarray:
    """Arrange arrays of shape (members, subsets, columns) in the kernel's order.

    The parts of a chunk's column follow one another.
    """
    size, n_subsets, _ = parts[0].shape
    # Repeating the last member changes no minimum.
    chosen = np.minimum(np.arange(-(-size // 4) * 4), size - 1)
    chunks = []
    for start in range(0, chosen.size, step):
        chunk = np.concatenate([part[chosen[start : start + step]] for part in parts])
        chunks.append(chunk.transpose(1, 2, 0).reshape(n_subsets, -1))
    return np.ascontiguousarray(np.concatenate(chunks, axis=1), dtype=parts[0].dtype)


def mean_nearest(
    X: np.ndarray, packed: Packed, *, level: str, root: bool, columns: np.ndarray | None = None
) -> np.ndarray:
    """Return the mean over the subsets of the distance to the nearest member, float64.

    Distances are squared unless ``root``. ``columns`` selects the columns of ``X`` to use. Without
    ``has_missing``, rows with NaN score NaN; with it, only rows that share no column with any
    reference do.
    """
    given = X.shape[1] if columns is None else len(columns)
    if given != packed.n_columns:
        raise ValueError(f"X has {given} columns but the references have {packed.n_columns}.")
    if X.dtype != packed.values.dtype or not X.flags.aligned:
        X = np.require(X, packed.values.dtype, "A")
    size = X.itemsize
    row_stride, column_stride = X.strides
    if row_stride % size or column_stride % size:
        X = np.ascontiguousarray(X)
        row_stride, column_stride = X.strides
    if columns is not None:
        columns = np.ascontiguousarray(columns, dtype=np.int64)
    out = np.empty(X.shape[0])
    block = _Block.from_buffer_copy(packed.block)
    block.rows, block.columns, block.out = address(X), address(columns), address(out)
    block.n_rows, block.table_columns = X.shape
    block.row_stride, block.column_stride = row_stride // size, column_stride // size
    block.take_root = root
    is_double = packed.values.dtype == np.float64
    failure = required_library().odefs_score(
        LEVELS.index(level), packed.has_missing, is_double, ctypes.addressof(block)
    )
    if failure == 1:
        raise MemoryError("Out of memory in the compiled kernel.")
    if failure:
        raise IndexError(f"Column indices must be below {X.shape[1]}, the number of columns of X.")
    return out


def registers_only(level: str, dtype: np.dtype[np.floating], expanded: bool, repeats: int) -> float:
    """Run the inner loop's arithmetic on registers only, for benchmarks.

    Returns the number of pairs of values it processed.
    """
    is_double = dtype == np.float64
    return float(required_library().odefs_peak(LEVELS.index(level), is_double, expanded, repeats))
