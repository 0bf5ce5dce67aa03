"""Zip archives: the one table of an archive, or a chosen one, extracted within bounds."""

import lzma
import zipfile
from pathlib import Path, PurePosixPath

from odefs.exceptions import TableError
from odefs.tables.error_messages import chosen_name
from odefs.tables.polars_names import readable
from odefs.tables.readers.compression import bounded_pieces
from odefs.tables.readers.excel.limits import DAMAGED
from odefs.tables.readers.file_kinds import TABLES, copied_suffix

SEVERAL = (".json",)
"""Suffixes of files that may hold several tables."""
ENCRYPTED = 1
"""Bit of the flags of a member."""


def extract_table(
    archive: Path, name: str, table: str | None, folder: Path
) -> tuple[Path, str | None]:
    """Extract a table, which may be left out if there is only one, to a file in ``folder``.

    Also returns which table of this file is wanted, if ``table`` names none of the archive and the
    only file is a document or database, which may hold several.
    """
    try:
        with open(archive, "rb") as file, zipfile.ZipFile(file) as opened:
            found = [member for member in _members(opened) if _suffix(member) in TABLES]
            is_inner = table is not None and len(found) == 1 and _suffix(found[0]) in SEVERAL
            is_inner = is_inner and table not in (found[0], PurePosixPath(found[0]).name)
            outer = None if is_inner else table
            path = _extract(opened, archive.stat().st_size, name, outer, folder)
            return path, table if is_inner else None
    except (*DAMAGED, lzma.LZMAError) as error:
        why = str(error) or "it ends too early"
        raise TableError(
            f"{name}: the archive is damaged ({why}): save or download it again, or rename it if "
            "its suffix does not fit its content."
        ) from error


def _extract(
    archive: zipfile.ZipFile, size: int, name: str, table: str | None, folder: Path
) -> Path:
    member = _chosen_member(archive, name, table)
    if member.flag_bits & ENCRYPTED:
        raise TableError(f"{name}: {member.filename} is encrypted: extract it first.")
    target = folder / f"table{copied_suffix(member.filename)}"
    # The directory of the archive may claim any size of a member.
    size = min(size, member.compress_size)
    # Copied to a name of our own: the name in the archive may be a path such as ``../../x``.
    with archive.open(member) as file, open(target, "wb") as out:
        for piece in bounded_pieces(file, size, name):
            out.write(piece)
    return target


def _chosen_member(archive: zipfile.ZipFile, name: str, table: str | None) -> zipfile.ZipInfo:
    """Return the table of an archive; its folder may be left out of its name."""
    members = _members(archive)
    tables = [member for member in members if _suffix(member) in TABLES]
    if "[Content_Types].xml" in members:
        raise TableError(f"{name}: this is an Office document: rename it to .xlsx if it is Excel.")
    if not tables:
        seen = f", only {', '.join(list(members)[:3])}" if members else ""
        raise TableError(
            f"{name}: there is no table in this archive{seen}: "
            f"choose one with a file that can be read ({', '.join(TABLES)})."
        )
    in_folder = [member for member in tables if PurePosixPath(member).name == table]
    if table not in tables and len(in_folder) == 1:
        table = in_folder[0]
    return members[chosen_name(tables, table, name, "the archive")]


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    return {
        readable(member.filename): member
        for member in archive.infolist()
        if not member.is_dir() and not _is_hidden(member.filename)
    }


def _is_hidden(member: str) -> bool:
    """Whether a name belongs to the system: macOS adds a folder of attributes."""
    parts = PurePosixPath(member.replace("\\", "/")).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _suffix(member: str) -> str:
    return PurePosixPath(member).suffix.lower()
