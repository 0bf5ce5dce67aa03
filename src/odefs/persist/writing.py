"""Writing of model files: header and arrays, atomically.

A save that fails leaves nothing behind.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from odefs.persist.file_format import (
    CHECKSUM,
    DTYPES,
    MAGIC,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    PREAMBLE,
    VERSION,
    Entry,
    aligned,
)
from odefs.persist.json_values import nested_deeper
from odefs.system.atomic_write import atomic_write


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
    text = json.dumps(complete, sort_keys=True, separators=(",", ":"), allow_nan=False).encode(
        "ascii"
    )
    parts = list(_padded([text, *(data for _, data in stored)]))
    length = PREAMBLE.size + sum(len(part) for part in parts)
    preamble = PREAMBLE.pack(MAGIC, VERSION, 0, len(text), length, bytes(32))
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
