"""What a path leads to: a file, a pipe, standard input, or the parquet files of a folder or glob.

Also the suffix that decides how it is read, and the size and digest that identify it.
"""

import hashlib
import sys
from pathlib import Path

from odefs.engines.parquet import parts_of
from odefs.exceptions import TableError
from odefs.tables.readers.file_kinds import OTHER, READABLE
from odefs.tables.readers.sources.kinds import ADDRESSES, kind_of
from odefs.tables.readers.text.dialect import is_text


def standard_input() -> bytes:
    if sys.stdin is None:
        raise TableError("standard input is closed: name a file, or pass the table through a pipe.")
    return sys.stdin.buffer.read()


def require_input(path: str | Path) -> None:
    """Raise if no file, folder or pattern has this name, before other checks."""
    is_known = str(path) == "-" or Path(path).exists() or kind_of(path) in ADDRESSES
    if not is_known and not _parts(path):
        raise TableError(f"{path}: there is no such file.")


def existing_input(path: str | Path) -> Path | bytes | list[Path]:
    """Return the file, the content of a pipe, or the files of a folder or glob."""
    found = Path(path)
    if found.is_file():
        return found
    if found.is_fifo():
        # A pipe can be read only once, but a table is read several times.
        return found.read_bytes()
    parts = _parts(path)
    if parts:
        return parts
    require_input(path)
    raise TableError(f"{path}: this is neither a file nor a folder.")


def _parts(path: str | Path) -> list[Path]:
    """Return the parquet files of a folder or glob; empty if it is neither."""
    parts = parts_of(path)
    other = next((part.name for part in parts if part.suffix.lower() != ".parquet"), None)
    if other is not None:
        raise TableError(
            f"{path}: {other} is not a parquet file; only parquet files can be read together."
        )
    return parts


def suffix_of(source: Path | bytes) -> str:
    """Return the suffix of the file, or one for its content if the suffix is unknown."""
    if isinstance(source, bytes):
        return _guess(source)
    suffix = source.suffix.lower()
    if suffix in READABLE or suffix in OTHER:
        return suffix
    with open(source, "rb") as file:
        guess = _guess(file.read(8))
    # An unknown binary file keeps its suffix, which the error names; an empty one counts as text,
    # whose reader reports that it is empty.
    return suffix if guess == ".csv" and source.stat().st_size and not is_text(source) else guess


def _guess(content: bytes) -> str:
    """Guess a suffix from the first bytes."""
    starts = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"PK\x03\x04": ".xlsx", b"{": ".ndjson"}
    return next((suffix for start, suffix in starts.items() if content.startswith(start)), ".csv")


def fingerprint(source: Path | bytes | list[Path]) -> tuple[int, str]:
    """Return size and sha256; for several files, the sha256 of their digests."""
    if isinstance(source, bytes):
        return len(source), hashlib.sha256(source).hexdigest()
    if isinstance(source, Path):
        with open(source, "rb") as file:
            return source.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    parts = [fingerprint(part) for part in source]
    return sum(size for size, _ in parts), hashlib.sha256(
        "".join(digest for _, digest in parts).encode()
    ).hexdigest()
