"""Reading of model files into a header and arrays; refuses damaged bytes and wrong structure.

Nothing in a file is trusted before it is checked, and no more memory than its length is allocated.
A file is rejected with a :class:`~odefs.exceptions.ModelFileError` of one sentence.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from odefs.exceptions import ModelFileError
from odefs.persist.file_format import (
    ALIGNMENT,
    CHECKSUM,
    MAGIC,
    MAX_DEPTH,
    PREAMBLE,
    VERSION,
    Entry,
    aligned,
    parse_entry,
)
from odefs.persist.header_values import nested_deeper

LARGE = 2**26
"""Files of at least this length have their header checked before memory for the file is allocated;
in shorter ones the checksum detects damage first.
"""
LONGEST_HEADER = 2**30


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    """Return the header, and the arrays by name."""
    # Checked before opening: opening a pipe would block until something writes to it.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError("it is not a regular file.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        preamble = file.read(PREAMBLE.size)
        header_length = _check_preamble(preamble, size)
        try:
            if size > LARGE:
                _check_extent(file.read(header_length), size)
                file.seek(PREAMBLE.size)
            content = _aligned_buffer(size)
        except MemoryError:
            raise ModelFileError(
                f"it is too large for the memory of this machine: it holds {size} bytes."
            ) from None
        content[: PREAMBLE.size] = np.frombuffer(preamble, dtype=np.uint8)
        read, rest = PREAMBLE.size, content[PREAMBLE.size :].data
        # readinto may return fewer bytes than asked for.
        while count := file.readinto(rest[read - PREAMBLE.size :]):
            read += count
    if read != size:
        raise ModelFileError("it became shorter while it was read.")
    digest = hashlib.sha256(content[: CHECKSUM.start].data)
    digest.update(content[CHECKSUM.stop :].data)
    if digest.digest() != content[CHECKSUM].tobytes():
        raise ModelFileError("it is damaged: its checksum does not match its contents.")
    header = _parse_header(content[PREAMBLE.size : PREAMBLE.size + header_length].tobytes())
    return header, _cut_arrays(header, content, PREAMBLE.size + header_length)


def _check_preamble(preamble: bytes, size: int) -> int:
    """Return the length of the header, after checking format, version and length of the file."""
    if not preamble:
        raise ModelFileError("it is empty.")
    if preamble[: len(MAGIC)] != MAGIC[: len(preamble)]:
        raise ModelFileError("it is not an odefs model file: it does not begin like one.")
    if len(preamble) < PREAMBLE.size:
        raise ModelFileError(f"it is cut off: {size} bytes are too few for a model file.")
    _, version, reserved, header_length, length, _ = PREAMBLE.unpack(preamble)
    if version > VERSION:
        raise ModelFileError(
            f"it has format version {version}, but this odefs reads versions up to {VERSION}: "
            "update odefs to load it."
        )
    if version < 1 or reserved != 0:
        raise ModelFileError("it is damaged: its first bytes are not valid.")
    _check_lengths(length, header_length, size)
    return int(header_length)


def _check_lengths(length: int, header_length: int, size: int) -> None:
    """Reject lengths in the preamble that do not fit a file of ``size`` bytes."""
    if length != size:
        what = "cut off" if size < length else "damaged"
        raise ModelFileError(f"it is {what}: it should hold {length} bytes but holds {size}.")
    if header_length > size - PREAMBLE.size:
        raise ModelFileError("it is damaged: its header is longer than the file.")
    if header_length > LONGEST_HEADER:
        raise ModelFileError(f"it is damaged: its header has {header_length} bytes.")


def _check_extent(header: bytes, size: int) -> None:
    """Reject a large file whose header does not account for all of its bytes.

    Done before allocating memory: a sparse file may claim to be longer than any disk.
    """
    position = PREAMBLE.size + len(header)
    for entry in _entries(_parse_header(header)):
        position = aligned(position) + entry.n_bytes
    if position != size:
        raise ModelFileError(
            f"it is damaged: its header describes {position} bytes but it holds {size}."
        )


def _aligned_buffer(size: int) -> np.ndarray:
    """Return memory for the whole file, aligned so that the arrays within it are."""
    memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


def _parse_header(text: bytes) -> dict[str, object]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        # Python's parser accepts NaN and Infinity, which are not JSON, unless parse_constant
        # refuses.
        header = json.loads(text.decode("ascii"), parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ModelFileError("its header is not valid JSON.") from None
    if not isinstance(header, dict):
        raise ModelFileError("its header is not a JSON object.")
    if nested_deeper(header, MAX_DEPTH):
        raise ModelFileError("its header is nested too deep.")
    return header


def _entries(header: dict[str, object]) -> Iterator[Entry]:
    listed = header.get("arrays")
    if not isinstance(listed, list):
        raise ModelFileError("its header lists no arrays.")
    return map(parse_entry, listed)


def _cut_arrays(
    header: dict[str, object], content: np.ndarray, position: int
) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for entry in _entries(header):
        start = aligned(position)
        position = start + entry.n_bytes
        if position > content.size:
            raise ModelFileError(f"its array {entry.name!r} reaches beyond the end of the file.")
        if entry.name in arrays:
            raise ModelFileError(f"its array {entry.name!r} occurs twice.")
        arrays[entry.name] = _as_array(entry, content[start:position])
    if position != content.size:
        raise ModelFileError("it holds bytes that belong to no array.")
    return arrays


def _as_array(entry: Entry, raw: np.ndarray) -> np.ndarray:
    # NumPy treats bytes other than 0 and 1 inconsistently as booleans.
    if entry.dtype.kind == "b" and (raw > 1).any():
        raise ModelFileError(f"its array {entry.name!r} holds booleans other than true and false.")
    flat = raw.view(entry.dtype)
    # On a big-endian machine this swaps the bytes.
    flat = flat.astype(entry.dtype.newbyteorder("="), copy=False)
    return flat.reshape(entry.shape[::-1]).T if entry.fortran else flat.reshape(entry.shape)
