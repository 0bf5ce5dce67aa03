"""Memory estimate for a sheet of an Excel file, from its XML before it is read.

Readers allocate a grid from the first to the last cell and every string that a cell refers to, so
a few bytes can request any amount of memory. Rows, cells and strings are counted here while the XML
is decompressed piece by piece. Whatever looks like a cell counts, because overestimating is safe.
Only blank cells, which Excel stores for their format (``<c r="A1" s="1"/>``) and readers skip, are
left out.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from odefs.exceptions import TableError

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
"""Excel's limits: rows and columns of a sheet, characters in a cell."""
LONGEST_GAP = 12 * MAX_TEXT
"""Bytes of text between two tags: a character takes up to 12, as in ``&#1114111;``."""
GRID_BYTES, CELL_BYTES, STRING_BYTES = 40, 80, 64
"""Memory for a grid position, a cell and a shared string while a sheet is read and inspected."""
FREE_TEXT_LENGTH = 64
"""Text up to this length is included in ``CELL_BYTES``."""

PREFIX = re.compile(rb"<(/?)[^\s<>:/\"'=]+:")
REFERENCE = re.compile(rb"([\s\"'])r\s*=\s*([\"'])([^\"']*)\2")
OWN_REFERENCE = re.compile(rb"(?<=[\s\"'])r=\"([A-Za-z]*\d+)\"")
LONGEST_REFERENCE = 10
"""Length of XFD1048576."""
PADDING = 32
"""Zero bytes behind the XML, so that looking a few bytes beyond a tag stays inside the array."""


@dataclass
class SheetScan:
    """Counts over one part; ``strings`` has the lengths of the shared strings, if any."""

    strings: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_rows: int = 0
    n_cells: int = 0
    n_strings: int = 0
    last_row: int = 0
    last_column: int = 0
    last_filled_row: int = 0
    last_filled_column: int = 0
    text_bytes: int = 0
    first_value_column: int = MAX_COLUMNS + 1
    last_value_column: int = 0
    _bytes: int = 0
    _in_row: int = 0
    _widest: int = 0
    _without_reference: int = 0
    _items: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._longest = int(self.strings.max(initial=0))

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns up to the last cell that is not blank."""
        if not self._without_reference:
            return self.last_filled_row, self.last_filled_column
        # A cell without a reference follows the cell or row before it, blank or not.
        return max(self.last_row, self.n_rows), self.last_column + self._widest

    @property
    def value_columns(self) -> tuple[int, int] | None:
        """First and last column with a value, from 1; ``None`` if there is none or unknown."""
        if self._without_reference or not self.last_value_column:
            return None
        return self.first_value_column, self.last_value_column

    @property
    def n_bytes(self) -> int:
        """Approximate memory for reading this part."""
        rows, columns = self.grid
        return (
            GRID_BYTES * rows * columns
            + CELL_BYTES * self.n_cells
            + STRING_BYTES * self.n_strings
            + self.text_bytes
        )

    def lengths(self) -> np.ndarray:
        """Bytes of each shared string, including markup."""
        return (
            np.diff(np.concatenate([*self._items, [self._bytes]])) if self._items else self.strings
        )

    def add(self, xml: bytes) -> None:
        """Count one piece, which starts with a tag and ends before another."""
        size = len(xml)
        xml, a, tags = _normalised(xml)
        if np.diff(tags, prepend=0, append=len(xml)).max() > LONGEST_GAP:
            raise TableError(
                f"a text in it is longer than the {MAX_TEXT:,} characters "
                "that Excel allows in a cell."
            )
        rows, cells, items = (_named(a, tags, name) for name in (b"row", b"c", b"si"))
        self._count_widths(rows, cells)
        blank = _are_closed(a, cells)
        filled = cells[~blank]
        self.n_rows, self.n_cells = self.n_rows + rows.size, self.n_cells + filled.size
        if self.n_rows > MAX_ROWS:
            raise TableError(f"a sheet has more than the {MAX_ROWS:,} rows that Excel allows.")
        self._look_at(xml, a, rows, 4, False)
        n_found = self._look_at(xml, a, filled, 2, True) + self._look_at(
            xml, a, cells[blank], 2, False
        )
        self._without_reference += cells.size - n_found
        self._extend_values(a, tags, filled)
        if items.size:
            self.n_strings += items.size
            self._items.append(items + self._bytes)
            self.text_bytes += size
        elif cells.size and (b"inlineStr" in xml or b'"str"' in xml):
            self.text_bytes += size
        if cells.size and self._longest > FREE_TEXT_LENGTH:
            self._refer(a, tags)
        self._bytes += size

    def _count_widths(self, rows: np.ndarray, cells: np.ndarray) -> None:
        before = np.searchsorted(cells, rows)
        counts = np.diff(before, prepend=-self._in_row, append=cells.size)
        self._in_row, self._widest = int(counts[-1]), max(self._widest, int(counts.max()))

    def _look_at(
        self, xml: bytes, a: np.ndarray, places: np.ndarray, length: int, filled: bool
    ) -> int:
        """Extend the grid by the references in tags, and return how many there are.

        ``length`` is that of ``<`` and the tag's name.
        """
        # Nearly all tags start with r="...". Only the others, with further attributes before it,
        # are searched one by one.
        bare = (a[places + length] == ord(">")) | (a[places + length] == ord("/"))
        usual = (a[places + length + 1] == ord("r")) & (a[places + length + 2] == ord("="))
        n_found, searched = int(usual.sum()), []
        for place in places[~(usual | bare)].tolist():
            # Not up to the next ">", which may be inside quotes.
            end = xml.find(b"<", place + 1)
            tag = place, end if end >= 0 else len(xml)
            # All of them, since the first may be inside quotes too.
            found = [one.start(1) for one in OWN_REFERENCE.finditer(xml, *tag)]
            n_found += bool(found)
            searched += found
        starts = np.concatenate([places[usual] + length + 4, np.array(searched, dtype=np.intp)])
        column, row, ended = _parsed(a, starts)
        if row.size:
            self._extend(int(row.max()), int(column.max()), bool(ended.all()), filled)
        return n_found

    def _extend_values(self, a: np.ndarray, tags: np.ndarray, filled: np.ndarray) -> None:
        """Extend the columns by cells that are not closed at once, as in ``<c r="A1"></c>``."""
        behind = tags[np.minimum(np.searchsorted(tags, filled) + 1, tags.size - 1)]
        values = filled[(a[behind + 1] != ord("/")) | (behind <= filled)]
        usual = (a[values + 3] == ord("r")) & (a[values + 4] == ord("="))
        column, _, _ = _parsed(a, values[usual] + 6)
        if column.size:
            self.first_value_column = min(self.first_value_column, int(column.min()))
            self.last_value_column = max(self.last_value_column, int(column.max()))

    def _extend(self, row: int, column: int, ended: bool, filled: bool) -> None:
        if not ended or row > MAX_ROWS or column > MAX_COLUMNS:
            raise TableError(
                f"a cell lies beyond the {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns "
                "that Excel allows."
            )
        self.last_row, self.last_column = max(self.last_row, row), max(self.last_column, column)
        if filled:
            self.last_filled_row = max(self.last_filled_row, row)
            self.last_filled_column = max(self.last_filled_column, column)

    def _refer(self, a: np.ndarray, tags: np.ndarray) -> None:
        """Add strings that cells refer to: ``t="s"``, and the string's index in the next tag."""
        # A cell of a few bytes may refer to a string of 32,767 characters, and so may all others.
        found = np.flatnonzero(a == ord("s"))
        found = found[(found > 3) & ((a[found + 1] == ord('"')) | (a[found + 1] == ord("'")))]
        found = found[(a[found - 1] == a[found + 1]) & (a[found - 3] == ord("t"))]
        behind = tags[np.minimum(np.searchsorted(tags, found), tags.size - 1)]
        usual = (a[behind + 1] == ord("v")) & (a[behind + 2] == ord(">"))
        _, number, _ = _parsed(a, behind[usual] + 3)
        number = number[number < self.strings.size]
        self.text_bytes += int(self.strings[number].sum() + (~usual).sum() * self._longest)


def _normalised(xml: bytes) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return XML without prefixes and with usual references, as an array, and its tags."""
    # Files of spreadsheet programs need no change; ``<x:c r = 'A1'>`` is valid XML all the same.
    a = _as_array(xml)
    tags = np.flatnonzero(a == ord("<"))
    if _has_prefixes(a, tags) or _has_unusual(a):
        xml = REFERENCE.sub(rb'\1r="\3"', PREFIX.sub(rb"<\1", xml))
        a = _as_array(xml)
        tags = np.flatnonzero(a == ord("<"))
    return xml, a, tags


def _as_array(xml: bytes) -> np.ndarray:
    return np.frombuffer(xml + bytes(PADDING), dtype=np.uint8)


def _has_prefixes(a: np.ndarray, tags: np.ndarray) -> bool:
    """Whether a tag has a namespace prefix."""
    colons = np.flatnonzero(a == ord(":"))
    if not colons.size or not tags.size:
        return False
    begin = tags[np.maximum(np.searchsorted(tags, colons) - 1, 0)]
    # Most colons are in the attributes of a row, after the end of its name.
    name = len("<row")
    left = np.flatnonzero((a[begin + name] > ord(" ")) | (colons < begin + name))
    if not left.size:
        return False
    ends = np.flatnonzero((a <= ord(" ")) | (a == ord(">")))
    return bool((ends[np.searchsorted(ends, begin[left])] > colons[left]).any())


def _has_unusual(a: np.ndarray) -> bool:
    """Whether there may be a reference that is not written as ``r="A1"``."""
    found = np.flatnonzero(a == ord("r"))
    after = a[found + 1]
    return bool(((after <= ord(" ")) | ((after == ord("=")) & (a[found + 2] != ord('"')))).any())


def _named(a: np.ndarray, tags: np.ndarray, name: bytes) -> np.ndarray:
    """Return the positions at which elements of this name start."""
    found = tags
    for k, letter in enumerate(name, 1):
        found = found[a[found + k] == letter]
    after = a[found + len(name) + 1]
    return found[(after <= 32) | (after == ord(">")) | (after == ord("/"))]


def _are_closed(a: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether tags end in ``/>``; ``False`` if quotes, as in ``x="/>"``, make that uncertain."""
    closed = np.zeros(places.size, dtype=bool)
    ends = np.flatnonzero(a == ord(">"))
    if not ends.size or not (a[ends - 1] == ord("/")).any():
        return closed
    nearest = np.searchsorted(ends, places)
    end = ends[np.minimum(nearest, ends.size - 1)]
    closed = (nearest < ends.size) & (a[end - 1] == ord("/"))
    double, single = (np.flatnonzero(a == ord(quote)) for quote in "\"'")
    n_double = np.searchsorted(double, end) - np.searchsorted(double, places)
    n_single = np.searchsorted(single, end) - np.searchsorted(single, places)
    return closed & (n_double % 2 == 0) & (n_single == 0)


def _parsed(a: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parse references such as ``AB12`` to column and row; whether they end in time."""
    window = np.lib.stride_tricks.sliding_window_view(a, LONGEST_REFERENCE + 1)[start].T
    # 64 bits: a window of letters or of digits only is a number beyond 32 bits.
    column, row = np.zeros(start.size, dtype=np.int64), np.zeros(start.size, dtype=np.int64)
    inside = np.ones(start.size, dtype=bool)
    for c in np.ascontiguousarray(window):
        letter, digit = (c & 0x5F) - np.uint8(ord("A") - 1), c - np.uint8(ord("0"))
        is_letter, is_digit = (
            inside & (letter <= 26) & (letter > 0) & (c >= ord("A")),
            inside & (digit <= 9),
        )
        inside = is_letter | is_digit
        if not inside.any():
            break
        if is_letter.any():
            np.copyto(column, column * 26 + letter, where=is_letter)
        np.copyto(row, row * 10 + digit, where=is_digit)
    return column, row, ~inside
