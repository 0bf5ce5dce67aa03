"""Table reader: opens a file by its suffix or content, and refuses sheets larger than memory.

Formats are delimited text, parquet, arrow, ndjson and Excel. A folder or glob of parquet files and
standard input are read as one table (:mod:`odefs.tables.readers.inputs`). Other sources are
converted to such files first (:mod:`odefs.tables.readers.sources.locate`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._extras import command
from odefs.exceptions import TableError
from odefs.system.atomic_write import WRITE_ERRNOS, error_number
from odefs.tables.error_messages import first_line, unreadable
from odefs.tables.polars_names import path_for_polars, path_for_scans
from odefs.tables.readers.columnar.limits import require_modest_arrow, require_modest_parquet
from odefs.tables.readers.columnar.to_parquet import sink_parquet, without_wide_integers
from odefs.tables.readers.excel.read import read_sheet
from odefs.tables.readers.excel.sheet_table import SheetTable
from odefs.tables.readers.file_kinds import ARROW, EXCEL, LINES, READABLE, TEXT, require_content
from odefs.tables.readers.inputs import existing_input, fingerprint, standard_input, suffix_of
from odefs.tables.readers.limits import require_height, require_width
from odefs.tables.readers.ndjson import lines_schema
from odefs.tables.readers.options import PLAIN, ReadOptions, check_options
from odefs.tables.readers.sources.locate import LocalTable, locate, located
from odefs.tables.readers.text.read import TextTable, read_text
from odefs.tables.records.notes import Note, other_sheet_names
from odefs.tables.table import HeldTable, ParquetTable, Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Reading:
    """A table, where it came from, and notes on the reading."""

    table: Table
    name: str
    n_bytes: int
    sha256: str
    notes: tuple[Note, ...] = ()
    has_header: bool = True

    @property
    def source(self) -> dict[str, object]:
        """What reports and model files contain on the origin of the table."""
        found = {
            "name": self.name,
            "rows": self.table.n_rows,
            "columns": len(self.table.names),
            "bytes": self.n_bytes,
            "sha256": self.sha256,
        }
        return found if self.has_header else found | {"header": False}


def open_table(
    file: str | Path | LocalTable, options: ReadOptions = PLAIN, folder: Path | None = None
) -> Reading:
    """Open a table: read into memory or, with a ``folder`` for temporary files, in batches."""
    if isinstance(file, LocalTable):
        return _open_local(file, options, folder)
    if folder is not None:
        return _open_local(locate(file, folder, options.table, options.query), options, folder)
    with located(file, options.table, options.query) as local:
        return _open_local(local, options, folder)


def _open_local(local: LocalTable, options: ReadOptions, folder: Path | None) -> Reading:
    import polars as pl

    path, shown = local.path, local.shown
    source = standard_input() if path == "-" else existing_input(path)
    try:
        found = _open(source, local.name, options, folder)
        size, digest = fingerprint(local.origin or source)
    except (OSError, UnicodeError, EOFError, pl.exceptions.PolarsError) as error:
        raise _readable_error(shown, error, folder) from error
    require_height(found.table.n_rows, shown, options.least_rows, other_sheet_names(found.notes))
    require_width(len(found.table.names), shown)
    return Reading(found.table, local.name, size, digest, found.notes, found.has_header)


def _readable_error(path: str | Path, error: Exception, folder: Path | None) -> TableError:
    number = error_number(error)
    if folder is not None and number is not None and number in WRITE_ERRNOS:
        # Another temporary folder helps with these errors.
        return TableError(
            f"{path}: the file is too large to be read at once, and it cannot be converted to "
            f"parquet in {folder.parent} ({os.strerror(number)}): set TMPDIR to another folder."
        )
    if number is not None:
        return TableError(
            f"{path}: cannot be read ({os.strerror(number)}): check the file and its permissions."
        )
    return TableError(unreadable(path, error))


def _open(
    source: Path | bytes | list[Path], name: str, options: ReadOptions, folder: Path | None
) -> TextTable:
    if isinstance(source, list):
        check_options(name, ".parquet", options)
        return TextTable(_open_parquet(source, name, folder), (), True)
    suffix = suffix_of(source)
    check_options(name, suffix, options)
    require_content(source, suffix, name)
    if suffix == ".parquet":
        return TextTable(_open_parquet([source], name, folder), (), True)
    # In parts the content would not fit into memory: a link is made instead (``path_for_scans``).
    if folder is None and isinstance(source, Path):
        source = path_for_polars(source)
    if suffix in TEXT:
        return read_text(
            source,
            name,
            folder,
            options.text_columns,
            options.delimiter,
            options.header,
            options.placement,
            options.expected_names,
            options.kept_names,
            options.keeps_spaces,
        )
    if suffix in EXCEL:
        return _open_excel(source, name, options, folder)
    return _open_scanned(source, suffix, name, folder)


def _open_excel(
    source: Path | bytes, name: str, options: ReadOptions, folder: Path | None
) -> TextTable:
    if folder is not None:
        raise TableError(
            f"{name}: the file is too large to be read at once, and only parquet, csv, arrow and "
            "ndjson can be read in batches: convert it, or raise ODEFS_MEMORY."
        )
    sheet = _read_excel(source, name, options)
    return TextTable(HeldTable(sheet.frame), sheet.notes, True)


def _open_scanned(source: Path | bytes, suffix: str, name: str, folder: Path | None) -> TextTable:
    """Open an arrow or ndjson file."""
    if suffix not in (*ARROW, *LINES):
        raise TableError(
            f"{name}: files with the suffix {suffix or '(none)'} cannot be read: "
            f"save the table as {', '.join(READABLE)}."
        )
    rows = _scan(source, suffix, name, folder)
    if folder is None:
        return TextTable(HeldTable(without_wide_integers(rows).collect()), (), True)
    sink_parquet(rows, folder / "table.parquet")
    return TextTable(ParquetTable((folder / "table.parquet",)), (), True)


def _open_parquet(files: Sequence[Path | bytes], name: str, folder: Path | None) -> Table:
    require_modest_parquet(files, name)
    table = ParquetTable(tuple(files))
    return table.load() if folder is None else table


def _scan(source: Path | bytes, suffix: str, name: str, folder: Path | None) -> "pl.LazyFrame":
    """Scan an arrow or ndjson file; polars reads the rows when they are collected."""
    import polars as pl

    given: Path | BytesIO
    if isinstance(source, bytes):
        given = BytesIO(source)
    else:
        given = source if folder is None else path_for_scans(source, folder)
    if suffix in ARROW:
        require_modest_arrow(source, name)
        return pl.scan_ipc(given)
    schema = lines_schema(given, name, source)
    return pl.scan_ndjson(BytesIO(source) if isinstance(source, bytes) else given, schema=schema)


def _read_excel(source: Path | bytes, name: str, options: ReadOptions) -> SheetTable:
    place = options.placement
    try:
        return read_sheet(source, options.sheet, place, options.expected_names, options.kept_names)
    except ModuleNotFoundError as error:
        raise TableError(
            f"{name}: reading Excel files requires another package: {command('cli')}"
        ) from error
    except Exception as error:  # fastexcel's exceptions are not part of its interface
        raise TableError(f"{name}: {first_line(error)}.") from error
