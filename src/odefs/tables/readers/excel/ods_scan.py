"""Memory estimate for the sheets of an OpenDocument file, from its XML before it is read.

A row or cell may have a repeat count, so a few bytes can request any number of cells. Blank cells
and rows after the last non-blank one do not count.
"""

import re
from dataclasses import dataclass

from odefs.tables.readers.excel.xlsx_scan import CELL_BYTES, GRID_BYTES

TAG = re.compile(
    rb"<(/?)(?:[^\s<>:/\"'=]+:)?(table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<]*)"
)
REPEATED = re.compile(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']\s*\+?(\d+)")
VALUE = re.compile(rb"value[\w-]*\s*=")


@dataclass
class OdsScan:
    """Counts over all sheets, which readers read at once; ``grid`` is that of the largest sheet."""

    grid: tuple[int, int] = (0, 0)
    n_cells: int = 0
    n_strings: int = 0
    text_bytes: int = 0
    _places: int = 0
    _rows: int = 0
    _columns: int = 0
    _blank_rows: int = 0
    _row_repeats: int = 0
    _width: int = 0
    _filled_width: int = 0
    _in_row: int = 0

    @property
    def n_bytes(self) -> int:
        """Approximate memory for reading the sheets."""
        open_sheet = self._rows * self._columns
        return (
            GRID_BYTES * (self._places + open_sheet) + CELL_BYTES * self.n_cells + self.text_bytes
        )

    def add(self, xml: bytes) -> None:
        """Count one piece, which starts with a tag and ends before another."""
        self.text_bytes += len(xml)
        for closes, name, tag in TAG.findall(xml):
            if name == b"table":
                self._end_sheet()
            elif name == b"table-row":
                self._end_row()
                if not closes:
                    self._row_repeats = _repeats(tag)
                if not closes and _is_closed(tag):
                    self._end_row()
            elif not closes:
                self._add_cell(tag)

    def _add_cell(self, tag: bytes) -> None:
        # Spreadsheet programs end rows with a blank cell that is repeated up to the last column of
        # the sheet, so blank cells count only if a cell follows.
        repeats = _repeats(tag)
        self._width += repeats
        if not _is_closed(tag) or VALUE.search(tag):
            self._filled_width = self._width
            self._in_row += repeats

    def _end_row(self) -> None:
        if self._filled_width:
            self._rows += self._blank_rows + self._row_repeats
            self._columns = max(self._columns, self._filled_width)
            self.n_cells += self._in_row * self._row_repeats
            self._blank_rows = 0
            self.grid = max(
                self.grid, (self._rows, self._columns), key=lambda grid: grid[0] * grid[1]
            )
        else:
            self._blank_rows += self._row_repeats
        self._row_repeats, self._width, self._filled_width, self._in_row = 0, 0, 0, 0

    def _end_sheet(self) -> None:
        self._end_row()
        self._places += self._rows * self._columns
        self._rows, self._columns, self._blank_rows = 0, 0, 0


def _repeats(tag: bytes) -> int:
    if b"repeated" not in tag:
        return 1
    # The leading digits: Python refuses to parse more than 4,300, and 19 exceed every limit.
    counts = (int(number.lstrip(b"0")[:19] or b"0") for number in REPEATED.findall(tag))
    return max(counts, default=1)


def _is_closed(tag: bytes) -> bool:
    """Whether a tag ends in ``/>``; ``False`` if quotes make that uncertain."""
    return tag.rstrip().endswith(b"/>") and tag.count(b'"') % 2 == 0 and b"'" not in tag
