"""CSV dialect detection (delimiter, encoding), and limits for files of short lines.

polars does the reading; the csv module is used to find out what polars would do, or why it fails.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from odefs.exceptions import TableError
from odefs.tables.readers.compression import beginning, text_beginning
from odefs.tables.readers.file_kinds import ARFF, WEB_PAGE, described_content
from odefs.tables.records.notes import Note

DELIMITERS = (",", ";", "\t", "|")
# Such files can be copied line by line as bytes, without decoding what is not changed.
BYTEWISE = ("utf-8", "cp1252", "latin-1")
"""Encodings in which a line break is one byte."""
HEAD_BYTES = 256 * 1024
LINES = 200
LOOKED_AT = 4096
_DECIMAL_COMMA = re.compile(r"^\s*[-+]?(?:\d{1,3}(?:\.\d{3})+|\d*),\d+\s*$", re.ASCII)
# ``csv.field_size_limit`` takes a C long, which has 32 bits on Windows.
LONGEST_CELL = 2**31 - 1
ALWAYS_CELLS = 8_000_000
"""Tables with at most this many cells are always read."""
CELLS_PER_BYTE = 2
"""A complete line has a delimiter or a line break for each cell, so at most one cell per byte."""

WIDE_ENCODINGS: dict[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
"""Encodings by the bytes of four that are zero in Latin text."""


@dataclass(frozen=True)
class Dialect:
    """How to read a text file."""

    delimiter: str
    encoding: str
    header: bool = True
    """Whether the first line contains the column names."""

    @property
    def first_line(self) -> str:
        return "the header" if self.header else "the first line"


def sniff(source: Path | bytes, name: str, delimiter: str | None = None) -> Dialect:
    """Detect the encoding and, unless given, the delimiter from the beginning of the file."""
    head = beginning(source, HEAD_BYTES)
    if not head.strip():
        raise TableError(f"{name}: the file is empty: export it again, or choose another one.")
    encoding = text_encoding(head)
    text = head.decode(encoding, errors="replace")
    _require_delimited(head, name, "\x00" in text)
    if "\x00" in text:
        raise TableError(
            f"{name}: this is not a text file (it contains zero bytes): "
            "save the table as csv, parquet or Excel."
        )
    return Dialect(delimiter or detect_delimiter(text), encoding)


def require_delimited(source: Path | bytes, name: str) -> None:
    """Raise if a file begins like text of another kind, whose lines are not taken for titles."""
    _require_delimited(beginning(source, LOOKED_AT), name)


def _require_delimited(head: bytes, name: str, is_binary: bool = False) -> None:
    content = described_content(head)
    is_other = ARFF.match(head) or WEB_PAGE.match(head) or head.strip()[:1] == b"["
    if content is not None and (is_binary or is_other):
        raise TableError(f"{name}: this is not delimited text but {content}.")


def is_text(source: Path | bytes) -> bool:
    """Whether a file with an unknown suffix starts like text."""
    head = text_beginning(source, HEAD_BYTES)
    text = head.decode(text_encoding(head), errors="replace").removeprefix("\ufeff")[:LOOKED_AT]
    return bool(text.strip()) and all(
        character.isprintable() or character.isspace() for character in text
    )


def text_encoding(head: bytes) -> str:
    """Detect the encoding from the beginning of a file."""
    # The mark of little-endian UTF-32 begins with that of UTF-16.
    if head[:4] in (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"):
        return "utf-32"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if unmarked := _unmarked_wide_encoding(head):
        return unmarked
    # Text in another encoding is hardly ever valid UTF-8, so that is tried first. Of the others,
    # cp1252 has no character for five bytes; latin-1 has one for every byte and never fails.
    for encoding in ("utf-8", "cp1252"):
        # The head may end in the middle of a character.
        for cut in range(4):
            try:
                head[: len(head) - cut].decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    return "latin-1"


def _unmarked_wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 without a byte order mark: the zero bytes lie at fixed places.

    Tables consist mostly of digits and delimiters, even those in other scripts.
    """
    head = head[: len(head) // 4 * 4][:LOOKED_AT]
    if head.count(0) < 0.3 * len(head) or not head:
        return None
    zeros = [head[place::4].count(0) / (len(head) // 4) for place in range(4)]
    is_zero = tuple(share > 0.6 for share in zeros)
    encoding = WIDE_ENCODINGS.get(is_zero)
    # Text has no zero characters, unlike binary files.
    is_text = encoding is not None and "\x00" not in head.decode(encoding, errors="replace")
    return encoding if is_text else None


@contextmanager
def long_cells() -> Iterator[None]:
    """Lift the csv module's limit of 131,072 characters per field."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def split_lines(text: str) -> list[str]:
    """Split text into lines as polars does: at ``\\n`` alone, not at other line separators."""
    # The csv module raises an error at a carriage return outside of quotes; for polars it is part
    # of the cell.
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    return text.split("\n")


def detect_delimiter(text: str) -> str:
    """Return the delimiter that splits most lines into the same number of fields, at least two.

    Of two that agree, the other is preferred to the comma if all commas are then decimal.
    """
    lines = split_lines(text)[:LINES]
    best, agreements = (0.0, 1, ","), dict[str, float]()
    for delimiter in DELIMITERS:
        widths = Counter(map(len, _split(lines, delimiter)))
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        # Rounded, so that a few odd lines do not outweigh the number of fields.
        agreement = round(count / sum(widths.values()), 2)
        if width > 1:
            agreements[delimiter] = agreement
            best = max(best, (agreement, width, delimiter), key=lambda found: found[:2])
    if best[2] != ",":
        return best[2]
    alike = (one for one, share in agreements.items() if one != "," and share >= best[0])
    return next((one for one in alike if _has_decimal_commas(lines, one)), ",")


def _split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Split lines into fields, without blank lines."""
    with long_cells():
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]


def _has_decimal_commas(lines: Sequence[str], delimiter: str) -> bool:
    """Whether all fields with a comma are numbers, if lines are split by another delimiter."""
    fields = [field for row in _split(lines, delimiter) for field in row if "," in field]
    return bool(fields) and all(map(_DECIMAL_COMMA.match, fields))


class Rows(Protocol):
    """A reader of the csv module: rows, and the number of lines read so far."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def rows_of(text: io.TextIOWrapper, dialect: Dialect) -> Rows:
    """Split lines into rows as polars does.

    Only ``\\n`` ends a line, other line endings are ordinary characters; a blank line is an empty
    row.
    """
    return csv.reader(lines_of(text), delimiter=dialect.delimiter)


def lines_of(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield the lines of a file as :func:`split_lines` does, with their line feeds."""
    text.reconfigure(newline="\n")
    for place, line in enumerate(text):
        line = line.replace("\r\n", "\n").replace("\r", " ")
        yield line if place else line.removeprefix("\ufeff")


def require_filled(source: Path | bytes, name: str, dialect: Dialect, width: int) -> None:
    """Raise if a wide header is followed by many short lines.

    polars fills in the missing cells, so a small file would become a large table.
    """
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    most = max(ALWAYS_CELLS, CELLS_PER_BYTE * size)
    # Line breaks are counted first because that is fast; only suspicious files are parsed.
    if width * _count_breaks(source) <= most:
        return
    # Line breaks inside quotes do not start a row.
    with opened(source, dialect) as text:
        rows = sum(1 for _ in rows_of(text, dialect))
    if width * rows > most:
        raise TableError(
            f"{name}: {dialect.first_line} has {width:,} fields, and most of the {rows:,} lines "
            "have few or none of them: remove blank and broken lines."
        )


def _count_breaks(source: Path | bytes) -> int:
    if isinstance(source, bytes):
        return source.count(b"\n")
    with open(source, "rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(2**20), b""))


def short_lines(source: Path | bytes, dialect: Dialect) -> Note | None:
    """Return a note on lines with too few fields, which polars fills silently, or ``None``."""
    with opened(source, dialect) as text:
        reader = rows_of(text, dialect)
        width = len(next((row for row in reader if row), []))
        found = [(reader.line_num, len(row)) for row in reader if 0 < len(row) < width]
    if not found:
        return None
    line, fields = found[0]
    return Note("short_lines", line=line, count=len(found), n_fields=fields, limit=width)


@contextmanager
def opened(source: Path | bytes, dialect: Dialect) -> Iterator[io.TextIOWrapper]:
    """Open the file as decoded text, with line endings unchanged."""
    with (
        open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as stream,
        long_cells(),
    ):
        yield io.TextIOWrapper(stream, encoding=dialect.encoding, errors="replace", newline="")
