"""Tables that the readers cannot open directly: addresses, databases, archives, JSON documents.

Such a table is first written to a local file that the readers of :mod:`odefs.tables.readers.open`
know, in memory or in parts: downloads as they are, members of archives extracted, JSON as ndjson,
rows of a database as parquet.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from odefs._progress import report_progress, stage
from odefs.exceptions import TableError
from odefs.system.atomic_write import WRITE_ERRNOS, error_number
from odefs.system.tempfiles import temporary_folder
from odefs.tables.error_messages import option
from odefs.tables.polars_names import readable
from odefs.tables.readers.compression import codec_of, decompress_to
from odefs.tables.readers.sources.addresses import without_secrets
from odefs.tables.readers.sources.kinds import (
    Kind,
    kind_of,
    require_choice,
    require_choice_of,
    source_name,
    table_name,
)


@dataclass(frozen=True)
class LocalTable:
    """A file that the readers can open, and what it is called."""

    path: str
    """A file, a folder or glob of parquet files, or ``-``."""
    shown: str
    """What errors begin with: the path or address as given, without passwords."""
    name: str
    """Name of the table."""
    origin: Path | None = None
    """The file whose size and digest identify the table, if it is not ``path``."""


def as_local(file: str | Path | LocalTable) -> LocalTable:
    """Return a file that the readers can open as it is."""
    if isinstance(file, LocalTable):
        return file
    return LocalTable(str(file), str(file), readable(table_name(file)))


@contextmanager
def located(
    file: str | Path, table: str | None = None, query: str | None = None
) -> Iterator[LocalTable]:
    """The local file of a table; temporary files are deleted at the end of the ``with`` block."""
    require_choice(file, table, query)
    if kind_of(file) == "file":
        yield as_local(file)
        return
    with temporary_folder() as folder:
        yield locate(file, folder, table, query)


def locate(
    file: str | Path, folder: Path, table: str | None = None, query: str | None = None
) -> LocalTable:
    """Return the local file of a table; it is in ``folder`` unless the readers know the file."""
    require_choice(file, table, query)
    kind, path = kind_of(file), Path(file)
    if kind == "file":
        return as_local(file)
    shown, name = without_secrets(str(file)), source_name(file, table, query)
    local = LocalTable(str(path), shown, name)
    try:
        if kind == "postgresql":
            from odefs.tables.readers.sources.postgresql import postgresql_to_parquet

            with stage("reading"):
                target = folder / "table.parquet"
                postgresql_to_parquet(str(file), shown, table, query, target)
            return replace(local, path=str(target))
        if kind == "remote":
            from odefs.tables.readers.sources.downloads import download

            path = download(str(file), shown, folder)
            kind, local = kind_of(path), replace(local, path=str(path))
            require_choice_of(kind, shown, table, query)
        return local if kind == "file" else _converted(kind, local, folder, table, query)
    except OSError as error:
        number = error_number(error)
        if number is None or number not in WRITE_ERRNOS:
            raise TableError(f"{shown}: cannot be read ({error.strerror or error}).") from error
        raise TableError(
            f"{shown}: the table cannot be written to {folder.parent} ({os.strerror(number)}): "
            "set TMPDIR to another folder."
        ) from error


def _converted(
    kind: Kind, source: LocalTable, folder: Path, table: str | None, query: str | None
) -> LocalTable:
    """Write the table of a local file to a file that the readers know."""
    path, shown, target = Path(source.path), source.shown, folder / "table.parquet"
    with stage("reading"):
        report_progress(0, 0)
        if kind == "zip":
            from odefs.tables.readers.sources.zip_archives import extract_table

            path, inner = extract_table(path, shown, table, folder)
            source, kind = replace(source, path=str(path)), kind_of(path)
            return source if kind == "file" else _converted(kind, source, folder, inner, None)
        if kind == "sqlite":
            from odefs.tables.readers.sources.sqlite import sqlite_to_parquet

            sqlite_to_parquet(path, shown, table, query, target)
        elif kind == "duckdb":
            from odefs.tables.readers.sources.duckdb import duckdb_to_parquet

            duckdb_to_parquet(path, shown, table, query, target)
        else:
            # The digest that identifies the table is that of the document, not of the lines.
            return replace(source, path=str(_lines(path, shown, folder, table)), origin=path)
    return replace(source, path=str(target))


def _lines(source: Path, shown: str, folder: Path, table: str | None) -> Path:
    """Return an ndjson file with the records of a JSON document, or of compressed lines."""
    from odefs.tables.readers.sources.json_documents import has_lines, records_to_lines

    suffix = source.suffix.lower()
    if suffix != ".json" or codec_of(source) is not None:
        suffix = source.with_suffix("").suffix.lower() if suffix != ".json" else suffix
        source = decompress_to(source, shown, folder / f"decompressed{suffix}")
    is_lines = suffix != ".json" or has_lines(source)
    if is_lines and table is not None:
        raise TableError(f"{shown}: this is a single table: leave out {option('table')}.")
    if suffix != ".json":
        return source
    target = folder / "table.ndjson"
    if is_lines:
        # Copied, because the suffix decides how a file is read.
        shutil.copyfile(source, target)
    else:
        records_to_lines(source, shown, target, table)
    return target
