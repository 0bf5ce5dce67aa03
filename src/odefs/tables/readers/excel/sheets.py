"""Sheets of a workbook: their names, which are hidden or empty, and which ones may be read."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

from odefs.exceptions import TableError
from odefs.tables.readers.excel.limits import (
    DAMAGED,
    RELATIONS,
    WORKBOOK,
    is_zipped,
    part_content,
    part_name,
    part_paths,
    part_pieces,
    relation_ids,
    require_modest,
    sheet_elements,
)

WORKSHEET = "/worksheet"
"""Suffix of the relationship type of a sheet with cells; others have a chart or macros."""
CELL = re.compile(rb"<(?:[^\s<>:/\"'=]+:)?c[\s/>]")
SEARCHED_PIECES = 4
NAMED_SHEETS = 5
ALL = "all"


@dataclass(frozen=True)
class Sheet:
    """A sheet, whether it is hidden, and whether it has any cells."""

    name: str
    is_hidden: bool = False
    is_empty: bool = False


def sheets_of(source: Path | bytes, counts_cells: bool = False) -> list[Sheet]:
    """Return the sheets; which are hidden, or empty if requested, is known only of xlsx files."""
    listed = _listed(source, counts_cells)
    if listed is not None:
        return listed
    import fastexcel

    # Opening an ods file reads all sheets.
    require_modest(source)
    return [Sheet(name) for name in fastexcel.read_excel(source).sheet_names]


def choose_sheet(source: Path | bytes, given: str | None) -> str | None:
    """Return the name of the sheet to read; ``None`` is the first of the file.

    ``given`` is a name or a number from 1. By default, this is the first sheet that is not hidden.
    """
    if given is None:
        return _first_visible(source)
    sheets = sheets_of(source)
    if any(sheet.name == given for sheet in sheets):
        return given
    # A sheet named 2 was found above: names come before numbers.
    if given.isdecimal() and 0 < int(given[:9]) <= len(sheets):
        return sheets[int(given) - 1].name
    names = listed_names([sheet.name for sheet in sheets])
    raise TableError(f"there is no sheet {given!r}; the sheets are {names}.")


def _first_visible(source: Path | bytes) -> str | None:
    """Return the name of the first visible sheet; ``None`` if it is the first, or not known."""
    listed = _listed(source)
    visible = next((sheet for sheet in listed or () if not sheet.is_hidden), None)
    is_first = listed is None or visible is None or visible is listed[0]
    return None if is_first or visible is None else visible.name


def sheets_to_read(source: Path | bytes, given: str | None) -> list[str | None]:
    """Return the sheets that an option names: one, or all that are visible and have cells."""
    if given != ALL:
        return [given]
    sheets = sheets_of(source, counts_cells=True)
    if any(sheet.name == ALL for sheet in sheets):
        return [given]
    return [sheet.name for sheet in sheets if not sheet.is_hidden and not sheet.is_empty]


def other_sheets(source: Path | bytes, chosen: str | None) -> tuple[str, ...]:
    """Return the names of the other sheets that are visible and have cells."""
    sheets = sheets_of(source, counts_cells=True)
    if len(sheets) < 2:
        return ()
    chosen = chosen or sheets[0].name
    return tuple(
        sheet.name
        for sheet in sheets
        if sheet.name != chosen and not sheet.is_hidden and not sheet.is_empty
    )


def _listed(source: Path | bytes, counts_cells: bool = False) -> list[Sheet] | None:
    """Read the list of an xlsx file; ``None`` for other files and unusual lists."""
    if not is_zipped(source):
        return None
    try:
        with zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source) as archive:
            parts = {part_name(part): part for part in archive.infolist()}
            if not {WORKBOOK, RELATIONS} <= parts.keys():
                return None
            workbook, relations = (
                part_content(archive, parts[name]) for name in (WORKBOOK, RELATIONS)
            )
            return _parsed(archive, parts, workbook, relations, counts_cells)
    except DAMAGED:
        return None  # the reader reports what is wrong


def _parsed(
    archive: zipfile.ZipFile,
    parts: dict[str, zipfile.ZipInfo],
    workbook: bytes,
    relations: bytes,
    counts_cells: bool,
) -> list[Sheet] | None:
    # A document type may declare entities, which readers treat differently.
    if b"<!" in workbook or b"<!" in relations:
        return None
    try:
        elements = sheet_elements(workbook)
        targets = _targets(relations)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    found = []
    for element in elements:
        kind, target = targets.get(next(iter(relation_ids(element)), None), ("", ""))
        part = _part_at(target, parts)
        name = element.get("name")
        if name is None or part is None:
            return None
        is_hidden = element.get("state", "visible") != "visible" or not kind.endswith(WORKSHEET)
        found.append(Sheet(name, is_hidden, counts_cells and not _has_cells(archive, part)))
    return found or None


def _targets(relations: bytes) -> dict[str | None, tuple[str, str]]:
    """Return the type and the target of each relationship by its identifier."""
    return {
        each.get("Id"): (each.get("Type", ""), each.get("Target", ""))
        for each in ElementTree.fromstring(relations)
    }


def _part_at(target: str, parts: dict[str, zipfile.ZipInfo]) -> zipfile.ZipInfo | None:
    return next((parts[name] for name in part_paths({target}) if name in parts), None)


def _has_cells(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether a cell is near the beginning of the sheet, or the beginning is unusually long."""
    pieces = 0
    for piece in islice(part_pieces(archive, part), SEARCHED_PIECES):
        if CELL.search(piece):
            return True
        pieces += 1
    return pieces == SEARCHED_PIECES


def listed_names(names: Sequence[str]) -> str:
    """Join names; of many, the last ones are only counted."""
    more = f" and {len(names) - NAMED_SHEETS:,} more" if len(names) > NAMED_SHEETS else ""
    return ", ".join(names[:NAMED_SHEETS]) + more
