"""Table reader: opens a file through polars by its suffix or content.

Formats are delimited text, parquet, arrow, ndjson and Excel. A folder or glob of parquet files and
standard input are read as one table. Other sources are converted to such files first
(:mod:`odefs.tables.readers.local_tables`).
"""

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._extras import command
from odefs.engines.parquet import parts_of
from odefs.exceptions import TableError
from odefs.system.atomic_write import WRITE_ERRNOS, error_number
from odefs.tables.notes import Note, other_sheet_names
from odefs.tables.readers.columnar_limits import require_modest_arrow, require_modest_parquet
from odefs.tables.readers.content_kinds import require_content
from odefs.tables.readers.dialect import is_text
from odefs.tables.readers.excel import read_sheet
from odefs.tables.readers.file_names import path_for_polars, path_for_scans
from odefs.tables.readers.limits import require_height, require_width
from odefs.tables.readers.local_tables import LocalTable, locate, located
from odefs.tables.readers.ndjson import lines_schema
from odefs.tables.readers.placement import CellRange, Placement
from odefs.tables.readers.quotes import first_line, unreadable
from odefs.tables.readers.sheet_table import SheetTable
from odefs.tables.readers.source_kinds import ADDRESSES, kind_of
from odefs.tables.readers.suffixes import ARROW, EXCEL, LINES, OTHER, READABLE, TEXT
from odefs.tables.readers.text import TextTable, read_text
from odefs.tables.readers.to_parquet import sink_parquet, without_wide_integers
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


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file."""

    sheet: str | None = None
    """Sheet of a workbook, by default the first."""
    text_columns: Sequence[str] = ()
    """Columns of a text file that are not converted to numbers."""
    delimiter: str | None = None
    least_rows: int = 2
    header: bool | None = True
    """Whether the first line of a text file contains the names. ``None``: it does not, as in
    training, unless it equals the names that were generated in training."""
    skip_rows: int = 0
    """Rows of a sheet, or lines of a text file, at its top that are not looked at."""
    header_row: int | None = None
    """Row of a sheet, or line of a text file, with the column names, from 1."""
    cell_range: str | None = None
    """Cells of a sheet, such as ``A3:H200``, with the names in the first row."""
    expected_names: Sequence[str] = ()
    """Names that the header probably has, for example those of a saved model."""
    named_columns: Sequence[str] = ()
    """Columns that options name."""

    @property
    def kept_names(self) -> frozenset[str]:
        """Names that are used as they are in the file, with space around them."""
        return frozenset((*self.expected_names, *self.text_columns, *self.named_columns))

    @property
    def placement(self) -> Placement:
        """Where the table is in its file."""
        cells = None if self.cell_range is None else CellRange.parse(self.cell_range)
        return Placement(self.skip_rows, self.header_row, cells)

    table: str | None = None
    """Table of a database, or member of a zip archive."""
    query: str | None = None
    """SQL query of a database."""


PLAIN = ReadOptions()


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
    source = _standard_input() if path == "-" else _existing(path)
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


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise TableError("standard input is closed: name a file, or pass the table through a pipe.")
    return sys.stdin.buffer.read()


def require_input(path: str | Path) -> None:
    """Raise if no file, folder or pattern has this name, before other checks."""
    is_known = str(path) == "-" or Path(path).exists() or kind_of(path) in ADDRESSES
    if not is_known and not _parts(path):
        raise TableError(f"{path}: there is no such file.")


def _existing(path: str | Path) -> Path | bytes | list[Path]:
    """Return the file, the content of a pipe, or the files of a folder or glob."""
    found = Path(path)
    if found.is_file():
        return found
    if found.is_fifo():
        return found.read_bytes()
    parts = _parts(path)
    if parts:
        return parts
    require_input(path)
    raise TableError(f"{path}: this is neither a file nor a folder.")


def _parts(path: str | Path) -> list[Path]:
    """Return the parquet files of a folder or glob; empty if it is neither."""
    parts = parts_of(path)
    other = next((part.name for part in parts if part.suffix.lower() != ".parquet"), None)
    if other is not None:
        raise TableError(
            f"{path}: {other} is not a parquet file; only parquet files can be read together."
        )
    return parts


def check_options(name: str, suffix: str, options: ReadOptions) -> None:
    """Raise if an option does not apply to this kind of file, or options contradict each other."""
    has_range, is_headless = options.cell_range is not None, options.header is False
    rules = (
        (options.sheet is not None, EXCEL, "--sheet is for Excel files."),
        (options.delimiter is not None, TEXT, "--delimiter is for csv and other delimited text."),
        (is_headless, TEXT, "--no-header is for csv and other delimited text."),
        (has_range, EXCEL, "--range is for Excel files; text files have --skip-rows."),
    )
    for is_given, suffixes, rule in rules:
        if is_given and suffix not in suffixes:
            raise TableError(f"{name}: {rule}")
    _check_placement(name, suffix, options)


def _check_placement(name: str, suffix: str, options: ReadOptions) -> None:
    """Raise if rows are given for a file without rows, or the place of the table twice."""
    by_rows = {"--skip-rows": options.skip_rows, "--header-row": options.header_row}
    given = [option for option, value in by_rows.items() if value]
    if given and suffix not in (*EXCEL, *TEXT):
        raise TableError(f"{name}: {given[0]} is for Excel and text files.")
    given += ["--range"] if options.cell_range is not None else []
    if len(given) > 1:
        raise TableError(
            f"{name}: {given[0]} and {given[1]} both say where the table is: give one."
        )
    if options.header is False and options.header_row is not None:
        raise TableError(f"{name}: --no-header and --header-row contradict each other: give one.")


def suffix_of(source: Path | bytes) -> str:
    """Return the suffix of the file, or one for its content if the suffix is unknown."""
    if isinstance(source, bytes):
        return _guess(source)
    suffix = source.suffix.lower()
    if suffix in READABLE or suffix in OTHER:
        return suffix
    with open(source, "rb") as file:
        guess = _guess(file.read(8))
    return suffix if guess == ".csv" and source.stat().st_size and not is_text(source) else guess


def _guess(content: bytes) -> str:
    """Guess a suffix from the first bytes."""
    starts = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"PK\x03\x04": ".xlsx", b"{": ".ndjson"}
    return next((suffix for start, suffix in starts.items() if content.startswith(start)), ".csv")


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


def fingerprint(source: Path | bytes | list[Path]) -> tuple[int, str]:
    """Return size and sha256; for several files, the sha256 of their digests."""
    if isinstance(source, bytes):
        return len(source), hashlib.sha256(source).hexdigest()
    if isinstance(source, Path):
        with open(source, "rb") as file:
            return source.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    parts = [fingerprint(part) for part in source]
    return sum(size for size, _ in parts), hashlib.sha256(
        "".join(digest for _, digest in parts).encode()
    ).hexdigest()
