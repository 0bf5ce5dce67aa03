"""Text files with spaces at their delimiters: ``a, b`` or ``a , b`` instead of ``a,b``.

Such spaces belong to the delimiter, not to the cells, if nearly all fields of a file have them. The
table is then read from a copy without them, so that ``x, "y, z"`` has two fields, numbers are
numbers, and categories are those of the same table without spaces. A file in which only some cells
have spaces around them is read as it is.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from odefs.tables.readers.compression import beginning
from odefs.tables.readers.text.dialect import (
    BYTEWISE,
    DELIMITERS,
    HEAD_BYTES,
    LINES,
    detect_delimiter,
    text_encoding,
)
from odefs.tables.readers.text.lines import COMMENT, SPACE, split_rows

PADDED_SHARE = 0.9
"""Share of the fields with a space from which on spaces belong to the delimiter."""
MIN_FIELDS = 4
COPIED_CHARACTERS = 2**20
QUOTE = '"'


@dataclass(frozen=True)
class Padding:
    """Where the fields of a file have spaces."""

    delimiter: str
    after: bool = False
    """After the delimiter."""
    before: bool = False
    """Before the delimiter."""
    at_start: bool = False
    """At the beginning of a line; in a first column alone this would be indentation."""
    at_end: bool = False
    """At the end of a line."""

    def __bool__(self) -> bool:
        return self.after or self.before

    def removed(self, text: str) -> str:
        """Return text outside of quotes without spaces at delimiters and line breaks."""
        if SPACE not in text:
            return text
        places = [(self.delimiter, self.after, self.before)]
        places += [(end, self.at_start, self.at_end) for end in ("\r\n", "\n")]
        for mark, after, before in places:
            if after:
                text = _without(text, mark + SPACE, re.escape(mark) + " +", mark)
            if before:
                # The lookbehind lets a run of spaces match from its first space only. Otherwise a
                # long run inside a cell would be tried from each of its spaces, in quadratic time.
                text = _without(text, SPACE + mark, "(?<! ) +" + re.escape(mark), mark)
        return text


def _without(text: str, padded: str, pattern: str, mark: str) -> str:
    """Replace marks with any number of spaces; most have one, which is faster to replace."""
    text = text.replace(padded, mark)
    return re.sub(pattern, lambda _: mark, text) if padded in text else text


def without_padding(
    source: Path | bytes,
    delimiter: str | None,
    kept_names: Collection[str] = (),
    target: Path | None = None,
    keeps_spaces: bool | None = None,
) -> Path | bytes:
    """Return the file, or a copy without spaces at delimiters, in memory or in ``target``.

    If names with space around them are expected, they come from a library that keeps spaces, in
    names and in cells: the file is then read in the same way. ``keeps_spaces`` says whether the
    cells of the training table had spaces, ``None`` if this is the training table.
    """
    if keeps_spaces or any(name != name.strip() for name in kept_names):
        return source
    head = beginning(source, HEAD_BYTES)
    encoding = text_encoding(head)
    fewest = MIN_FIELDS if keeps_spaces is None else 1
    padding = find_padding(head.decode(encoding, errors="replace"), delimiter, fewest)
    if not padding:
        return source
    if target is None:
        out = io.BytesIO()
        _copy(source, out, encoding, padding)
        return out.getvalue()
    with open(target, "wb") as file:
        _copy(source, file, encoding, padding)
    return target


def find_padding(text: str, delimiter: str | None, fewest: int = MIN_FIELDS) -> Padding:
    """Find out from the first lines whether nearly all fields have spaces at the delimiter.

    ``fewest`` is the least number of fields from which this can be told.
    """
    marks = DELIMITERS if delimiter is None else (delimiter,)
    if delimiter == SPACE or not _has_space_at(marks, text):
        return Padding(delimiter or "")
    lines = text.replace("\r\n", "\n").split("\n")[:LINES]
    lines = [line for line in lines if not line.startswith(COMMENT)]
    delimiter = delimiter or detect_delimiter("\n".join(lines))
    try:
        return _padding_of(lines, delimiter, fewest)
    except csv.Error:  # not a text file, or damaged: its reader finds out
        return Padding(delimiter)


def _has_space_at(marks: Sequence[str], text: str) -> bool:
    """Whether a space is next to one of the marks anywhere."""
    return any(f"{one} " in text or f" {one}" in text for one in marks)


def _padding_of(lines: Sequence[str], delimiter: str, fewest: int) -> Padding:
    after = _is_usual(_after_delimiters(lines, delimiter), fewest)
    # A quote after a space begins a quoted cell only if spaces belong to the delimiter.
    before = _is_usual(_before_delimiters(lines, delimiter, by_spaces=after), fewest)
    whole = _whole_lines(lines)
    at_start = after and _is_usual([line[0] for line in whole], 1)
    at_end = before and _is_usual([line[-1] for line in whole], 1)
    return Padding(delimiter, after, before, at_start, at_end)


def _after_delimiters(lines: Sequence[str], delimiter: str) -> list[str]:
    """Return the characters after delimiters, without those of empty fields."""
    rows = split_rows(lines, delimiter, by_spaces=False)
    return [cell[:1] for row in rows for cell in row.fields[1:] if cell]


def _before_delimiters(lines: Sequence[str], delimiter: str, by_spaces: bool) -> list[str]:
    """Return the characters before delimiters, without those of empty fields."""
    rows = split_rows(lines, delimiter, by_spaces)
    return [cell[-1:] for row in rows for cell in row.fields[:-1] if cell]


def _whole_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that are rows of their own."""
    # Lines with an open quote are parts of a cell of several lines.
    return [line for line in lines if line.strip() and line.count(QUOTE) % 2 == 0]


def _is_usual(characters: Sequence[str], fewest: int) -> bool:
    """Whether nearly all of the first or last characters of fields are spaces."""
    n = len(characters)
    return n >= fewest and characters.count(SPACE) >= PADDED_SHARE * n


def _copy(source: Path | bytes, out: BinaryIO, encoding: str, padding: Padding) -> None:
    # latin-1 maps every byte to itself. Later lines, which may not be in the encoding of the first
    # ones, are thus copied unchanged, and the delimiters and quotes are ASCII anyway.
    encoding = "latin-1" if encoding in BYTEWISE else encoding
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
        text = io.TextIOWrapper(content, encoding, errors="replace", newline="\n")
        copy = io.TextIOWrapper(out, encoding, errors="replace", newline="")
        for piece in _unpadded_pieces(text, padding):
            copy.write(piece)
        copy.flush()
        copy.detach()
        text.detach()


def _unpadded_pieces(text: TextIO, padding: Padding) -> Iterator[str]:
    """Yield the text in pieces of whole lines; what is inside quotes stays as it is."""
    is_quoted = False
    while piece := text.read(COPIED_CHARACTERS) + text.readline():
        # Line breaks around a piece mark where its first line begins and its last one ends.
        end = "" if piece.endswith("\n") else "\n"
        unpadded = []
        for place, part in enumerate(f"\n{piece}{end}".split(QUOTE)):
            is_quoted = is_quoted != bool(place)
            unpadded.append(part if is_quoted else padding.removed(part))
        joined = QUOTE.join(unpadded)
        yield joined[1 : len(joined) - len(end)]
