"""Decompression of text files within bounds, against decompression bombs.

gzip, bzip2, xz and zstd are recognised by their first bytes, whatever the suffix. polars would
decompress, without any bound, whatever starts like compressed data; so it is never given
compressed data.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from odefs.exceptions import TableError

MARKS = {
    "gzip": (b"\x1f\x8b",),
    # The second part starts a block, or ends an empty file: "BZh" alone may be text.
    "bzip2": tuple(
        b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
    ),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
"""First bytes of files in the supported formats."""
ZLIB = (b"x\x01", b"x\x9c", b"x\xda")
"""First bytes of another format that polars would decompress."""
LONGEST_MARK = 10
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")

PIECE = 2**20
XZ_PIECE = 2**16
SAMPLED_TEXT = 2**23
"""Text that is decompressed to estimate the compression of a file."""
XZ_MEMORY = 256 * 2**20
"""Memory limit for decompression: ``xz -9`` needs 65 MB, a crafted header could ask for 4 GB."""
MIN_DECOMPRESSED_BYTES = 32 * 2**20
"""Files are always decompressed up to this size."""
LARGEST_GROWTH = 100
"""Compression makes tables 3 to 20 times smaller; a factor of 1000 indicates a bomb."""
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class _Readable(Protocol):
    def read(self, n_bytes: int, /) -> bytes: ...


def codec_of(source: Path | bytes) -> str | None:
    """Return the name of the compression of a file or its content; ``None`` if there is none."""
    start = beginning(source, LONGEST_MARK)
    return next((codec for codec, marks in MARKS.items() if start.startswith(marks)), None)


def decompressed(source: Path | bytes, name: str) -> Path | bytes:
    """Return the text of a compressed file; other files are returned unchanged."""
    codec = codec_of(source)
    text = source if codec is None else b"".join(pieces_of(source, name))
    _require_plain(text, name, codec)
    return text


def beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """Return the first bytes of the file."""
    if isinstance(source, bytes):
        return source[:n_bytes]
    with open(source, "rb") as file:
        return file.read(n_bytes)


def text_beginning(source: Path | bytes, n_bytes: int) -> bytes:
    """Return the first bytes of the text, decompressed if necessary; empty if damaged."""
    codec = codec_of(source)
    if codec is None:
        return beginning(source, n_bytes)
    try:
        with _raw(source) as raw, _decompressing(raw, codec) as file:
            return _read_all(file, n_bytes)
    except DAMAGED:
        return b""


def compression_ratio(source: Path) -> float:
    """Estimate the ratio of text size to file size from the beginning; 1 if not compressed."""
    codec = codec_of(source)
    if codec is None:
        return 1.0
    if codec == "gzip":
        return _gzip_ratio(beginning(source, PIECE))
    n_text = 0
    try:
        with _raw(source) as raw, _decompressing(raw, codec) as file:
            while n_text < SAMPLED_TEXT and (raw.tell() < PIECE or not n_text):
                piece = file.read(PIECE)
                n_text += len(piece)
                if not piece:
                    break
            return max(1, n_text) / max(1, raw.tell())
    except DAMAGED:
        return 1.0


def decompress_to(source: Path, name: str, target: Path) -> Path:
    """Decompress a file to ``target``; a file that is not compressed is returned unchanged."""
    codec = codec_of(source)
    if codec is not None:
        with open(target, "wb") as out:
            for piece in pieces_of(source, name):
                out.write(piece)
        source = target
    _require_plain(source, name, codec)
    return source


def pieces_of(source: Path | bytes, name: str) -> Iterator[bytes]:
    """Yield the text of a compressed file; raise if it grows too much or is damaged."""
    codec = codec_of(source)
    assert codec is not None
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    try:
        with _raw(source) as raw, _decompressing(raw, codec) as file:
            yield from bounded_pieces(file, size, name)
    except TableError:
        raise
    except DAMAGED as error:
        raise TableError(
            f"{name}: cannot be read (the {codec} data are damaged: {error})."
        ) from error


def bounded_pieces(file: _Readable, size: int, name: str) -> Iterator[bytes]:
    """Yield what a decompressor reads from ``size`` bytes; raise if it grows too much."""
    most, found = max(MIN_DECOMPRESSED_BYTES, LARGEST_GROWTH * size), 0
    # What a header states about the size is not trusted: the text is counted as it comes.
    while piece := file.read(PIECE):
        found += len(piece)
        if found > most:
            raise TableError(
                f"{name}: the file becomes more than {LARGEST_GROWTH} times larger when "
                "decompressed: decompress it first if that is expected."
            )
        yield piece


def _require_plain(text: Path | bytes, name: str, codec: str | None) -> None:
    """Raise if the text is still compressed; ``codec`` is what was decompressed."""
    inner = codec_of(text) or ("zlib" if beginning(text, 2) in ZLIB else None)
    if inner is None:
        return
    if codec is None:
        raise TableError(
            f"{name}: the file is compressed with {inner}, but only {', '.join(MARKS)} are "
            "supported: decompress it first."
        )
    how = f"{inner}, twice" if inner == codec else f"{codec} and {inner}"
    raise TableError(f"{name}: the file is compressed with {how}: decompress it once.")


def _raw(source: Path | bytes) -> IO[bytes]:
    return io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb")


@contextmanager
def _decompressing(raw: IO[bytes], codec: str) -> Iterator[_Readable]:
    if codec == "xz":
        yield _XzFile(raw)
    elif codec == "zstd":
        # The standard library has zstd only from Python 3.14 on.
        import pyarrow as pa

        with pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd") as file:
            yield file
    else:
        with gzip.open(raw) if codec == "gzip" else bz2.open(raw) as file:
            yield file


def _read_all(file: _Readable, n_bytes: int) -> bytes:
    """Read until the number of bytes is complete; some decompressors return less at a time."""
    found = b""
    while len(found) < n_bytes and (piece := file.read(n_bytes - len(found))):
        found += piece
    return found


class _XzFile:
    """Reads xz streams within a memory limit, which ``lzma.open`` cannot set."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._stream = _xz_stream()
        self._is_new = True

    def read(self, n_bytes: int, /) -> bytes:
        while (given := self._next_input()) is not None:
            self._is_new = False
            text = self._stream.decompress(given, n_bytes)
            if text:
                return text
        return b""

    def _next_input(self) -> bytes | None:
        """Return what the stream needs next, possibly nothing; ``None`` after the last stream."""
        given = b""
        if self._stream.eof:
            # Another stream may follow, after zero bytes: the format allows padding, and xz files
            # may be concatenated.
            given = (self._stream.unused_data or self._raw.read(XZ_PIECE)).lstrip(b"\x00")
            self._stream, self._is_new = _xz_stream(), True
        if given or not self._stream.needs_input:
            return given
        given = self._raw.read(XZ_PIECE)
        given = given.lstrip(b"\x00") if self._is_new else given
        if not given and self._is_new:
            return None
        if not given:
            raise EOFError("the file ends too early")
        return given


def _xz_stream() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY)


def _gzip_ratio(head: bytes) -> float:
    """Return the exact ratio for the beginning of a file; it may start with empty members."""
    text, used = b"", 0
    while not text and head.startswith(MARKS["gzip"]):
        # 31 means a gzip header, and the largest window.
        decompressor = zlib.decompressobj(wbits=31)
        try:
            text = decompressor.decompress(head, PIECE)
        except zlib.error:
            return 1.0
        used = len(head) - len(decompressor.unconsumed_tail) - len(decompressor.unused_data)
        head = decompressor.unused_data
    return len(text) / max(1, used)
