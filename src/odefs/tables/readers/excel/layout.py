"""Whether a sheet is a plain table, and notes on a table that had to be found in its sheet."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from odefs.tables.readers.excel.cells import UNNAMED
from odefs.tables.readers.layout.cells import (
    Grid,
    cleaned,
    is_absent,
    is_sentence,
    is_total,
    is_value,
    is_year,
)
from odefs.tables.readers.layout.find import Layout
from odefs.tables.readers.options import column_letters
from odefs.tables.records.notes import Note

if TYPE_CHECKING:
    import polars as pl

HEAD_ROWS = 41
PROSE_SHARE = 0.5
"""Share of rows that consist of one sentence from which on a sheet is not a table."""
REPEATED = re.compile(r"(?<=\d)_\d+$")
"""What fastexcel adds to a name that occurs a second time."""
PLAIN_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?(e-?\d{1,3})?", re.ASCII | re.IGNORECASE)
QUOTED = 60
"""Characters of a cell that a note quotes."""


def is_plain(frame: "pl.DataFrame") -> bool:
    """Whether a sheet read with its first row as header is a table from there to its end.

    ``frame`` has the blank rows of the sheet.
    """
    import polars as pl

    if frame.width < 2 or any(map(_is_unnamed, frame.columns)):
        return False
    if not frame.height:
        return True
    if _is_headed_by_data(frame):
        return False
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if blank.any():
        return False
    # Numbers below a unit, or above a note, make a column of text.
    if any(_starts_otherwise(series) for series in frame if series.dtype == pl.String):
        return False
    return not _is_note_or_total(frame.row(-1))


def _is_unnamed(name: str) -> bool:
    return not name.strip() or UNNAMED.fullmatch(name) is not None


def _is_note_or_total(row: Sequence[object]) -> bool:
    """Whether the last row, which is not blank, starts with text and is short or has totals."""
    filled = [cell for cell in row if cell is not None]
    is_short = len(filled) <= len(row) // 2
    return isinstance(filled[0], str) and (is_short or is_total(cleaned(filled[0])))


def _is_headed_by_data(frame: "pl.DataFrame") -> bool:
    """Whether the names are numbers and text of the columns below: the sheet has no header.

    Numbers in ascending order are names, such as 1, 2, 3 or wavelengths.
    """
    names = [REPEATED.sub("", name.strip()) for name in frame.columns]
    values = [is_value(name) and not is_year(name) for name in names]
    if not any(values):
        return False
    if all(values):
        return _are_unordered(names)
    head = frame.head(HEAD_ROWS)
    return all(
        is_number or name in map(cleaned, map(str, head[:, place].to_list()))
        for place, (name, is_number) in enumerate(zip(names, values, strict=True))
    )


def _are_unordered(names: Sequence[str]) -> bool:
    """Whether all names are plain numbers, and they are not in ascending order."""
    numbers = [float(name) for name in names if PLAIN_NUMBER.fullmatch(name)]
    return len(numbers) == len(names) and numbers != sorted(numbers)


def _starts_otherwise(text: "pl.Series") -> bool:
    """Whether a column of values starts or ends with text, such as a unit or a second name."""
    for cells in (text.head(HEAD_ROWS).to_list(), text.tail(HEAD_ROWS).to_list()[::-1]):
        found = [cleaned(cell) for cell in cells]
        later = [cell for cell in found[1:] if not is_absent(cell)]
        if (
            not is_absent(found[0])
            and not is_value(found[0])
            and later
            and 2 * sum(map(is_value, later)) >= len(later)
        ):
            return True
    return False


def is_prose(grid: Grid, layouts: Sequence[Layout]) -> bool:
    """Whether most rows of a sheet are single sentences."""
    counts = grid.filled.sum(axis=1)
    n_rows = int((counts > 0).sum())
    single = (counts == 1).nonzero()[0]
    sentences = 0
    for row in single.tolist()[: 10 * HEAD_ROWS]:
        sentences += any(is_sentence(cleaned(cell)) for cell in grid.rows[row])
    in_table = layouts[0].last_row - layouts[0].first_row + 1 if layouts else 0
    examined = n_rows - max(0, single.size - 10 * HEAD_ROWS)
    return n_rows > 0 and sentences >= PROSE_SHARE * examined and in_table < n_rows / 2


def range_of(layout: Layout, offset: int | None) -> str | None:
    """Return the range of cells of a table; ``None`` if its columns are not known."""
    if offset is None:
        return None
    block = layout.block
    first, last = (column_letters(k + offset) for k in (block.first_column, block.last_column))
    return f"{first}{block.first_row + 1}:{last}{block.last_row + 1}"


def layout_notes(
    grid: Grid, layouts: Sequence[Layout], ranges: Sequence[str | None], names: Sequence[str]
) -> Iterator[Note]:
    """Yield what was left out around the first of the tables; ``ranges`` are the others.

    A note that quotes a cell below the table names its column in ``names``, which may be hidden.
    """
    layout = layouts[0]
    taken = _rows_of(layouts[1:])
    outside = [row for row in grid.filled_rows.nonzero()[0].tolist() if row not in taken]
    yield from _notes_above(grid, layout, outside)
    yield from _header_notes(grid, layout)
    yield from _notes_below(grid, layout, outside, names)
    if ranges:
        known = tuple(text for text in ranges if text is not None)
        yield Note("other_tables", count=len(ranges), details=known)


def _rows_of(layouts: Sequence[Layout]) -> set[int]:
    """Return the rows of some tables, with their headers."""
    blocks = [layout.block for layout in layouts]
    return {row for block in blocks for row in range(block.first_row, block.last_row + 1)}


def _notes_above(grid: Grid, layout: Layout, outside: Sequence[int]) -> Iterator[Note]:
    """Yield a note on the rows above a table; ``outside`` are rows of no other table."""
    top = layout.block.first_row
    above = [row for row in outside if row < top]
    if above:
        text = quoted_row(grid, above[0])
        yield Note("rows_above", row=top + 1, count=len(above), value=text)


def _header_notes(grid: Grid, layout: Layout) -> Iterator[Note]:
    """Yield notes on a header of several rows, and on units below it."""
    if len(layout.header_rows) > 1:
        count = len(layout.header_rows)
        yield Note("joined_header", row=layout.header_rows[0] + 1, count=count)
    if layout.units_row is not None:
        units = [grid.cell(layout.units_row, k) for k in layout.columns]
        yield Note(
            "units_row",
            row=layout.units_row + 1,
            details=tuple(unit for unit in units if unit is not None),
        )


def _notes_below(
    grid: Grid, layout: Layout, outside: Sequence[int], names: Sequence[str]
) -> Iterator[Note]:
    """Yield notes on totals, also between the rows, and on other rows below a table."""
    if layout.inner_totals:
        row, count = layout.inner_totals[0], len(layout.inner_totals)
        column = _column(grid, row, layout, names)
        yield Note("inner_totals", column, row=row + 1, count=count, value=quoted_row(grid, row))
    for row in layout.totals:
        column = _column(grid, row, layout, names)
        yield Note("total_row", column, row=row + 1, value=quoted_row(grid, row))
    below = [row for row in outside if row > layout.last_row and row not in layout.totals]
    if below:
        column = _column(grid, below[0], layout, names)
        text = quoted_row(grid, below[0])
        yield Note("rows_below", column, row=below[0] + 1, count=len(below), value=text)


def _column(grid: Grid, row: int, layout: Layout, names: Sequence[str]) -> str | None:
    """Return the name of the column in which a row begins; ``None`` outside the table."""
    first = int(grid.filled[row].argmax())
    return names[layout.columns.index(first)] if first in layout.columns else None


def quoted_row(grid: Grid, row: int) -> str:
    """Return the first cell of a row, shortened."""
    text = next((cell for each in grid.rows[row] if (cell := cleaned(each)) is not None), "")
    text = " ".join(text.split())
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} ..."
