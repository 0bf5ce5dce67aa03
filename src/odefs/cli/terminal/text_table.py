"""Lines of text for a terminal: their width, word wrap, and tables without borders.

Widths are counted in terminal cells, of which an East Asian character takes two and a combining
mark none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

GAP = 2
"""Cells between columns."""
ELLIPSIS = "…"
EMOJI_STYLE = "\N{VARIATION SELECTOR-16}"
"""Shows the character before it as an emoji, which takes two cells."""
_WORD = re.compile(r"\s*\S+\s*")
_HANGUL_PART = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
"""Vowels and final consonants, which combine with the character before them."""


class Column(NamedTuple):
    """The header of a column, and whether its cells are aligned to the right."""

    title: str
    is_right: bool = False


def width_of(text: str) -> int:
    """Return the number of terminal cells that a line takes."""
    if text.isascii():
        return len(text)
    widths = list(map(_cells, text))
    marks = zip(widths[:-1], text[1:], strict=True)
    wider = sum(mark == EMOJI_STYLE and before == 1 for before, mark in marks)
    return sum(widths) + wider


@lru_cache(maxsize=4096)
def _cells(character: str) -> int:
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Mc", "Me", "Cf") or _HANGUL_PART.match(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def wrap(text: str, width: int, crop: bool = False) -> list[str]:
    """Divide a line between words into lines of at most ``width`` cells.

    Words that are longer are folded; with ``crop`` they end in an ellipsis.
    """
    if width_of(text) <= width:
        return [text]
    lines, line = [], ""
    for word in _WORD.findall(text):
        if width_of(line + word.rstrip()) <= width:
            line += word
            continue
        if line:
            lines.append(line)
        *folded, line = [word] if crop else _folded(word, width)
        lines += folded
    return [_cropped(part.rstrip(), width) for part in [*lines, line]]


def _folded(word: str, width: int) -> Iterator[str]:
    """Parts of a word that fit on a line; the last one has the spaces that follow the word."""
    start = 0
    for end in range(1, len(word.rstrip()) + 1):
        # A part has at least one character, also if that is wider than the line.
        if width_of(word[start:end]) > width and end - start > 1:
            yield word[start : end - 1]
            start = end - 1
    yield word[start:]


def _cropped(line: str, width: int) -> str:
    if width_of(line) <= width:
        return line
    kept = next(_folded(line, max(1, width - width_of(ELLIPSIS))))
    return kept + ELLIPSIS


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> tuple[list[str], list[str]]:
    """Return the lines of the header and of the rows, at most ``width`` cells wide.

    If the table is wider, its widest columns are wrapped.
    """
    titles = [column.title for column in columns]
    widths = [
        max(map(width_of, cells)) + gap
        for cells, gap in zip(zip(titles, *rows, strict=True), _gaps(len(columns)), strict=True)
    ]
    reduced = [
        max(1, of_column - gap)
        for of_column, gap in zip(_reduced(widths, width), _gaps(len(columns)), strict=True)
    ]
    header = list(_row_lines(columns, titles, reduced, at_bottom=True))
    return header, [line for row in rows for line in _row_lines(columns, row, reduced)]


def _gaps(n_columns: int) -> list[int]:
    """Cells of the gaps that count to each column: half of those on either side of it."""
    return [GAP // 2 * ((place > 0) + (place < n_columns - 1)) for place in range(n_columns)]


def _reduced(widths: Sequence[int], total: int) -> list[int]:
    """Make the widest columns narrower until all of them fit into ``total`` cells."""
    widths = list(widths)
    while (excess := sum(widths) - total) > 0 and (widest := max(widths)) > 0:
        spare = widest - max((width for width in widths if width < widest), default=0)
        places = [place for place, width in enumerate(widths) if width == widest]
        for n_left, place in zip(range(len(places), 0, -1), places, strict=True):
            removed = min(spare, round(excess / n_left))
            widths[place] -= removed
            # The rest of the excess is shared by the columns that are left, so rounding does not
            # add up.
            excess -= removed
    return widths


def _row_lines(
    columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], at_bottom: bool = False
) -> Iterator[str]:
    """Lines of a row; cells with fewer lines than others are at the top or ``at_bottom``."""
    wrapped = [wrap(cell, width, crop=True) for cell, width in zip(row, widths, strict=True)]
    if at_bottom:
        height = max(map(len, wrapped))
        wrapped = [[""] * (height - len(lines)) + lines for lines in wrapped]
    for parts in zip_longest(*wrapped, fillvalue=""):
        aligned = (
            _aligned(part, width, column.is_right)
            for part, width, column in zip(parts, widths, columns, strict=True)
        )
        yield (" " * GAP).join(aligned).rstrip()


def _aligned(text: str, width: int, is_right: bool) -> str:
    space = " " * (width - width_of(text))
    return space + text if is_right else text + space
