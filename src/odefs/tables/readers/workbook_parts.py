"""Parts of an Excel file that a reader opens for one sheet: sheet, shared strings and styles.

Other sheets, macros and data models are never opened, so their size does not matter. If the list
of sheets is unusual in any way, all parts it names are included.
"""

import re
from xml.etree import ElementTree

KINDS = ("/sharedStrings", "/styles")
"""Suffixes of the relationship types of parts that are read for every sheet."""
TARGET = re.compile(rb"Target\s*=\s*[\"']([^\"']*)[\"']")


def sheet_parts(
    workbook: bytes, relations: bytes, sheet: str | None
) -> tuple[set[str], set[str]] | None:
    """Return the names of a sheet's parts (default: the first sheet) and of the common parts.

    ``None`` if the lists are ambiguous.
    """
    # Readers treat entities in part names differently.
    if b"<!" in workbook or b"<!" in relations or b"&" in relations:
        return None
    try:
        sheets = [
            element
            for element in ElementTree.fromstring(workbook).iter()
            if _local(element.tag) == "sheet"
        ]
        listed = [element.attrib for element in ElementTree.fromstring(relations)]
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    chosen = [each for each in sheets if each.get("name") == sheet] if sheet else sheets[:1]
    wanted = {value for each in chosen for key, value in each.attrib.items() if _local(key) == "id"}
    own = {part["Target"] for part in listed if part.get("Id") in wanted and "Target" in part}
    common = {
        part["Target"]
        for part in listed
        if part.get("Type", "").endswith(KINDS) and "Target" in part
    }
    return _paths(own), _paths(common)


def all_parts(relations: bytes) -> set[str]:
    """Return the names of all parts in a relationship list."""
    return _paths({target.decode(errors="replace") for target in TARGET.findall(relations)})


def _paths(targets: set[str]) -> set[str]:
    """Targets are relative to the root or to the folder of the workbook."""
    names = {target.lower().lstrip("/") for target in targets}
    return names | {f"xl/{name}" for name in names}


def _local(name: object) -> str:
    return str(name).rpartition("}")[2]
