"""Lines of a text file that repeat its header: their numbers, without splitting the other lines."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from odefs.tables.readers.layout.repeated_headers import EXAMINED_ROWS, HeaderNames, n_filled
from odefs.tables.readers.text.dialect import BYTEWISE
from odefs.tables.readers.text.lines import Line, split_fields

PIECE = 2**20
BYTE_MARK = "\ufeff"
QUOTE = '"'


def repeatable_header(rows: Sequence[Line]) -> HeaderNames | None:
    """Return the names in the first row if lines that have them again repeat the header."""
    if not rows:
        return None
    header = HeaderNames.of(rows[0].fields)
    below = rows[1 : EXAMINED_ROWS + 1]
    if not header.are_recognisable or any("\n" in name for name in header.names):
        return None
    return None if header.are_values(header.n_equal(row.fields) for row in below) else header


@dataclass(frozen=True)
class HeaderSearch:
    """How to find the lines of a file that repeat its header."""

    header: HeaderNames
    encoding: str
    delimiter: str
    by_spaces: bool = False

    def lines(self, source: Path | bytes, first: int) -> list[int]:
        """Return the lines from ``first`` on that repeat the header, numbered from 0."""
        if any(QUOTE in name for name in self.header.names):
            return []
        with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
            text = io.TextIOWrapper(content, self._read_as, errors="replace", newline="\n")
            found = [line for line in self._found(text) if line >= first]
            text.detach()
        return found

    @property
    def _read_as(self) -> str:
        # latin-1 maps every byte to itself, which is faster than decoding lines that do not matter.
        return "latin-1" if self.encoding in BYTEWISE else self.encoding

    def _as_read(self, name: str) -> str:
        return name.encode(self.encoding, errors="replace").decode(self._read_as)

    def _found(self, text: TextIO) -> Iterator[int]:
        longest = self._as_read(max(self.header.names, key=len))
        beginning = self._beginning()
        number, is_quoted = 0, False
        while piece := text.read(PIECE) + text.readline():
            done = 0
            for match in beginning.finditer(f"\n{piece}") if longest in piece else ():
                before = piece[done : match.start()]
                done = match.start()
                number += before.count("\n")
                is_quoted = is_quoted != bool(before.count(QUOTE) % 2)
                end = piece.find("\n", done)
                if not is_quoted and self._is_header(piece[done : end if end >= 0 else None]):
                    yield number
            rest = piece[done:]
            number += rest.count("\n")
            is_quoted = is_quoted != bool(rest.count(QUOTE) % 2)

    def _beginning(self) -> re.Pattern[str]:
        """Return what a line that repeats the header begins with: a line break, the first name."""
        blank, delimiter = '[ "]*+', re.escape(self.delimiter)
        if self.by_spaces:
            blank, delimiter = '[ \t"]*+', '(?<=[ \t"])'
        names = self.header.names
        place = next(k for k, name in enumerate(names) if name)
        mark = re.escape(self._as_read(BYTE_MARK))
        first = re.escape(self._as_read(names[place]))
        unnamed = f"(?:{delimiter}{blank}){{{place}}}"
        return re.compile(f"\n(?:{mark})?{blank}{unnamed}{first}{blank}{delimiter}")

    def _is_header(self, line: str) -> bool:
        line = line.encode(self._read_as, errors="replace").decode(self.encoding, errors="replace")
        line = line.removeprefix(BYTE_MARK).rstrip("\r").replace("\r", " ")
        # Quotes after a space are part of a field.
        cells = [cell.strip(' "') for cell in split_fields(line, self.delimiter, self.by_spaces)]
        return self.header.is_repeated_by(self.header.n_equal(cells), n_filled(cells))
