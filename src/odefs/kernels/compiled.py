"""Calls of the compiled kernel (``_kernel.c``), and the order in which it reads references.

Expanded squares lose digits where ``|x|^2 - 2 x.r + |r|^2`` cancels. References are a sample of the
rows to be scored, so the distances from some of them to all others show how often that happens.
"""

import ctypes
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from odefs.kernels.shared_library import LEVELS, address, levels_here, required_library

COMPILED_CANCELLATION_SHARE = {np.dtype(np.float32): 2e-2, np.dtype(np.float64): 1e-6}
"""Expanded squares below this share of ``|x|^2`` are recomputed directly. Those above keep 5 digits
in float32 and 9 in float64.
"""

NO_MEMORY, NO_SUCH_LEVEL, NO_SUCH_COLUMN = 1, 2, 3
"""Results of the kernel's functions other than 0, numbered as in ``_kernel.c``."""


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
    # The kernel is compiled for these two types.
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
    # After weighting: weighted zeros and ones are other numbers, whose products are rounded.
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
    # Checked here because the kernel reads n_columns columns of memory whatever X has.
    given = X.shape[1] if columns is None else len(columns)
    if given != packed.n_columns:
        raise ValueError(f"X has {given} columns but the references have {packed.n_columns}.")
    if X.dtype != packed.values.dtype or not X.flags.aligned:
        X = np.require(X, packed.values.dtype, "A")
    size = X.itemsize
    row_stride, column_stride = X.strides
    # The kernel counts strides in elements. Fields of a structured array may be apart by other
    # distances.
    if row_stride % size or column_stride % size:
        X = np.ascontiguousarray(X)
        row_stride, column_stride = X.strides
    if columns is not None:
        columns = np.ascontiguousarray(columns, dtype=np.int64)
    out = np.empty(X.shape[0])
    # A copy, because threads score with the same packed references. It holds addresses only: X,
    # columns and out must be referenced until the call returns.
    block = _Block.from_buffer_copy(packed.block)
    block.rows, block.columns, block.out = address(X), address(columns), address(out)
    block.n_rows, block.table_columns = X.shape
    block.row_stride, block.column_stride = row_stride // size, column_stride // size
    block.take_root = root
    is_double = packed.values.dtype == np.float64
    failure = required_library().odefs_score(
        LEVELS.index(level), packed.has_missing, is_double, ctypes.addressof(block)
    )
    if failure == NO_SUCH_COLUMN:
        raise IndexError(f"Column indices must be below {X.shape[1]}, the number of columns of X.")
    _require_success(failure, level)
    return out


def _require_success(failure: int, level: str) -> None:
    """Raise if a function of the kernel reports a failure."""
    if failure == NO_MEMORY:
        raise MemoryError("Out of memory in the compiled kernel.")
    if failure == NO_SUCH_LEVEL:
        raise ValueError(
            f"The compiled kernel cannot use {level!r} here; use one of {', '.join(levels_here())}."
        )
    if failure:
        raise RuntimeError(f"The compiled kernel returned the unknown code {failure}.")


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
    failure = required_library().odefs_mean_squares(
        LEVELS.index(level), ctypes.addressof(arguments)
    )
    _require_success(failure, level)


PROBED_REFERENCES = 32

MAX_CANCELLED_SHARE = {np.dtype(np.float32): 0.02, np.dtype(np.float64): 0.04}
"""Squares are expanded if at most this share of them has to be recomputed.

A whole vector of 16 or 8 rows is recomputed if one of its rows is.
"""


def can_expand_squares(members: np.ndarray, cancellation_share: float) -> bool:
    """Return whether few enough squares fall below ``cancellation_share`` of ``|x|^2``.

    ``members`` are references of shape ``(members, subsets, columns)``. With a single subset
    nothing can be estimated and the result is False.
    """
    _, n_subsets, n_columns = members.shape
    if n_subsets == 1:
        return False
    references = members.reshape(-1, n_columns).astype(np.float64)
    probed, in_other_subset = _probed_references(len(references), n_subsets)
    rows = references[probed]
    norms = np.einsum("ik,ik->i", references, references)
    row_norms = np.einsum("ik,ik->i", rows, rows)[:, None]
    # Not a matrix product: the bits of BLAS depend on its threads, and the result must not.
    squares = row_norms + norms - 2 * np.einsum("ik,jk->ij", rows, references)
    nearest = squares.reshape(len(squares), -1, n_subsets).min(axis=1)
    cancelled = (nearest < cancellation_share * row_norms)[in_other_subset]
    return float(cancelled.mean()) <= MAX_CANCELLED_SHARE[members.dtype]


@lru_cache(maxsize=8)
def _probed_references(n_references: int, n_subsets: int) -> tuple[np.ndarray, np.ndarray]:
    """References whose distances are probed, and the subsets that each is not a member of.

    The distance of a reference to its own subset is zero and carries no information.
    """
    probed = np.unique(np.linspace(0, n_references - 1, PROBED_REFERENCES).astype(int))
    return probed, probed[:, None] % n_subsets != np.arange(n_subsets)
