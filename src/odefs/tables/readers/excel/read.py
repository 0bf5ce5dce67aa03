"""Excel reader: which sheet of a workbook is read, and its table.

By default this is the first sheet that has a table: workbooks often start with a cover or a sheet
of explanations. :mod:`odefs.tables.readers.excel.sheet_table` reads a single sheet.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from odefs.exceptions import TableError
from odefs.system.memory import memory_budget
from odefs.tables.error_messages import damaged
from odefs.tables.readers.excel.cells import Options, silence_reader
from odefs.tables.readers.excel.limits import excel_bytes, is_zipped, require_modest
from odefs.tables.readers.excel.sheet_table import (
    NoTableError,
    SheetOptions,
    SheetTable,
    read_sheet_table,
)
from odefs.tables.readers.excel.sheets import choose_sheet, listed_names, other_sheets, sheets_of
from odefs.tables.readers.options import FOUND, Placement
from odefs.tables.records.notes import Note


def read_sheet(
    source: Path | bytes,
    sheet: str | None,
    place: Placement = FOUND,
    expected: Collection[str] = (),
    kept_names: Collection[str] = (),
) -> SheetTable:
    """Read the table of a sheet, by default of the first visible one that has a table.

    ``expected`` are names that the header probably has, ``kept_names`` are used as they are in the
    sheet, with space around them.
    """
    import fastexcel

    silence_reader()
    options = SheetOptions(place, expected, kept_names)
    try:
        chosen = choose_sheet(source, sheet)
        others = other_sheets(source, chosen)
        if sheet is None and not place.is_given:
            return _first_table(source, chosen, others, options)
        return _with_others(_read(source, chosen, options), others)
    except NoTableError as error:
        raise TableError(_refusal(str(error), chosen, others)) from None
    except fastexcel.FastExcelError as error:
        raise TableError(damaged(error)) from error


def _first_table(
    source: Path | bytes, first: str | None, others: Sequence[str], options: SheetOptions
) -> SheetTable:
    """Read the first sheet that has a table; if none has, return or raise what the first gives."""
    found, refusal = None, NoTableError()
    try:
        found = _read(source, first, options)
    except NoTableError as error:
        refusal = error
    if found is not None and (not found.is_explanation or options.names_any_of(found.frame)):
        return _with_others(found, others)
    later = _later_table(source, first or sheets_of(source)[0].name, others, options)
    if later is not None and not _is_larger(found, later):
        return later
    if found is None:
        raise refusal
    return _with_others(found, others)


def _is_larger(found: SheetTable | None, later: SheetTable) -> bool:
    """Whether the first sheet, although all text, has several columns and as many rows."""
    return (
        found is not None and not found.is_text_column and found.frame.height >= later.frame.height
    )


def _later_table(
    source: Path | bytes, first: str, others: Sequence[str], options: SheetOptions
) -> SheetTable | None:
    """Read the first of the other sheets that has a table; ``None`` if none has."""
    without = [first]
    for name in others:
        _require_memory(source, name)
        try:
            later = _read(source, name, options)
        except NoTableError:
            later = None
        if later is not None and not later.is_explanation:
            note = Note("later_sheet", value=name, details=tuple(without))
            rest = [other for other in others if other not in (name, *without)]
            return _with_others(replace(later, notes=(note, *later.notes)), rest)
        without.append(name)
    return None


def _read(source: Path | bytes, sheet: str | None, options: SheetOptions) -> SheetTable:
    require_modest(source, sheet)
    # Types from all rows: fastexcel makes later cells that do not fit the type of the first rows
    # missing. Blank rows stay, so that rows have the numbers of the sheet.
    read: Options = {"source": source, "infer_schema_length": None, "drop_empty_rows": False}
    if sheet:
        read["sheet_name"] = sheet
    return read_sheet_table(read, options)


def _require_memory(source: Path | bytes, sheet: str) -> None:
    """Raise if a sheet does not fit into memory; only that of the first is known before reading."""
    if (
        isinstance(source, Path)
        and is_zipped(source)
        and excel_bytes(source, sheet) > memory_budget()
    ):
        raise TableError(
            f"the sheet {sheet!r} is too large to be read at once: save it as csv or parquet, or "
            "raise ODEFS_MEMORY."
        )


def _with_others(found: SheetTable, others: Sequence[str]) -> SheetTable:
    """Add a note on the other sheets."""
    note = [Note("other_sheets", details=tuple(others))] if others else []
    return replace(found, notes=(*found.notes, *note))


def _refusal(what: str, sheet: str | None, others: Sequence[str]) -> str:
    named = f"the sheet {sheet!r}" if sheet else "the first sheet"
    other = (
        f"; other sheets: {listed_names(others)} (--sheet NAME)"
        if others
        else ": choose another file"
    )
    return f"{named} {what}{other}."
