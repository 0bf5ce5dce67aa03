"""Messages on where a table was found in its file, and on what was left out around it."""

from collections.abc import Callable

from odefs.tables.error_messages import has_option, reading_advice
from odefs.tables.messages.values import count, first_of
from odefs.tables.records.notes import Note, NoteKind

NAMED_UNITS = 4
NAMED_SHEETS = 5


def _noun(note: Note) -> str:
    """Sheets have rows, text files have lines."""
    return "row" if note.line is None else "line"


def _place(note: Note) -> str:
    return f"{_noun(note)} {note.row if note.line is None else note.line}"


def _rows_above(note: Note) -> str:
    above = count(note.count or 0, f"{_noun(note)} above it was", f"{_noun(note)}s above it were")
    return f"the table starts in {_place(note)}; {above} left out (first: {note.value!r})"


def _joined_header(note: Note) -> str:
    return (
        f"column names were joined from {note.count} header {_noun(note)}s, from {_place(note)} on"
    )


def _units_row(note: Note) -> str:
    return f"{_place(note)} has units and was left out: {first_of(note.details, NAMED_UNITS)}"


def _repeated_header(note: Note) -> str:
    if note.count == 1:
        return f"{_place(note)} repeats the column names and was left out"
    return (
        f"{note.count or 0:,} {_noun(note)}s repeat the column names and were left out "
        f"(first: {_place(note)})"
    )


def _total_row(note: Note) -> str:
    return f"{_place(note)} has totals and was left out: {note.value!r}"


def _inner_totals(note: Note) -> str:
    rows = count(note.count or 0, "row between the others has", "rows between the others have")
    was = "was" if note.count == 1 else "were"
    return f"{rows} totals and {was} left out (first: {note.value!r} in {_place(note)})"


def _rows_below(note: Note) -> str:
    below = count(
        note.count or 0,
        f"{_noun(note)} below the table was",
        f"{_noun(note)}s below the table were",
    )
    return f"{below} left out (from {_place(note)} on: {note.value!r})"


def _sheet_rows(note: Note) -> str:
    first, n_rows = note.first_row, note.count or 0
    last = f", row {n_rows - 1 + first:,} is row {note.value}" if n_rows != 1 else ""
    return (
        f"rows of the table are numbered from {first}: row {first} is row {note.row} of the sheet"
        f"{last}"
    )


def _other_tables(note: Note) -> str:
    others = "another table" if note.count == 1 else f"{note.count} other tables"
    if not note.details:
        how = "--header-row N reads the one whose header is in row N"
        return f"the sheet has {others}; {reading_advice(how, 'to use another one')}"
    how = " or ".join(f"--range {cells}" for cells in note.details[:NAMED_UNITS])
    how = reading_advice(how, "to use another one")
    return f"the largest table of the sheet was read; it has {others}: {how}"


def _other_sheets(note: Note) -> str:
    how = " (--sheet NAME or --sheet all)" if has_option("sheet") else ""
    return f"also in this file: {first_of(note.details, NAMED_SHEETS)}{how}"


def _later_sheet(note: Note) -> str:
    before = count(len(note.details), "earlier sheet is", "earlier sheets are")
    named = first_of(note.details, NAMED_SHEETS)
    return (
        f"the table was read from the sheet {note.value!r}; {before} empty or only text: {named} "
        "(--sheet NAME)"
    )


def _error_cells(note: Note) -> str:
    cells = count(note.count or 0, "error cell", "error cells")
    counts = "counts" if note.count == 1 else "count"
    place = f"row {note.row} of the sheet"
    where = f"in {place}" if note.count == 1 else f"first: {place}"
    return f"{note.column}: {cells} such as #DIV/0! {counts} as missing ({where})"


LAYOUT_NOTES: dict[NoteKind, Callable[[Note], str]] = {
    "rows_above": _rows_above,
    "joined_header": _joined_header,
    "units_row": _units_row,
    "repeated_header": _repeated_header,
    "total_row": _total_row,
    "inner_totals": _inner_totals,
    "rows_below": _rows_below,
    "sheet_rows": _sheet_rows,
    "other_tables": _other_tables,
    "other_sheets": _other_sheets,
    "later_sheet": _later_sheet,
    "error_cells": _error_cells,
    "separated_by_spaces": lambda note: "fields are separated by runs of spaces",
}
