"""The table of one sheet, which loses no cell.

A sheet is first read with its first row as header. If that looks like a table, it is the result;
otherwise the table is found in the cells (:mod:`odefs.tables.readers.excel.layout`) and read
alone. Types are inferred from all rows (:mod:`odefs.tables.readers.excel.cells`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odefs.exceptions import TableError
from odefs.tables.formulas import is_own
from odefs.tables.readers.excel.cells import (
    Options,
    cells_at,
    first_row_as_header,
    header_cells,
    text_grid,
)
from odefs.tables.readers.excel.error_cells import error_notes
from odefs.tables.readers.excel.layout import is_plain, is_prose, layout_notes, range_of
from odefs.tables.readers.excel.limits import first_column
from odefs.tables.readers.excel.repeated_headers import repeated_rows, without_rows
from odefs.tables.readers.excel.xlsx_scan import MAX_ROWS
from odefs.tables.readers.layout.blocks import find_tables
from odefs.tables.readers.layout.cells import Block, Grid, cleaned, is_sentence, is_value
from odefs.tables.readers.layout.column_names import ColumnNames
from odefs.tables.readers.layout.find import Layout, find_layout
from odefs.tables.readers.options import FOUND, CellRange, Placement
from odefs.tables.records.notes import Note

if TYPE_CHECKING:
    import polars as pl

MAX_EXPLAINING_ROWS = 40
"""Longer sheets of text are data, such as answers to open questions."""
SENTENCE_SHARE = 0.5


class NoTableError(Exception):
    """A sheet has no table; the message is the end of a sentence about the sheet."""


@dataclass(frozen=True)
class SheetOptions:
    """Where the table of a sheet is, and which names it has."""

    place: Placement = FOUND
    expected: Collection[str] = ()
    """Names that the header probably has."""
    kept_names: Collection[str] = ()
    """Names that are used as they are in the sheet, with space around them."""

    def names_any_of(self, frame: "pl.DataFrame") -> bool:
        """Whether options or a model name a column of the frame."""
        return not {*self.expected, *self.kept_names}.isdisjoint(frame.columns)

    def names(self, given: Collection[str]) -> ColumnNames:
        """Name the columns; in a file written by odefs, names stay as they are."""
        return ColumnNames.of(tuple(given), self.kept_names, strips=not is_own(tuple(given), None))


@dataclass(frozen=True, eq=False)
class SheetTable:
    """The rows of a table, and notes on how it was found."""

    frame: "pl.DataFrame"
    notes: tuple[Note, ...]

    @property
    def is_text_column(self) -> bool:
        """Whether there is nothing but one column of text, as on a cover sheet.

        A header of several columns is a table, even without rows.
        """
        import polars as pl

        if self.frame.width > 1:
            return False
        return not self.frame.height or self.frame.dtypes[0] in (pl.String, pl.Null)

    @property
    def is_explanation(self) -> bool:
        """Whether the sheet explains others: a cover, notes, or a description of columns.

        These have columns of text alone, in few rows, and most of their cells are sentences.
        """
        import polars as pl

        if self.is_text_column:
            return True
        is_text = all(dtype in (pl.String, pl.Null) for dtype in self.frame.dtypes)
        if not is_text or not 0 < self.frame.height <= MAX_EXPLAINING_ROWS:
            return False
        columns = [series.drop_nulls().to_list() for series in self.frame]
        if any(map(_are_values, columns)):
            return False
        cells = [cleaned(cell) for column in columns for cell in column]
        return sum(map(is_sentence, cells)) >= SENTENCE_SHARE * len(cells)


def _are_values(cells: Sequence[str]) -> bool:
    """Whether the cells of a column of text are all numbers, dates, times or booleans."""
    return bool(cells) and all(map(is_value, map(cleaned, cells)))


def read_sheet_table(read: Options, options: SheetOptions) -> SheetTable:
    """Read the table of a sheet; raise :class:`NoTableError` if there is none."""
    import polars as pl

    place = options.place
    if place.is_given:
        return _found_table(read, options, None)
    try:
        frame = first_row_as_header(read)
    except pl.exceptions.NoDataError:
        raise NoTableError("is empty") from None
    if is_plain(frame):
        names = options.names(header_cells(read, frame.columns))
        frame, repeats = _data_rows(frame, names.given, 1)
        repeats += _row_note(frame, 1) if repeats else []
        errors = error_notes(read, dict(enumerate(names.used)), range(1, MAX_ROWS))
        return _named(frame, names, (*repeats, *errors))
    return _found_table(read, options, frame)


def _found_table(read: Options, options: SheetOptions, frame: "pl.DataFrame | None") -> SheetTable:
    """Find the table in the cells; ``frame`` is the sheet under its first row, if it was read."""
    place = options.place
    grid, width = text_grid(read)
    offset = _offset(read, width, place.cells is not None)
    layouts = _layouts(grid, place, offset, options.expected)
    if not place.is_given and is_prose(grid, layouts):
        raise NoTableError("contains text, not a table")
    if not layouts:
        return _only_column(options, frame)
    layout = layouts[0]
    # Saves a third reading of the sheet, after those with a header and as text.
    if frame is not None and frame.width == width and _is_all(grid, layout):
        rows = frame[:, list(layout.columns)]
    else:
        rows = cells_at(read, layout, width)
    names = options.names(layout.names)
    rows, repeats = _data_rows(rows, names.given, layout.first_row, layout.inner_totals)
    others = [range_of(one, offset) for one in layouts[1:]]
    around = layout_notes(grid, layouts, others, names.used)
    read_rows = range(layout.first_row, layout.last_row + 1)
    errors = error_notes(read, dict(zip(layout.columns, names.used, strict=True)), read_rows)
    numbers = _row_note(rows, layout.first_row)
    return _named(rows, names, (*around, *repeats, *numbers, *errors))


def _data_rows(
    frame: "pl.DataFrame", names: Sequence[str], first_row: int, totals: Sequence[int] = ()
) -> tuple["pl.DataFrame", list[Note]]:
    """Return the rows with those blank that have totals or repeat the header, and a note on these.

    ``first_row`` is the row of the sheet, from 0, that the first of the rows is in.
    """
    repeats = repeated_rows(frame, names)
    left_out = {*repeats, *(row - first_row for row in totals)}
    rows = without_rows(frame, sorted(left_out)) if left_out else frame
    if not repeats:
        return rows, []
    return rows, [Note("repeated_header", row=first_row + repeats[0] + 1, count=len(repeats))]


def _only_column(options: SheetOptions, frame: "pl.DataFrame | None") -> SheetTable:
    """Return the column of a sheet of one column; raise :class:`NoTableError` for others."""
    if frame is not None and frame.width == 1:
        return _named(frame, options.names(frame.columns))
    raise NoTableError(f"has no table{' in the given place' if options.place.is_given else ''}")


def _named(frame: "pl.DataFrame", names: ColumnNames, around: tuple[Note, ...] = ()) -> SheetTable:
    """Return the rows that are not blank under the names."""
    frame.columns = list(names.used)
    return SheetTable(frame.filter(_filled_rows(frame)), (*around, *names.notes))


def _filled_rows(frame: "pl.DataFrame") -> "pl.Series":
    """Return which rows are not blank; all of a table without columns."""
    import polars as pl

    if not frame.width:
        return pl.repeat(True, frame.height, eager=True)
    # With a name of its own: that of the first column may be a pattern to polars.
    return frame.select(filled=~pl.all_horizontal(pl.all().is_null())).to_series()


def _row_note(frame: "pl.DataFrame", first_row: int) -> list[Note]:
    """Return a note on rows of the sheet, unless they follow a header in its first row."""
    rows = _filled_rows(frame).arg_true() + first_row + 1
    if not len(rows) or rows[-1] == len(rows) + 1:
        return []
    return [Note("sheet_rows", row=int(rows[0]), count=len(rows), value=str(rows[-1]))]


def _layouts(
    grid: Grid, place: Placement, offset: int | None, expected: Collection[str]
) -> list[Layout]:
    """Return the tables at the given place, or all tables, the largest first."""
    n_rows, n_columns = grid.filled.shape
    if place.header_row is None and place.cells is None:
        return find_tables(grid.without_top(place.skip_rows), expected)
    if place.cells is not None:
        block = _inside(place.cells, n_rows, n_columns, offset or 0)
    elif place.header_row is not None and place.header_row < n_rows:
        block = Block(place.header_row - 1, n_rows - 1, 0, n_columns - 1)
    else:
        block = None
    if block is None:
        return []
    layout = find_layout(grid, block, block.first_row, cuts_end=place.cells is None)
    return [] if layout is None else [layout]


def _inside(cells: CellRange, n_rows: int, n_columns: int, offset: int) -> Block | None:
    """Return the part of a range that has cells; ``offset`` is the first column with cells."""
    last = n_rows - 1 if cells.last_row is None else min(cells.last_row, n_rows - 1)
    left = max(0, cells.first_column - offset)
    right = min(n_columns - 1, cells.last_column - offset)
    if cells.first_row > last or left > right:
        return None
    return Block(cells.first_row, last, left, right)


def _offset(read: Options, width: int, is_needed: bool) -> int | None:
    """Return the number of the first column with cells, which the reader leaves out.

    ``None`` if it is not known.
    """
    found = first_column(read["source"], read.get("sheet_name"))
    if found is None or found[1] - found[0] + 1 != width:
        if is_needed:
            raise TableError("a range of cells can be read from xlsx files only: use --header-row.")
        return None
    return found[0]


def _is_all(grid: Grid, layout: Layout) -> bool:
    """Whether the table goes from the first row that is not blank to the last."""
    filled = grid.filled_rows.nonzero()[0]
    return (
        layout.header_rows == (filled[0],)
        and layout.units_row is None
        and layout.last_row == filled[-1]
    )
