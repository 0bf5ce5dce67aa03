"""Delimited text: which delimiter, which encoding, and where a line is broken. polars does the reading."""

import csv
import gzip
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from odefs.tables.columns import TableError

DELIMITERS = (",", ";", "\t", "|")
HEAD_BYTES = 256 * 1024
LINES = 200


@dataclass(frozen=True)
class Dialect:
    """How a text file is to be read."""

    separator: str
    encoding: str


def sniff(source: Path | bytes, name: str) -> Dialect:
    """Delimiter and encoding from the beginning of the file."""
    head = _head(source)
    if not head.strip():
        raise TableError(f"{name}: the file is empty.")
    encoding = _encoding(head)
    text = head.decode(encoding, errors="replace")
    if "\x00" in text:
        raise TableError(f"{name}: this is not a text file (it holds zero bytes).")
    return Dialect(_separator(text), encoding)


def _head(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        head = source[:HEAD_BYTES]
        return gzip.decompress(source)[:HEAD_BYTES] if head[:2] == b"\x1f\x8b" else head
    with open(source, "rb") as file:
        if file.read(2) != b"\x1f\x8b":
            file.seek(0)
            return file.read(HEAD_BYTES)
    with gzip.open(source) as unpacked:
        return unpacked.read(HEAD_BYTES)


def _encoding(head: bytes) -> str:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        # The head may end in the middle of a character.
        for cut in range(4):
            try:
                head[: len(head) - cut].decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    return "latin-1"


def _separator(text: str) -> str:
    """The delimiter that cuts most lines into the same number of fields, more than one."""
    lines = text.splitlines()[:LINES]
    best = (0.0, 1, ",")
    for separator in DELIMITERS:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=separator) if row)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        agreement = count / sum(widths.values())
        if width > 1 and (round(agreement, 2), width) > best[:2]:
            best = (round(agreement, 2), width, separator)
    return best[2]


def broken_line(source: Path | bytes, dialect: Dialect) -> str:
    """Where a line has more fields than the header, as the end of a sentence."""
    stream = open(source, "rb") if isinstance(source, Path) else io.BytesIO(source)  # noqa: SIM115
    with stream:
        raw = gzip.GzipFile(fileobj=stream) if stream.read(2) == b"\x1f\x8b" else stream
        stream.seek(0)
        text = io.TextIOWrapper(raw, encoding=dialect.encoding, errors="replace", newline="")
        reader = csv.reader(text, delimiter=dialect.separator)
        header = next(reader, [])
        for row in reader:
            if len(row) > len(header):
                return f"line {reader.line_num} has {len(row)} fields, the header has {len(header)}"
    return "a line has more fields than the header"
