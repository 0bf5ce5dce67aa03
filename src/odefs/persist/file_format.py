"""Byte layout of a model file, checks of its list of arrays, and its atomic writing.

    0   8 bytes   magic
    8   uint32    format version
    12  uint32    0
    16  uint64    length of the header
    24  uint64    length of the file
    32  32 bytes  SHA-256 of everything else
    64            header: JSON in ASCII, keys sorted
    ...           arrays in the order of the header's list, each at the next multiple of 64,
                  with zeros in between

All numbers are little-endian. The header contains no offsets: arrays cannot overlap, so reading
never needs more memory than the file's length.
"""

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from odefs.exceptions import ModelFileError
from odefs.persist.header_values import nested_deeper
from odefs.system.atomic_write import atomic_write

# As in PNG files, the first byte is not ASCII and a line ending follows: a transfer in text mode
# corrupts the file visibly.
MAGIC = b"\x93ODEFS\r\n"
VERSION = 1
PREAMBLE = struct.Struct("<8sIIQQ32s")
CHECKSUM = slice(32, 64)
ALIGNMENT = 64
MAX_DIMENSIONS = 8
MAX_CELLS = 2**48
MAX_DEPTH = 100
"""Maximum nesting depth of the header's lists and objects: parsers and users of it recurse."""

DTYPES: dict[str, np.dtype[np.generic]] = {
    dtype.name: dtype
    for dtype in map(
        np.dtype, ("?", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
    )
}


@dataclass(frozen=True)
class Entry:
    """One array in the header's list."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def n_bytes(self) -> int:
        cells = 1
        for length in self.shape:
            cells *= length
        return cells * self.dtype.itemsize

    def as_plain(self) -> dict[str, object]:
        order = {"order": "F"} if self.fortran else {}
        return {"name": self.name, "dtype": self.dtype.name, "shape": list(self.shape), **order}


def aligned(position: int) -> int:
    """Round up to a multiple of ``ALIGNMENT``."""
    return -(-position // ALIGNMENT) * ALIGNMENT


def parse_entry(described: object) -> Entry:
    """Check one entry of the header's list; Python's integers cannot overflow."""
    if not isinstance(described, dict):
        raise ModelFileError("its header has an entry for an array that is not an object.")
    name, dtype = described.get("name"), described.get("dtype")
    if not isinstance(name, str):
        raise ModelFileError("its header describes an array without a name.")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"its array {name!r} has an unsupported type.")
    if described.get("order", "C") not in ("C", "F"):
        raise ModelFileError(f"its array {name!r} has an unknown memory order.")
    shape = _parse_shape(described.get("shape"), name)
    return Entry(name, DTYPES[dtype], shape, described.get("order") == "F")


def _parse_shape(shape: object, name: str) -> tuple[int, ...]:
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"its array {name!r} has no valid shape.")
    cells = 1
    for length in shape:
        if type(length) is not int or length < 0:
            raise ModelFileError(f"its array {name!r} has no valid shape.")
        # A length of 0 must not hide that the others are absurd.
        cells *= max(1, length)
    if cells > MAX_CELLS:
        raise ModelFileError(f"its array {name!r} has more cells than any file can hold.")
    return tuple(shape)


def write_file(
    path: str | os.PathLike[str], header: Mapping[str, object], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write the header, completed by the list of arrays, and the arrays.

    Equal contents give equal bytes.
    """
    stored = [_stored(name, array) for name, array in sorted(arrays.items())]
    complete = {**header, "arrays": [entry.as_plain() for entry, _ in stored]}
    if nested_deeper(complete, MAX_DEPTH):
        raise ValueError(f"Stored values may be nested at most {MAX_DEPTH} deep.")
    # Sorted keys and arrays: saving the same model twice gives the same bytes. NaN is not JSON.
    text = json.dumps(complete, sort_keys=True, separators=(",", ":"), allow_nan=False).encode(
        "ascii"
    )
    parts = list(_padded([text, *(data for _, data in stored)]))
    length = PREAMBLE.size + sum(len(part) for part in parts)
    preamble = PREAMBLE.pack(MAGIC, VERSION, 0, len(text), length, bytes(32))
    # Without the 32 bytes of the checksum itself.
    digest = hashlib.sha256(preamble[: CHECKSUM.start])
    for part in parts:
        digest.update(part)
    replace_file(path, [preamble[: CHECKSUM.start], digest.digest(), *parts])


def replace_file(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Replace a file atomically.

    Models contain rows of the training data, so a new file is readable only by this user.
    """
    with atomic_write(path, private=True) as partial, open(partial, "wb") as file:
        for part in parts:
            file.write(part)


def _stored(name: str, array: np.ndarray) -> tuple[Entry, memoryview]:
    """Return the array's entry and its bytes, little-endian, in its own memory order."""
    dtype = DTYPES.get(array.dtype.name)
    if dtype is None or array.ndim > MAX_DIMENSIONS:
        raise TypeError(
            f"{name} is an array of {array.dtype} with {array.ndim} dimensions; model files hold "
            f"booleans, integers and floats of up to 64 bits with at most {MAX_DIMENSIONS} "
            "dimensions."
        )
    # The last bit of sums over an array depends on its memory order, so the order is kept.
    fortran = bool(array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous)
    flat = np.ascontiguousarray(array.T if fortran else array, dtype=dtype).reshape(-1)
    return Entry(name, dtype, array.shape, fortran), flat.view(np.uint8).data


def _padded(parts: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    position = PREAMBLE.size
    for part in parts:
        if position != aligned(position):
            yield bytes(aligned(position) - position)
        yield part
        position = aligned(position) + len(part)
