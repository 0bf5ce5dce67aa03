"""Reading a table from files through polars: csv, parquet, arrow, ndjson, Excel; a folder or glob of parquet files; standard input."""

import glob
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from odefs._extras import command
from odefs.engines.arrow import parquet_in
from odefs.tables.columns import TableError
from odefs.tables.common_types import common_type, joined_types
from odefs.tables.delimited import Dialect, broken_line, is_text, require_filled, short_lines, sniff
from odefs.tables.excel import read_sheet
from odefs.tables.header import LOOKS_LIKE_DATA, Header, has_numbered_names, read_header, under_names
from odefs.tables.names import handed_to_polars, readable
from odefs.tables.packing import unpacked
from odefs.tables.text_types import first_type, has_zeros, may_be_dates

TEXT = (".csv", ".tsv", ".txt", ".gz")
ARROW = (".arrow", ".feather", ".ipc")
LINES = (".ndjson", ".jsonl")
EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")
READABLE = (*TEXT, ".parquet", *ARROW, *LINES, *EXCEL)
DOCUMENTS = (".json", ".html", ".htm", ".xml", ".md", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".py")
PACKED = (".zip", ".tar", ".tgz", ".7z", ".npz", ".npy", ".pkl", ".pickle", ".db", ".sqlite", ".odefs")
OTHER = (*DOCUMENTS, *PACKED, ".png", ".jpg", ".jpeg", ".gif", ".svg")
"""Endings of files that hold no table; files with other endings are looked into."""
NOT_UTF8 = "read as cp1252 text, for it is not utf-8"
NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "-", "?", "#N/A"]
MAX_COLUMNS = 20_000
HEAD_ROWS = 10_000
CHECKED_BYTES = 32 * 2**20
LONGEST_QUOTE = 400


@dataclass(frozen=True, eq=False)
class Reading:
    """A polars data frame, where it came from, the line of each row if it was text, and what should be said about the reading."""

    frame: Any
    name: str
    n_bytes: int
    sha256: str
    lines: Any = None
    notes: tuple[str, ...] = ()
    has_header: bool = True

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    @property
    def n_rows(self) -> int:
        return int(self.frame.height)


Found = tuple[Any, Any, tuple[str, ...], bool]
"""A frame, the lines of its rows, notes, and whether it had a header."""


def table_name(path: str | Path) -> str:
    """What a table is called: by its file or folder, as the system has its name."""
    if str(path) == "-":
        return "standard input"
    return Path(path).name or Path(path).resolve().name or "table"


def read_table(
    path: str | Path,
    sheet: str | None = None,
    text_columns: Sequence[str] = (),
    delimiter: str | None = None,
    least_rows: int = 2,
    header: bool | None = True,
) -> Reading:
    """Read a table. ``text_columns`` of a csv file are not to be taken for numbers.

    ``header`` says whether the first line of a text file has the names of the columns; ``None`` is no, as a model was trained, unless they are those that it was trained on.
    """
    import polars as pl

    name = readable(table_name(path))
    source = _standard_input() if str(path) == "-" else _existing(path)
    try:
        if isinstance(source, list):
            check_asked(name, ".parquet", None, None, header)
            found: Found = _partitions(pl, source), None, (), True
        else:
            ending = ending_of(source)
            source = handed_to_polars(source) if isinstance(source, Path) else source
            found = _read_one(pl, source, ending, name, sheet, text_columns, delimiter, header)
        size, digest = fingerprint(source)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{path}: {first_line(error)}.") from error
    except (OSError, UnicodeError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TableError(f"{path}: cannot be read ({reason}).") from error
    frame, lines, notes, has_header = found
    require_height(frame.height, path, least_rows)
    require_width(frame.width, path)
    return Reading(frame, name, size, digest, lines, notes, has_header)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise TableError("standard input is closed: name a file, or hand the table over through a pipe.")
    return sys.stdin.buffer.read()


def first_line(error: Exception) -> str:
    """What a reader says, without its advice on its own parameters; cells that it quotes may be long."""
    said = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
    return said if len(said) <= LONGEST_QUOTE else f"{said[:LONGEST_QUOTE]} ..."


def require_height(n_rows: int, name: str | Path, least_rows: int = 2) -> None:
    """Refuse tables without rows to compare."""
    if n_rows < least_rows:
        least = "one row" if least_rows == 1 else "two rows"
        raise TableError(f"{name}: a table needs at least {least}, this one has {n_rows}.")


def require_width(n_columns: int, name: str | Path) -> None:
    """Refuse tables with more columns than are supported."""
    if n_columns > MAX_COLUMNS:
        raise TableError(f"{name}: {n_columns:,} columns are more than the {MAX_COLUMNS:,} that are supported.")


def _existing(path: str | Path) -> Path | bytes | list[Path]:
    """The file, what comes through a pipe, or all parquet files of a folder or glob in the order of their names."""
    found = Path(path)
    if found.is_file():
        return found
    if found.is_fifo():
        return found.read_bytes()
    if found.is_dir():
        parts = parquet_in(found)
        if not parts:
            raise TableError(f"{path}: there is no parquet file in this folder.")
        return parts
    if glob.has_magic(str(path)):
        parts = sorted(Path(part) for part in glob.glob(str(path)))
        if not parts:
            raise TableError(f"{path}: no file matches.")
        other = [part for part in parts if part.suffix.lower() != ".parquet"]
        if other:
            raise TableError(f"{path}: {other[0].name} is not a parquet file; only these can be read together.")
        return parts
    if found.exists():
        raise TableError(f"{path}: this is neither a file nor a folder.")
    raise TableError(f"{path}: there is no such file.")


def _partitions(pl: Any, parts: list[Path]) -> Any:
    sources = [handed_to_polars(part) for part in parts]
    schemas = [pl.read_parquet_schema(source) for source in sources]
    types = joined_types(parts, schemas, pl.Null, partial(_common_type, pl))
    return pl.concat([_with_types(pl, pl.read_parquet(source), types) for source in sources])


def _common_type(pl: Any, one: Any, other: Any) -> Any:
    """The type that Arrow's columns would get, for the same rows are to be found where a table is read in parts."""
    if one == other:
        return one
    import pyarrow as pa

    try:
        found = common_type(*(pl.Series([], dtype=dtype).to_arrow().type for dtype in (one, other)))
    except ValueError:  # a type that Arrow does not know
        return None
    return None if found is None else pl.from_arrow(pa.array([], found)).dtype


def _with_types(pl: Any, frame: Any, types: Mapping[str, Any]) -> Any:
    """The columns in the order and the types of the table."""
    if dict(frame.schema) == types and frame.columns == list(types):
        return frame
    return pl.DataFrame([frame[name].cast(dtype) for name, dtype in types.items()])


def _read_one(
    pl: Any,
    source: Path | bytes,
    ending: str,
    name: str,
    sheet: str | None,
    text_columns: Sequence[str],
    delimiter: str | None,
    header: bool | None,
) -> Found:
    check_asked(name, ending, sheet, delimiter, header)
    if ending == ".parquet":
        return pl.read_parquet(source), None, (), True
    if ending in ARROW:
        return pl.read_ipc(source), None, (), True
    if ending in LINES:
        return pl.read_ndjson(source, infer_schema_length=None), None, (), True
    if ending in EXCEL:
        return _read_excel(pl, source, name, sheet), None, (), True
    if ending in TEXT:
        return _read_text(pl, source, name, text_columns, delimiter, header)
    raise TableError(f"{name}: files that end in {ending or 'nothing'} cannot be read, only {', '.join(READABLE)}.")


def check_asked(name: str, ending: str, sheet: str | None, delimiter: str | None, header: bool | None = True) -> None:
    """Refuse options that a kind of file has no use for."""
    if sheet is not None and ending not in EXCEL:
        raise TableError(f"{name}: --sheet is for Excel files.")
    if delimiter is not None and ending not in TEXT:
        raise TableError(f"{name}: --delimiter is for csv and other delimited text.")
    if header is False and ending not in TEXT:
        raise TableError(f"{name}: --no-header is for csv and other delimited text.")


def ending_of(source: Path | bytes) -> str:
    """How the file's name ends, or what its content would be called where the name does not tell."""
    if isinstance(source, bytes):
        return _guess(source)
    ending = source.suffix.lower()
    if ending in READABLE or ending in OTHER:
        return ending
    with open(source, "rb") as file:
        guess = _guess(file.read(8))
    return ending if guess == ".csv" and source.stat().st_size and not is_text(source) else guess


def _guess(content: bytes) -> str:
    """What standard input holds, by its first bytes."""
    starts = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"PK\x03\x04": ".xlsx", b"{": ".ndjson"}
    return next((ending for start, ending in starts.items() if content.startswith(start)), ".csv")


def _read_excel(pl: Any, source: Path | bytes, name: str, sheet: str | None) -> Any:
    try:
        return read_sheet(pl, source, sheet)
    except ModuleNotFoundError as error:
        raise TableError(f"{name}: reading Excel files needs another package: {command('cli')}") from error
    except Exception as error:  # the readers behind polars raise errors of their own
        raise TableError(f"{name}: {first_line(error)}.") from error


def _read_text(
    pl: Any,
    source: Path | bytes,
    name: str,
    text_columns: Sequence[str],
    delimiter: str | None,
    has_header: bool | None,
) -> Found:
    source = unpacked(source, name)
    dialect, header = sniff_checked(source, name, delimiter, has_header)
    notes = said_encoding(dialect)
    try:
        frame, zeros = _read_typed(pl, *under_names(source, dialect, header), text_columns)
    except pl.exceptions.ComputeError as error:
        if "utf-8" not in str(error) or dialect.encoding != "utf-8":
            tell_fault(source, name, dialect, error)
        dialect = replace(dialect, encoding="cp1252")
        header = read_header(source, dialect)
        notes.append(NOT_UTF8)
        try:
            frame, zeros = _read_typed(pl, *under_names(source, dialect, header), text_columns)
        except pl.exceptions.ComputeError as again:
            tell_fault(source, name, dialect, again)
    text = [series for series in frame if series.dtype == pl.String and series.name not in text_columns]
    frame = frame.with_columns([first_type(pl, series, [pl.Datetime]) for series in text if may_be_dates(series)])
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    notes += [*said_names(header, numbers, text_columns), *said_zeros(zeros)]
    # Only a line whose last cell is blank can be short, and looking for it takes longer than reading: small files only.
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if (
        frame.width > 1
        and size <= CHECKED_BYTES
        and frame[:, -1].null_count()
        and (short := short_lines(source, dialect))
    ):
        notes.append(short)
    return (*_numbered(pl, frame, header.line), tuple(notes), dialect.header)


def sniff_checked(
    source: Path | bytes, name: str, delimiter: str | None, has_header: bool | None
) -> tuple[Dialect, Header]:
    """How a text file is to be read, and its names; refused where the columns are too many for it."""
    dialect = sniff(source, name, delimiter)
    dialect = replace(dialect, header=has_numbered_names(source, dialect) if has_header is None else has_header)
    header = read_header(source, dialect)
    require_width(len(header.names), name)
    require_filled(source, name, dialect, len(header.names))
    return dialect, header


def said_names(header: Header, numbers: Sequence[str], text_columns: Sequence[str]) -> list[str]:
    """What should be said about the names; ``numbers`` are the columns that turned out to be such."""
    is_data = header.may_be_data and set(header.names) <= {*numbers, *text_columns}
    return [*header.notes, *([LOOKS_LIKE_DATA] if is_data else [])]


def tell_fault(source: Path | bytes, name: str, dialect: Dialect, error: Exception) -> NoReturn:
    """The line that cannot be read, or what the reader says where none is found."""
    fault = broken_line(source, dialect)
    if fault is None:
        raise error
    raise TableError(f"{name}: {fault}.") from error


def _read_typed(pl: Any, source: Any, dialect: Dialect, text_columns: Sequence[str]) -> tuple[Any, list[str]]:
    """All rows, and the columns of whole numbers such as 00123: codes, whose zeros must not be lost.

    Types come from the first rows, which saves a pass over the file, and from all rows where these do not tell. Whole numbers are read as text and
    turned into numbers here: the reader would drop their zeros.
    """
    first = first_types(pl, source, dialect)
    types = {name: pl.String for name, dtype in first.items() if dtype.is_integer() or name in text_columns}
    known = {name: dtype for name, dtype in first.items() if name not in types}
    try:
        frame = _read_csv(pl, source, dialect, known | types, infer=1)
    except pl.exceptions.ComputeError as error:
        if "parse" not in str(error):
            raise
        frame = _read_csv(pl, source, dialect, types)
    whole = [name for name in types if name not in text_columns]
    if not whole:
        return frame, []
    zeros = [name for name in whole if has_zeros(frame[name])]
    numbers = [first_type(pl, frame[name], [pl.Int64, pl.Float64]) for name in whole if name not in zeros]
    return frame.with_columns(numbers), zeros


def first_types(pl: Any, source: Any, dialect: Dialect) -> dict[str, Any]:
    """What the first rows say about the columns. The reader looks at some rows behind these too, which may be of other types."""
    return dict(_read_csv(pl, source, dialect, {}, HEAD_ROWS, infer=HEAD_ROWS, passes_over=True).schema)


def said_encoding(dialect: Dialect) -> list[str]:
    return [] if dialect.encoding == "utf-8" else [f"read as {dialect.encoding} text"]


def said_zeros(columns: Sequence[str]) -> list[str]:
    return [f"{column}: numbers with leading zeros are taken as categories" for column in columns]


def _read_csv(
    pl: Any,
    source: Any,
    dialect: Dialect,
    types: dict[str, Any],
    n_rows: int | None = None,
    infer: int | None = None,
    passes_over: bool = False,
) -> Any:
    encoding = "utf8" if dialect.encoding == "utf-8" else dialect.encoding
    return pl.read_csv(
        source,
        separator=dialect.separator,
        encoding=encoding,
        infer_schema_length=infer,
        null_values=NULLS,
        schema_overrides=types,
        n_rows=n_rows,
        ignore_errors=passes_over,
    )


def _numbered(pl: Any, frame: Any, first: int) -> tuple[Any, Any]:
    """The rows with the line each begins in; blank lines are left out, quoted line breaks counted."""
    text = [k for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
    lines = frame.select(pl.int_range(first, pl.len() + first)).to_series()
    if text:
        breaks = [pl.nth(k).str.count_matches("\n", literal=True).fill_null(0) for k in text]
        lines += frame.select(pl.sum_horizontal(breaks).cum_sum().shift(1, fill_value=0)).to_series()
    if frame.width > 1:
        filled = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series()
        frame, lines = frame.filter(filled), lines.filter(filled)
    return frame, lines.to_numpy()


def fingerprint(source: Path | bytes | list[Path]) -> tuple[int, str]:
    """Size and sha256; of several files, over their own digests."""
    if isinstance(source, bytes):
        return len(source), hashlib.sha256(source).hexdigest()
    if isinstance(source, Path):
        with open(source, "rb") as file:
            return source.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    parts = [fingerprint(part) for part in source]
    return sum(size for size, _ in parts), hashlib.sha256("".join(digest for _, digest in parts).encode()).hexdigest()
