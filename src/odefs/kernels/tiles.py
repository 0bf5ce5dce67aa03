"""References as tiles for the compiled kernel: whether they are to be used, and where they are kept.

``_kernel_tiles.h`` has the arithmetic and the order in which they lie, ``_kernel_tile_packing.h`` the packing.
"""

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.kernels.cancellation_check import MOST_CANCELLED, Probe
from odefs.kernels.shared_library import address, library

FEW_COLUMNS = range(8, 16)
"""Where parts are the fastest, measured; below, vectors are."""

MORE_COLUMNS = range(16, 257)
"""Where digits are; the sums of 256 columns fit 32 bits, those of 512 would not."""

MEMBERS = 8
"""Two subsets of this size fill a tile."""

LARGEST = 0x7F7F7F
"""Of the numbers of three digits from -128 to 127."""

HEADROOM = 1.25
"""Rows so many times as large as the largest reference still fit digits; vectors score those beyond, which are few: references are a sample of the rows."""

LOST_SHARE = 0.01
"""Of the square of the largest value, times the root of the number of columns: below, squares by digits are computed again. The products of small digits,
which are left out, are of either sign, 6e-8 of that square in each column; of the square of a distance at this limit their sum is 6e-6."""

MOST_OFF = 3e-6
"""Digits are used where the products that they leave out change no probed score by more than this share. Of independent values they change 1e-7; they add
up where many columns hold one small value in most rows."""

FLUSHED = 1e-30
"""Below, squares by parts are computed again: products beneath the smallest ordinary float32 are zero on tiles."""

SIDE, TILE_BYTES, NORM_WORDS = 16, 1024, 2


@dataclass(frozen=True, eq=False)
class Tiles:
    """Digits of multiples of ``step``, or parts, and it is 0. Squares below ``limit`` are computed again."""

    values: np.ndarray
    step: float
    limit: float


def pack_tiles(
    members: np.ndarray, is_binary: bool, probe: Probe | None = None, lost: np.ndarray | float = 0.0
) -> Tiles | None:
    """Tiles of references of shape (members, subsets, columns); ``None`` where there are none, or a probe finds that they would not do.

    ``lost`` is below what vectors compute squares again. Of zeros and ones no digit is lost.
    """
    size, _, n_columns = members.shape
    if members.dtype != np.float32 or size != MEMBERS or n_columns not in (*FEW_COLUMNS, *MORE_COLUMNS):
        return None
    # Scaled values are of the order of 1; far from it, squares of steps would leave the range of float32.
    largest = float(np.abs(members).max())
    if not 1e-9 < largest < 1e9:
        return None
    probe = None if is_binary else probe
    if n_columns in FEW_COLUMNS:
        if probe and probe.share_below(np.maximum(lost, FLUSHED)) > MOST_CANCELLED[members.dtype]:
            return None
        return Tiles(_pack(members, 0.0)[0], 0.0, FLUSHED)
    # A power of two makes 0 and 1 exact: one digit each.
    step = 2.0**-22 if is_binary else HEADROOM * largest / LARGEST
    limit = LOST_SHARE * n_columns**0.5 * (LARGEST * step) ** 2
    limits = np.maximum(lost, limit)
    if probe and probe.share_below(limits) > MOST_CANCELLED[members.dtype]:
        return None
    packed, off = _pack(members, step, is_binary, None if probe is None else probe.fewer)
    if probe and probe.error(2 * 256 * step**2 * off, limits) > MOST_OFF:
        return None
    return Tiles(packed, step, limit)


class _Packing(ctypes.Structure):
    """``Packing`` of ``_kernel.c``."""

    _fields_ = (
        ("references", ctypes.c_void_p),
        ("n_subsets", ctypes.c_int64),
        ("n_columns", ctypes.c_int64),
        ("is_binary", ctypes.c_int64),
        ("step", ctypes.c_double),
        ("tiles", ctypes.c_void_p),
        ("probed", ctypes.c_void_p),
        ("n_probed", ctypes.c_int64),
        ("lost", ctypes.c_void_p),
    )


def _pack(
    members: np.ndarray, step: float, is_binary: bool = False, probed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The tiles, and of digits what the products of some references and all are short of, in 256 squared steps."""
    _, n_subsets, n_columns = members.shape
    references = np.ascontiguousarray(members)
    probed = np.empty(0, dtype=np.int64) if probed is None else np.ascontiguousarray(probed, dtype=np.int64)
    lost = np.empty((len(probed), MEMBERS * n_subsets), dtype=np.int32)
    tiles = _aligned_zeros((-(-n_subsets // 2), _tiles_of_a_pair(n_columns, step == 0), SIDE, 64))
    packing = _Packing(
        references=address(references),
        n_subsets=n_subsets,
        n_columns=n_columns,
        is_binary=is_binary,
        step=step,
        tiles=address(tiles),
        probed=address(probed),
        n_probed=len(probed),
        lost=address(lost),
    )
    found: Any = library()
    failure = found.odefs_pack_tiles(ctypes.addressof(packing))
    if failure:
        raise MemoryError("no memory for the digits of a few references")
    return tiles, lost


def _tiles_of_a_pair(n_columns: int, by_parts: bool) -> int:
    """Of two subsets: those of words of parts; or one to begin with, and those of the first, the first two and all digits."""
    if by_parts:
        return -(-(NORM_WORDS + 3 * n_columns) // SIDE)
    words = -(-n_columns // 4)
    return 1 + sum(-(-n * words // SIDE) for n in (1, 2, 3))


def _aligned_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """They begin where a cache line does: a row of a tile is as long as one, and would else be read twice."""
    n_bytes = math.prod(shape)
    room = np.zeros(n_bytes + TILE_BYTES, dtype=np.int8)
    start = -room.ctypes.data % TILE_BYTES
    return room[start : start + n_bytes].reshape(shape)
