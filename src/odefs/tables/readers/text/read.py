"""Delimited text reader: names, types that lose no cell, the line of each row, and notes.

polars splits the lines; column types are decided here. Reading in memory and in batches is one
code path: cells are text first (:mod:`odefs.tables.readers.text.cells`), then get the types that
all rows allow (:mod:`odefs.tables.readers.text.types`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from odefs.exceptions import TableError
from odefs.tables.formulas import restored
from odefs.tables.polars_names import path_for_scans
from odefs.tables.readers.compression import beginning, decompress_to, decompressed
from odefs.tables.readers.limits import MAX_COLUMNS, require_width
from odefs.tables.readers.options import FOUND, Placement
from odefs.tables.readers.text.broken_lines import broken_line
from odefs.tables.readers.text.cells import FiledCells, HeldCells, TextCells
from odefs.tables.readers.text.copies import arranged, in_column
from odefs.tables.readers.text.dialect import (
    Dialect,
    require_delimited,
    require_filled,
    short_lines,
    sniff,
)
from odefs.tables.readers.text.header import Header, has_numbered_names, read_header
from odefs.tables.readers.text.line_ends import with_line_feeds
from odefs.tables.readers.text.padding import without_padding
from odefs.tables.readers.text.types import TextTypes
from odefs.tables.records.notes import Note
from odefs.tables.table import HeldTable, ParquetTable, Table

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq

LINE = "\x1fline"
"""Column with the line in which each row begins; no text file has a column of this name."""
DECOMPRESSED, LINE_FEEDS = "decompressed.txt", "line_feeds.txt"
UNPADDED, ARRANGED = "unpadded.txt", "arranged.txt"
"""Copies of the file in the folder for temporary files."""
FALLBACK_ENCODING = "cp1252"
"""Encoding of text that is neither UTF-8 nor marked as another encoding."""
CHECKED_BYTES = 32 * 2**20
FIRST_LINE = 2 * 2**20
"""Bytes of the first line that are inspected before it is split."""


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table read from text, notes on the reading, and whether the file has a header."""

    table: Table
    notes: tuple[Note, ...]
    has_header: bool


def read_text(
    source: Path | bytes,
    name: str,
    folder: Path | None,
    text_columns: Sequence[str] = (),
    delimiter: str | None = None,
    has_header: bool | None = True,
    place: Placement = FOUND,
    expected: Sequence[str] = (),
    kept_names: Collection[str] = (),
    keeps_spaces: bool | None = None,
) -> TextTable:
    """Read a file or its content into memory, or into a parquet file in ``folder``.

    ``text_columns`` are not converted to numbers. ``expected`` are names that the header probably
    has, ``kept_names`` are used as they are in the file, with space around them, and so are all
    cells if ``keeps_spaces``.
    """
    source = _plain_text(source, name, folder)
    require_delimited(source, name)
    copy = _copy_in(folder, UNPADDED)
    source = without_padding(source, delimiter, kept_names, copy, keeps_spaces)
    copy = _copy_in(folder, ARRANGED)
    source, delimiter, around = arranged(source, name, delimiter, has_header, place, expected, copy)
    dialect, header = sniff_checked(source, name, delimiter, has_header, kept_names)
    notes = encoding_notes(dialect)
    may_lack_header = has_header is True and place.header_row is None and not expected
    if may_lack_header and header.is_row(kept_names):
        dialect = replace(dialect, header=False)
        header = read_header(source, dialect)
        notes.append(Note("header_is_row", line=header.line))
    cells, dialect, header = _read_cells(source, name, folder, dialect, header, kept_names, place)
    if dialect.encoding == FALLBACK_ENCODING and not notes:
        notes.append(Note("not_utf8", value=FALLBACK_ENCODING))
    notes += in_column(around, header.names)
    # Before the copies are removed, of which ``source`` may be one.
    short = short_notes(source, dialect)
    if folder is not None:
        _remove_copies(folder)
    types = _types_of(cells, header, text_columns)
    table, n_restored = _typed(cells, types, header, folder, name)
    notes += [*header.notes, *zeros_notes([header.own(column) for column in types.zeros])]
    notes += [*restored_notes(header, n_restored), *short]
    return TextTable(table, tuple(notes), dialect.header)


def _plain_text(source: Path | bytes, name: str, folder: Path | None) -> Path | bytes:
    """Return the text of a file, decompressed and with line feeds at the ends of lines."""
    if folder is None:
        return with_line_feeds(decompressed(source, name), None)
    assert isinstance(source, Path)
    text = path_for_scans(decompress_to(source, name, folder / DECOMPRESSED), folder)
    return with_line_feeds(text, folder / LINE_FEEDS)


def _copy_in(folder: Path | None, name: str) -> Path | None:
    """Return the file for a copy; ``None`` for one in memory."""
    return None if folder is None else folder / name


def _remove_copies(folder: Path) -> None:
    """Make room for the typed table; the source file may be on another disk."""
    for working in (DECOMPRESSED, LINE_FEEDS, UNPADDED, ARRANGED):
        (folder / working).unlink(missing_ok=True)


def _read_cells(
    source: Path | bytes,
    name: str,
    folder: Path | None,
    dialect: Dialect,
    header: Header,
    kept_names: Collection[str],
    place: Placement,
) -> tuple[TextCells, Dialect, Header]:
    """Read all cells as text; what is not valid UTF-8 is read again as cp1252."""
    import polars as pl

    try:
        return _cells(source, folder, dialect, header), dialect, header
    except pl.exceptions.ComputeError as error:
        # polars has no exception of its own for invalid UTF-8, only the message tells it apart.
        if "utf-8" not in str(error) or dialect.encoding != "utf-8":
            raise_parse_error(source, name, dialect, error, kept_names, place)
    # The encoding was guessed from the head; a later line has other bytes. Names are read again,
    # since the first reading has replaced such bytes.
    dialect = replace(dialect, encoding=FALLBACK_ENCODING)
    header = read_header(source, dialect, kept_names)
    try:
        return _cells(source, folder, dialect, header), dialect, header
    except pl.exceptions.ComputeError as error:
        raise_parse_error(source, name, dialect, error, kept_names, place)


def _cells(
    source: Path | bytes, folder: Path | None, dialect: Dialect, header: Header
) -> TextCells:
    if folder is None:
        return HeldCells.read(source, dialect, header)
    assert isinstance(source, Path)
    return FiledCells.read(source, dialect, header, folder)


def _types_of(cells: TextCells, header: Header, text_columns: Sequence[str]) -> TextTypes:
    """Return the types that all rows allow; ``text_columns`` are not converted to numbers."""
    types = TextTypes(cells.first_types(), [header.handed(column) for column in text_columns])
    for frame in cells.frames():
        types.look_at(frame)
    return types


def _typed(
    cells: TextCells, types: TextTypes, header: Header, folder: Path | None, name: str
) -> tuple[Table, int]:
    """Return the typed rows with their lines, and the number of cells that lost an apostrophe."""
    line, n_restored = header.line, 0
    store = _MemoryStore() if folder is None else _FileStore(folder / "table.parquet")
    n_lines = 0
    with store:
        for frame in cells.frames():
            n_lines += len(frame)
            typed = types.applied(frame)
            typed, n_changed = restored(typed) if header.is_own else (typed, 0)
            n_restored += n_changed
            typed, line = _with_lines(typed, line)
            typed.columns = [
                column if column == LINE else header.own(column) for column in typed.columns
            ]
            store.add(typed)
    if isinstance(cells, FiledCells):
        cells.path.unlink()
    table = store.table()
    if n_lines and not table.n_rows:
        raise TableError(f"{name}: all cells are empty or stand for missing values, such as NA.")
    return table, n_restored


def _with_lines(frame: "pl.DataFrame", line: int) -> tuple["pl.DataFrame", int]:
    """Add the line in which each row begins, counting quoted line breaks; drop blank lines."""
    import polars as pl

    # Only text can have line breaks. By position, because polars expands names such as ``^a.*$``.
    text = [k for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
    breaks = [pl.nth(k).str.count_matches("\n", literal=True) for k in text]
    heights = pl.sum_horizontal([pl.repeat(1, pl.len(), dtype=pl.Int64), *breaks])
    after = line + frame.select(heights.cum_sum()).to_series()
    numbered = frame.with_columns(after.shift(1, fill_value=line).cast(pl.Int64).alias(LINE))
    # polars reads a blank line as a row of missing cells. In a table of one column it is a cell.
    if frame.width > 1:
        numbered = numbered.filter(~pl.all_horizontal(pl.all().exclude(LINE).is_null()))
    return numbered, int(after[-1]) if len(after) else line


class _MemoryStore:
    """Keeps typed rows in memory."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def add(self, frame: "pl.DataFrame") -> None:
        self._frames.append(frame)

    def table(self) -> Table:
        import polars as pl

        return HeldTable(
            pl.concat(self._frames) if len(self._frames) > 1 else self._frames[0], LINE
        )


class _FileStore:
    """Writes typed rows to a parquet file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, frame: "pl.DataFrame") -> None:
        import pyarrow.parquet as pq

        rows = frame.to_arrow()
        # All batches have the schema of the first: their types were settled by all rows.
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, rows.schema)
        self._writer.write_table(rows)

    def table(self) -> Table:
        return ParquetTable((self._path,), LINE)


def sniff_checked(
    source: Path | bytes,
    name: str,
    delimiter: str | None,
    has_header: bool | None,
    kept_names: Collection[str] = (),
) -> tuple[Dialect, Header]:
    """Detect the dialect and read the header; raise if there are too many columns."""
    dialect = sniff(source, name, delimiter)
    _require_narrow(source, name, dialect)
    dialect = replace(
        dialect, header=has_numbered_names(source, dialect) if has_header is None else has_header
    )
    header = read_header(source, dialect, kept_names)
    require_width(len(header.names), name)
    require_filled(source, name, dialect, len(header.names))
    return dialect, header


def _require_narrow(source: Path | bytes, name: str, dialect: Dialect) -> None:
    """Raise if the first line starts with too many fields: splitting it would exhaust memory."""
    start = beginning(source, FIRST_LINE)
    # Delimiters inside quotes are not counted as fields, so such a line is left to the csv module.
    if len(start) < FIRST_LINE or b"\n" in start or b'"' in start:
        return
    if start.decode(dialect.encoding, errors="replace").count(dialect.delimiter) >= MAX_COLUMNS:
        raise TableError(
            f"{name}: {dialect.first_line} has more fields than the {MAX_COLUMNS:,} columns "
            "that are supported."
        )


def short_notes(source: Path | bytes, dialect: Dialect) -> list[Note]:
    """Find lines with too few fields in small files; this takes longer than reading."""
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    short = short_lines(source, dialect) if size <= CHECKED_BYTES else None
    return [] if short is None else [short]


def raise_parse_error(
    source: Path | bytes,
    name: str,
    dialect: Dialect,
    error: Exception,
    kept_names: Collection[str],
    place: Placement,
) -> NoReturn:
    """Raise an error that names the malformed line, or the original error if none is found."""
    # A column that an option names may be a hidden one.
    fault = broken_line(source, dialect, shows_line=not kept_names, may_skip=not place.is_given)
    if fault is None:
        raise error
    raise TableError(f"{name}: {fault}.") from error


def encoding_notes(dialect: Dialect) -> list[Note]:
    return [] if dialect.encoding == "utf-8" else [Note("encoding", value=dialect.encoding)]


def zeros_notes(columns: Sequence[str]) -> list[Note]:
    return [Note("leading_zeros", column) for column in columns]


def restored_notes(header: Header, n_cells: int) -> list[Note]:
    """Note that apostrophes were removed from a file that odefs wrote."""
    n = n_cells + header.n_restored
    return [Note("apostrophes_removed", count=n)] if n else []
