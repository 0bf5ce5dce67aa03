"""Text that is packed by gzip, unpacked once and within bounds: a small file must not become a large one in memory or on disk.

The reader would unpack by itself whatever begins like packed data, without bounds, so nothing packed is left to it.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from odefs.exceptions import TableError

GZIP = b"\x1f\x8b"
OTHERS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"x\x01": "zlib",
    b"x\x9c": "zlib",
    b"x\xda": "zlib",
    GZIP: "gzip, twice",
}
"""How data begins that the reader would unpack too."""

PIECE = 2**20
MIN_UNPACKED_BYTES = 32 * 2**20
"""So many bytes are unpacked in any case."""
LARGEST_GROWTH = 100
"""Tables become 3 to 20 times smaller by packing; a thousand times is what a file does that is made to fill the memory."""


def unpacked(source: Path | bytes, name: str) -> Path | bytes:
    """The text of a packed file; others as they are."""
    if beginning(source, len(GZIP)) == GZIP:
        source = b"".join(_pieces(source, name))
    _require_plain(source, name)
    return source


def beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """The first bytes, as they stand in the file."""
    if isinstance(source, bytes):
        return source[:n_bytes]
    with open(source, "rb") as file:
        return file.read(n_bytes)


def unpacked_beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """The first bytes of the text, unpacked if need be; as far as they can be unpacked."""
    if beginning(source, len(GZIP)) != GZIP:
        return beginning(source, n_bytes)
    with gzip.open(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
        try:
            return file.read(n_bytes)
        except (OSError, EOFError, zlib.error):
            return b""


def unpacked_growth(source: Path) -> float:
    """How many times larger the text is than the file, going by its beginning; 1 for what is not packed."""
    head = beginning(source, PIECE)
    if not head.startswith(GZIP):
        return 1.0
    text = b""
    # A file may begin with members that hold nothing.
    while not text and head.startswith(GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            text = unpacker.decompress(head, PIECE)
        except zlib.error:
            return 1.0
        used = len(head) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
        head = unpacker.unused_data
    return len(text) / max(1, used)


def unpack_to(source: Path, name: str, target: Path) -> Path:
    """A packed file's text in a file of its own; others as they are."""
    if beginning(source, len(GZIP)) == GZIP:
        with open(target, "wb") as out:
            for piece in _pieces(source, name):
                out.write(piece)
        source = target
    _require_plain(source, name)
    return source


def _require_plain(source: Path | bytes, name: str) -> None:
    """Refuse text that is still packed."""
    start = beginning(source, 4)
    other = next((kind for mark, kind in OTHERS.items() if start.startswith(mark)), None)
    if other is not None:
        raise TableError(
            f"{name}: the file is packed by {other}, only gzip can be unpacked: unpack it first."
        )


def _pieces(source: Path | bytes, name: str) -> Iterator[bytes]:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    most, found = max(MIN_UNPACKED_BYTES, LARGEST_GROWTH * size), 0
    try:
        with gzip.open(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
            while piece := file.read(PIECE):
                found += len(piece)
                if found > most:
                    raise TableError(
                        f"{name}: the file becomes more than {LARGEST_GROWTH} times larger when it is unpacked: unpack it first if that is right."
                    )
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(
            f"{name}: cannot be read (packed by gzip, and damaged: {error})."
        ) from error
