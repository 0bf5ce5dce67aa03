"""Excel reader for one sheet, which loses no cell.

A sheet is first read with its first row as header. If that looks like a table, it is the result;
otherwise the table is found in the cells (:mod:`odefs.tables.readers.sheet_layout`) and read
alone. Types are inferred from all rows (:mod:`odefs.tables.readers.excel_cells`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from odefs.exceptions import TableError
from odefs.tables.notes import Note
from odefs.tables.readers.excel_cells import (
    Options,
    cells_at,
    first_row_as_header,
    silence_reader,
    text_grid,
)
from odefs.tables.readers.excel_limits import first_column, require_modest
from odefs.tables.readers.grid import Block, Grid
from odefs.tables.readers.header import name_notes, unique_names
from odefs.tables.readers.layout import Layout, find_layout
from odefs.tables.readers.placement import FOUND, CellRange, Placement
from odefs.tables.readers.quotes import damaged
from odefs.tables.readers.sheet_layout import is_plain, is_prose, layout_notes, range_of
from odefs.tables.readers.sheets import choose_sheet, listed_names, other_sheets
from odefs.tables.readers.table_blocks import find_tables

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class SheetTable:
    """The rows of a table, and notes on how it was found."""

    frame: "pl.DataFrame"
    notes: tuple[Note, ...]


def read_sheet(
    source: Path | bytes,
    sheet: str | None,
    place: Placement = FOUND,
    expected: Collection[str] = (),
) -> SheetTable:
    """Read the table of a sheet, by default of the first that is not hidden.

    ``expected`` are names that the header probably has.
    """
    import fastexcel

    silence_reader()
    try:
        chosen = choose_sheet(source, sheet)
        require_modest(source, chosen)
        read: Options = {"source": source, "infer_schema_length": None, "drop_empty_rows": False}
        if chosen:
            read["sheet_name"] = chosen
        others = other_sheets(source, chosen)
        found = _read(read, place, expected, others)
    except fastexcel.FastExcelError as error:
        raise TableError(damaged(error)) from error
    notes = (*found.notes, *([Note("other_sheets", details=others)] if others else []))
    return replace(found, notes=notes)


def _read(
    read: Options, place: Placement, expected: Collection[str], others: Sequence[str]
) -> SheetTable:
    import polars as pl

    frame: pl.DataFrame | None = None
    if not place.is_given:
        try:
            frame = first_row_as_header(read)
        except pl.exceptions.NoDataError:
            raise TableError(_refusal("is empty", read, others)) from None
        if is_plain(frame):
            return SheetTable(_without_blank_rows(frame), ())
    grid, width = text_grid(read)
    offset = _offset(read, width, place.cells is not None)
    layouts = _layouts(grid, place, offset, expected)
    if not place.is_given and is_prose(grid, layouts):
        raise TableError(_refusal("contains text, not a table", read, others))
    if not layouts:
        if frame is not None and frame.width == 1:
            return SheetTable(_without_blank_rows(frame), ())
        raise TableError(_refusal("has no table in the given place", read, others))
    layout = layouts[0]
    if frame is not None and frame.width == width and _is_all(grid, layout):
        rows = frame[:, list(layout.columns)]
    else:
        rows = cells_at(read, layout, width)
    names = unique_names(layout.names)
    rows.columns = list(names)
    notes = [
        *layout_notes(grid, layouts, [range_of(one, offset) for one in layouts[1:]], names),
        *name_notes(layout.names, names),
    ]
    return SheetTable(_without_blank_rows(rows), tuple(notes))


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


def _refusal(what: str, read: Options, others: Sequence[str]) -> str:
    sheet = read.get("sheet_name")
    named = f"the sheet {sheet!r}" if sheet else "the first sheet"
    other = (
        f"; other sheets: {listed_names(others)} (--sheet NAME)"
        if others
        else ": choose another file"
    )
    return f"{named} {what}{other}."


def _without_blank_rows(frame: "pl.DataFrame") -> "pl.DataFrame":
    import polars as pl

    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame
