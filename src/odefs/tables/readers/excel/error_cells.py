"""Errors of formulas in the cells of a sheet, such as ``#DIV/0!``, which are read as missing."""

from collections import defaultdict
from collections.abc import Mapping

from odefs.tables.readers.excel.cells import Options
from odefs.tables.readers.excel.limits import sheet_pieces
from odefs.tables.records.notes import Note

MARK = b't="e"'
"""The type of such a cell in the XML of an xlsx file."""


def error_notes(read: Options, names: Mapping[int, str], rows: range) -> list[Note]:
    """Return a note for each column with errors in some rows of an xlsx sheet.

    ``names`` are those of the columns by their places, of which the first with a cell is 0.
    """
    if not _may_have_errors(read):
        return []
    import fastexcel

    book = fastexcel.read_excel(read["source"])
    sheet = book.load_sheet(
        read.get("sheet_name", 0), header_row=None, skip_rows=0, dtypes="string"
    )
    _, found = sheet.to_arrow_with_errors()
    by_column = defaultdict[int, list[int]](list)
    for error in [] if found is None else found.errors:
        row, column = error.position
        if row in rows and column in names:
            by_column[column].append(row)
    return [
        Note("error_cells", names[column], row=min(places) + 1, count=len(places))
        for column, places in sorted(by_column.items())
    ]


def _may_have_errors(read: Options) -> bool:
    """Whether the sheet is one of an xlsx file whose XML has the mark of an error.

    Most sheets have none, and need not be read once more.
    """
    return any(MARK in piece for piece in sheet_pieces(read["source"], read.get("sheet_name")))
