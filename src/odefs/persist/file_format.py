"""How a model file is laid out, byte by byte.

    0   8 bytes   magic 8   uint32    format version 12  uint32    0 16  uint64    length of the
    header 24  uint64    length of the file 32  32 bytes  SHA-256 of everything else 64 header: JSON
    in ASCII, keys sorted
    ...           arrays in the order of the header's list, each at the next multiple of 64, zeros between

All numbers are little-endian. The header says no offsets: arrays cannot overlap, so what is read is
never more than the file holds.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.exceptions import ModelFileError

# The first byte is not ASCII and the line ends differ, as in PNG files: a transfer that takes the
# file for text breaks it visibly.
MAGIC = b"\x93ODEFS\r\n"
VERSION = 1
PREAMBLE = struct.Struct("<8sIIQQ32s")
CHECKSUM = slice(32, 64)
ALIGNMENT = 64
MAX_DIMENSIONS = 8
MAX_CELLS = 2**48
MAX_DEPTH = 100
"""Of the header's lists and objects within each other: parsers and users recurse."""

DTYPES: dict[str, np.dtype[Any]] = {
    dtype.name: dtype
    for dtype in map(
        np.dtype, ("?", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
    )
}


@dataclass(frozen=True)
class Entry:
    """One array of the header's list."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def n_bytes(self) -> int:
        cells = 1
        for length in self.shape:
            cells *= length
        return cells * self.dtype.itemsize

    def as_plain(self) -> dict[str, Any]:
        order = {"order": "F"} if self.fortran else {}
        return {"name": self.name, "dtype": self.dtype.name, "shape": list(self.shape), **order}


def aligned(position: int) -> int:
    """The next multiple of ``ALIGNMENT``."""
    return -(-position // ALIGNMENT) * ALIGNMENT


def parse_entry(described: Any) -> Entry:
    """Check one entry of the list; Python's integers cannot overflow."""
    if not isinstance(described, dict):
        raise ModelFileError("its header describes an array by something else than an object.")
    name, dtype, shape = described.get("name"), described.get("dtype"), described.get("shape")
    if not isinstance(name, str):
        raise ModelFileError("its header describes an array without a name.")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"its array {name!r} is of a type that model files do not hold.")
    if described.get("order", "C") not in ("C", "F"):
        raise ModelFileError(f"its array {name!r} is in an unknown order.")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"its array {name!r} has no valid shape.")
    cells = 1
    for length in shape:
        if type(length) is not int or length < 0:
            raise ModelFileError(f"its array {name!r} has no valid shape.")
        cells *= max(1, length)
    if cells > MAX_CELLS:
        raise ModelFileError(f"its array {name!r} promises more cells than any file holds.")
    return Entry(name, DTYPES[dtype], tuple(shape), described.get("order") == "F")
