"""Gzip decompression of text files within bounds, against decompression bombs.

polars would decompress, without any bound, whatever starts like compressed data; so it is never
given compressed data.
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
"""First bytes of other formats that polars would decompress."""

PIECE = 2**20
MIN_DECOMPRESSED_BYTES = 32 * 2**20
"""Files are always decompressed up to this size."""
LARGEST_GROWTH = 100
"""Compression makes tables 3 to 20 times smaller; a factor of 1000 indicates a bomb."""


def decompressed(source: Path | bytes, name: str) -> Path | bytes:
    """Return the text of a compressed file; other files are returned unchanged."""
    if beginning(source, len(GZIP)) == GZIP:
        source = b"".join(_pieces(source, name))
    _require_plain(source, name)
    return source


def beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """Return the first bytes of the file."""
    if isinstance(source, bytes):
        return source[:n_bytes]
    with open(source, "rb") as file:
        return file.read(n_bytes)


def text_beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """Return the first bytes of the text, decompressed if necessary; empty if damaged."""
    if beginning(source, len(GZIP)) != GZIP:
        return beginning(source, n_bytes)
    with gzip.open(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
        try:
            return file.read(n_bytes)
        except (OSError, EOFError, zlib.error):
            return b""


def compression_ratio(source: Path) -> float:
    """Estimate the ratio of text size to file size from the beginning; 1 if not compressed."""
    head = beginning(source, PIECE)
    if not head.startswith(GZIP):
        return 1.0
    text = b""
    # A file may start with empty members.
    while not text and head.startswith(GZIP):
        decompressor = zlib.decompressobj(wbits=31)
        try:
            text = decompressor.decompress(head, PIECE)
        except zlib.error:
            return 1.0
        used = len(head) - len(decompressor.unconsumed_tail) - len(decompressor.unused_data)
        head = decompressor.unused_data
    return len(text) / max(1, used)


def decompress_to(source: Path, name: str, target: Path) -> Path:
    """Decompress a file to ``target``; a file that is not compressed is returned unchanged."""
    if beginning(source, len(GZIP)) == GZIP:
        with open(target, "wb") as out:
            for piece in _pieces(source, name):
                out.write(piece)
        source = target
    _require_plain(source, name)
    return source


def _require_plain(source: Path | bytes, name: str) -> None:
    """Raise if the text is still compressed."""
    start = beginning(source, 4)
    other = next((kind for mark, kind in OTHERS.items() if start.startswith(mark)), None)
    if other is not None:
        raise TableError(
            f"{name}: the file is compressed with {other}, but only gzip is supported: "
            "decompress it first."
        )


def _pieces(source: Path | bytes, name: str) -> Iterator[bytes]:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    most, found = max(MIN_DECOMPRESSED_BYTES, LARGEST_GROWTH * size), 0
    try:
        with gzip.open(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
            while piece := file.read(PIECE):
                found += len(piece)
                if found > most:
                    raise TableError(
                        f"{name}: the file becomes more than {LARGEST_GROWTH} times larger when "
                        "decompressed: decompress it first if that is expected."
                    )
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{name}: cannot be read (the gzip data are damaged: {error}).") from error
