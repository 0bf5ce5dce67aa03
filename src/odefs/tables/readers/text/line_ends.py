"""Text files whose lines end in carriage returns alone, as on old Macs.

polars and the csv module would read them as a single line.
"""

import io
import re
import shutil
from pathlib import Path
from typing import BinaryIO

from odefs.tables.readers.compression import beginning
from odefs.tables.readers.text.dialect import HEAD_BYTES, text_encoding

COPIED_CHARACTERS = 2**20
_QUOTED = re.compile(r'"[^"]*+(?:"|$)')


def with_line_feeds(source: Path | bytes, target: Path | None = None) -> Path | bytes:
    """Return the file, or a copy whose lines end in line feeds.

    The copy is in memory, or in the file ``target``.
    """
    head = beginning(source, HEAD_BYTES)
    encoding = text_encoding(head)
    text = head.decode(encoding, errors="replace")
    if not _ends_in_returns(text):
        return source
    if target is None:
        out = io.BytesIO()
        _copy(source, out, encoding)
        return out.getvalue()
    with open(target, "wb") as file:
        _copy(source, file, encoding)
    return target


def _ends_in_returns(text: str) -> bool:
    """Whether lines end in carriage returns alone.

    Line feeds in quotes belong to cells, as Excel for Mac writes them. Others end lines, and then a
    carriage return belongs to one of them, or to a cell.
    """
    outside = _QUOTED.sub("", text) if "\r" in text and "\n" in text else text
    return "\r" in outside.strip() and "\n" not in outside


def _copy(source: Path | bytes, out: BinaryIO, encoding: str) -> None:
    # Bytes that are not UTF-8 are kept: they are below the head, by which the encoding was
    # guessed, and the reader may have to fall back to cp1252.
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
        # Universal newlines: all line ends are read as line feeds.
        lines = io.TextIOWrapper(content, encoding, errors=errors, newline=None)
        copy = io.TextIOWrapper(out, encoding, errors=errors, newline="")
        shutil.copyfileobj(lines, copy, COPIED_CHARACTERS)
        copy.detach()
