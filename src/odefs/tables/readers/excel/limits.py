"""Memory limits for Excel files relative to their size; `open` compares with the free memory.

A file is decompressed once, within bounds, before it is passed to a reader: the result is the
memory that a sheet would take, or an error. Only parts that a reader opens for the sheet count:
the sheet, shared strings and styles. Other sheets, macros and data models are never opened. If the
list of sheets is unusual in any way, all parts it names count.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.readers.excel.ods_scan import OdsScan
from odefs.tables.readers.excel.xlsx_scan import LONGEST_GAP, MAX_TEXT, SheetScan
from odefs.tables.readers.limits import LARGEST_GROWTH, most_bytes

PIECE = 2**18
ZIP = b"PK\x03\x04"
STRINGS = "xl/sharedstrings.xml"
OPEN_DOCUMENT = "content.xml"
"""Contains all sheets of an ods file."""
WORKBOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
LISTED = 4 * 2**20
"""Limit on the size of a list of parts; in real workbooks it has a few hundred bytes."""
UNKNOWN_LENGTH = 2**62
KINDS = ("/sharedStrings", "/styles")
"""Suffixes of the relationship types of parts that are read for every sheet."""
TARGET = re.compile(rb"Target\s*=\s*[\"']([^\"']*)[\"']")
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    struct.error,
)


def excel_bytes(path: Path, sheet: str | None = None) -> int:
    """Return the memory that reading a sheet (default: the first) of a zipped workbook takes.

    Raise if that is too much.
    """
    status = path.stat()
    return _scanned(path, status.st_size, status.st_mtime_ns, sheet)


def require_modest(source: Path | bytes, sheet: str | None = None) -> None:
    """Raise if a sheet takes far more memory than the file size suggests; .xls is not checked."""
    if isinstance(source, bytes):
        if source.startswith(ZIP):
            _scan(BytesIO(source), len(source), sheet)
    elif is_zipped(source):
        excel_bytes(source, sheet)


def first_column(source: Path | bytes, sheet: str | None = None) -> tuple[int, int] | None:
    """Return the first and last column of an xlsx sheet that have values, from 0.

    ``None`` if that is not known, as in other files. The sheet is one that was found modest.
    """
    scan = SheetScan()
    for piece in sheet_pieces(source, sheet):
        scan.add(piece)
    columns = scan.value_columns
    return None if columns is None else (columns[0] - 1, columns[1] - 1)


def sheet_pieces(source: Path | bytes, sheet: str | None = None) -> Iterator[bytes]:
    """Decompress the part with the cells of an xlsx sheet; nothing of other files.

    The sheet is one that was found modest. Pieces end before tags.
    """
    if not is_zipped(source):
        return
    with zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source) as archive:
        part = _only_part(archive, sheet)
        if part is not None:
            yield from part_pieces(archive, part)


def _only_part(archive: zipfile.ZipFile, sheet: str | None) -> zipfile.ZipInfo | None:
    """Return the part with the cells of a sheet, ``None`` unless there is exactly one."""
    parts = {part_name(part): part for part in archive.infolist()}
    if not {WORKBOOK, RELATIONS} <= parts.keys():
        return None
    workbook, relations = (part_content(archive, parts[name]) for name in (WORKBOOK, RELATIONS))
    names = _sheet_parts(workbook, relations, sheet)
    own = [parts[name] for name in (names[0] if names else ()) if name in parts]
    return own[0] if len(own) == 1 else None


def is_zipped(source: Path | bytes) -> bool:
    """Whether a file or its content is zipped XML (xlsx, ods), unlike the old xls format."""
    if isinstance(source, bytes):
        return source.startswith(ZIP)
    with open(source, "rb") as file:
        return file.read(len(ZIP)) == ZIP


# The estimate of the memory and the reader both need the result. Size and time of change are
# arguments, so that a file that has changed is scanned again.
@lru_cache(maxsize=4)
def _scanned(path: Path, size: int, changed: int, sheet: str | None) -> int:
    with open(path, "rb") as file:
        return _scan(file, size, sheet)


def _scan(file: object, size: int, sheet: str | None) -> int:
    try:
        with zipfile.ZipFile(file) as archive:  # type: ignore[call-overload]
            return _largest(archive, most_bytes(size), sheet)
    except DAMAGED as error:
        raise TableError(f"the file is damaged ({error}).") from error


def _largest(archive: zipfile.ZipFile, most: int, sheet: str | None) -> int:
    parts = archive.infolist()
    names = _listed(archive, parts, sheet)
    lengths, taken, largest = np.empty(0, dtype=np.int64), 0, 0
    # Shared strings come first: a cell takes as much memory as the string that it refers to.
    for part in sorted(parts, key=lambda part: part.filename.lower() != STRINGS):
        name = part_name(part)
        if name not in names:
            continue
        scan = OdsScan() if name == OPEN_DOCUMENT else SheetScan(lengths)
        for piece in part_pieces(archive, part):
            scan.add(piece)
            if taken + scan.n_bytes > most:
                raise TableError(_too_much(scan))
        if name == STRINGS and isinstance(scan, SheetScan):
            lengths, taken = scan.lengths(), scan.n_bytes
        else:
            largest = max(largest, scan.n_bytes)
    return taken + largest


def _too_much(scan: SheetScan | OdsScan) -> str:
    rows, columns = scan.grid
    if rows * columns > 4 * scan.n_cells + 1000:
        what = f"its {scan.n_cells:,} cells are spread over {rows:,} rows and {columns:,} columns"
    else:
        n, kind = max(scan.n_cells, scan.n_strings), "cells" if scan.n_cells else "strings"
        what = f"it contains more than {n:,} {kind}"
    return (
        f"{what}, which take over {LARGEST_GROWTH} times the size of the file in memory: "
        "save the table as csv."
    )


def _listed(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo], sheet: str | None) -> set[str]:
    """Return the parts that readers open for a sheet, or for all sheets if it cannot be located."""
    always = {STRINGS, "xl/styles.xml", WORKBOOK, RELATIONS, "_rels/.rels", OPEN_DOCUMENT}
    books = _contents(archive, parts, "workbook.xml")
    relations = _contents(archive, parts, "workbook.xml.rels")
    present = {part_name(part) for part in parts}
    if len(books) == len(relations) == 1 and {WORKBOOK, RELATIONS} <= present:
        found = _sheet_parts(books[0], relations[0], sheet)
        if found is not None and found[0] & present:
            return always | found[0] | found[1]
    every = {name for name in present if name.startswith("xl/worksheets/")}
    return always.union(every, *map(_all_parts, relations))


def _contents(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo], suffix: str) -> list[bytes]:
    """Return the contents of all parts whose names end in ``suffix``."""
    return [part_content(archive, part) for part in parts if part_name(part).endswith(suffix)]


def part_name(part: zipfile.ZipInfo) -> str:
    return part.filename.lower().lstrip("/")


def part_content(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Read a list of parts or sheets, up to a size limit."""
    content = bytearray()
    for piece in part_pieces(archive, part):
        content += piece
        if len(content) > LISTED:
            raise TableError(f"its part {part.filename} is larger than in any real workbook.")
    return bytes(content)


def part_pieces(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Decompress a part to its end, whatever length the file states; pieces end before tags."""
    # The zip module stops reading at the length that the archive's directory states. A crafted
    # file may state too little, and the rest would not be counted.
    part.file_size = UNKNOWN_LENGTH
    with archive.open(part) as file:
        rest = b""
        while piece := file.read(PIECE):
            rest += piece
            cut = rest.rfind(b"<")
            if len(rest) - cut > LONGEST_GAP + PIECE:
                raise TableError(
                    f"a text in it is longer than the {MAX_TEXT:,} characters "
                    "that Excel allows in a cell."
                )
            if cut > 0:
                yield rest[:cut]
                rest = rest[cut:]
        if rest:
            yield rest


def _sheet_parts(
    workbook: bytes, relations: bytes, sheet: str | None
) -> tuple[set[str], set[str]] | None:
    """Return the names of a sheet's parts (default: the first sheet) and of the common parts.

    ``None`` if the lists are ambiguous.
    """
    lists = _parsed_lists(workbook, relations)
    if lists is None:
        return None
    sheets, listed = lists
    chosen = [each for each in sheets if each.get("name") == sheet] if sheet else sheets[:1]
    wanted = set[str]().union(*map(relation_ids, chosen))
    own = _targets(part for part in listed if part.get("Id") in wanted)
    common = _targets(part for part in listed if part.get("Type", "").endswith(KINDS))
    return part_paths(own), part_paths(common)


def _parsed_lists(
    workbook: bytes, relations: bytes
) -> tuple[list[ElementTree.Element], list[dict[str, str]]] | None:
    """Return the sheets, and the attributes of the relationships; ``None`` if ambiguous."""
    # Readers treat entities in part names differently.
    if b"<!" in workbook or b"<!" in relations or b"&" in relations:
        return None
    try:
        listed = [element.attrib for element in ElementTree.fromstring(relations)]
        return sheet_elements(workbook), listed
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def sheet_elements(workbook: bytes) -> list[ElementTree.Element]:
    """Return the elements of a workbook that list its sheets."""
    elements = ElementTree.fromstring(workbook).iter()
    return [element for element in elements if local_name(element.tag) == "sheet"]


def relation_ids(sheet: ElementTree.Element) -> list[str]:
    """Return the identifiers of the relationships of a sheet; usually there is one."""
    return [value for key, value in sheet.attrib.items() if local_name(key) == "id"]


def _targets(parts: Iterable[dict[str, str]]) -> set[str]:
    return {part["Target"] for part in parts if "Target" in part}


def _all_parts(relations: bytes) -> set[str]:
    """Return the names of all parts in a relationship list."""
    return part_paths({target.decode(errors="replace") for target in TARGET.findall(relations)})


def part_paths(targets: set[str]) -> set[str]:
    """Targets are relative to the root or to the folder of the workbook."""
    names = {target.lower().lstrip("/") for target in targets}
    return names | {f"xl/{name}" for name in names}


def local_name(name: object) -> str:
    return str(name).rpartition("}")[2]
