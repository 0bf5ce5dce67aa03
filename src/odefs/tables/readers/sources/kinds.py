"""What a path or address leads to, what the table there is called, and whether one can be chosen.

Nothing is read here but the first bytes of files with an unknown suffix, and of databases.
"""

import os
from pathlib import Path, PurePosixPath
from typing import Literal

from odefs.exceptions import TableError
from odefs.tables.error_messages import has_option, option
from odefs.tables.polars_names import readable
from odefs.tables.readers.compression import SUFFIXES as COMPRESSED
from odefs.tables.readers.compression import beginning
from odefs.tables.readers.file_kinds import DATABASES, EXCEL, LINES, OTHER, READABLE, TABLES
from odefs.tables.readers.sources import addresses

Kind = Literal["file", "zip", "json", "compressed", "sqlite", "duckdb", "postgresql", "remote"]
"""``file``: the readers open it directly. ``compressed``: JSON or ndjson, compressed."""
CHOICES: dict[str, tuple[Kind, ...]] = {
    "table": ("zip", "json", "compressed", "sqlite", "duckdb", "postgresql"),
    "query": ("sqlite", "duckdb", "postgresql"),
}
"""Kinds of sources that each option is for."""
ADDRESSES: tuple[Kind, ...] = ("postgresql", "remote")
HEAD_BYTES = 1024
SQLITE = b"SQLite format 3\x00"
DUCKDB, DUCKDB_START = b"DUCK", 8
ZIP = b"PK\x03\x04"
ZIP_NAME, ZIP_NAME_LENGTH = 30, slice(26, 28)
"""Where the name of the first member is in an archive, and where its length is."""


def kind_of(file: str | Path) -> Kind:
    """Return how a table is made available to the readers."""
    path, scheme = Path(file), addresses.scheme_of(file)
    if scheme and not path.exists():
        return _kind_of_address(str(file), scheme)
    if not path.is_file():
        return "file"  # the reader reports it, or reads a folder or pipe
    suffix = path.suffix.lower()
    if suffix in COMPRESSED and path.with_suffix("").suffix.lower() in (*LINES, ".json"):
        return "compressed"
    if suffix in (".zip", ".json"):
        return "zip" if suffix == ".zip" else "json"
    if suffix in (*TABLES, *OTHER):
        return "file"
    return _kind_of_content(path, suffix)


def _kind_of_address(address: str, scheme: str) -> Kind:
    if scheme in addresses.DATABASES:
        return "postgresql"
    if scheme in addresses.SCHEMES:
        return "remote"
    raise TableError(
        f"{addresses.without_secrets(address)}: addresses with {scheme}:// cannot be read, "
        f"only {', '.join(f'{known}://' for known in addresses.SCHEMES)}."
    )


def _kind_of_content(path: Path, suffix: str) -> Kind:
    try:
        head = beginning(path, HEAD_BYTES)
    except OSError:
        return "file"  # the reader reports what is wrong
    # An empty file is a valid SQLite database without tables.
    if head.startswith(SQLITE) or (not head and suffix in DATABASES):
        return "sqlite"
    if head[DUCKDB_START:].startswith(DUCKDB):
        return "duckdb"
    if suffix in DATABASES:
        raise TableError(
            f"{path}: this is neither a SQLite nor a DuckDB database: other databases, and "
            "encrypted ones, cannot be read."
        )
    length = int.from_bytes(head[ZIP_NAME_LENGTH], "little")
    first = head[ZIP_NAME : ZIP_NAME + length].decode(errors="replace")
    # Workbooks are archives too, of other files.
    is_archive = head.startswith(ZIP) and PurePosixPath(first).suffix.lower() in TABLES
    return "zip" if is_archive else "file"


def require_choice(file: str | Path, table: str | None, query: str | None) -> None:
    """Raise, before any work, if there is nothing to choose from."""
    if table is None and query is None:
        return
    if str(file) == "-":
        raise TableError(
            f"{option('table')} and {option('query')} cannot be used with standard input: name a "
            "file."
        )
    kind = kind_of(file)
    if kind == "file" and not Path(file).exists():
        raise TableError(f"{file}: there is no such file.")
    if kind == "remote":
        suffix = PurePosixPath(addresses.address_name(str(file))).suffix.lower()
        if suffix not in TABLES:
            return  # known after the download
        kind = "file"
    require_choice_of(kind, addresses.without_secrets(str(file)), table, query)


def require_choice_of(kind: Kind, shown: str, table: str | None, query: str | None) -> None:
    """Raise if a source of this kind does not have a choice of tables or queries."""
    if table is not None and query is not None:
        raise TableError(
            f"{option('table')} and {option('query')} are mutually exclusive: give only one of "
            "them."
        )
    if query is not None and kind not in CHOICES["query"]:
        raise TableError(f"{shown}: {option('query')} is for databases.")
    if table is not None and kind not in CHOICES["table"]:
        is_workbook = shown.lower().endswith(EXCEL) and has_option("sheet")
        hint = f": {option('sheet')} chooses a sheet" if is_workbook else ""
        raise TableError(
            f"{shown}: {option('table')} is for databases, zip archives and JSON documents{hint}."
        )


def table_name(file: str | Path) -> str:
    """Return the name of the file, folder or address, in the system's encoding."""
    if str(file) == "-":
        return "standard input"
    if addresses.scheme_of(file) and not Path(file).exists():
        return addresses.address_name(str(file))
    return Path(file).name or Path(file).resolve().name or "table"


def source_name(file: str | Path, table: str | None = None, query: str | None = None) -> str:
    """Return the name of a table, with the choice that was made at its source."""
    choice = table or ("query" if query else None)
    return readable(table_name(file)) + (f" ({choice})" if choice else "")


def source_stem(file: str | Path, table: str | None = None) -> str:
    """Return the beginning of the names of files about a table, without suffixes of tables."""
    stem = table_name(file) if Path(file).is_dir() else _stem(table_name(file))
    part = _stem(PurePosixPath(table).name.replace(os.sep, "_")) if table else ""
    return f"{stem}.{part}" if part else stem


def _stem(name: str) -> str:
    for suffix in (*COMPRESSED, *READABLE):
        stem = name[: -len(suffix)] if name.lower().endswith(suffix) else ""
        name = stem or name
    return name
