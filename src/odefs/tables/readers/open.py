"""Reading a table through polars, by the ending or the content of its file: delimited text, parquet, arrow, ndjson, Excel; a folder or glob of parquet files; standard input."""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odefs._extras import command
from odefs.exceptions import TableError
from odefs.tables.notes import Note
from odefs.tables.readers.columnar_limits import require_modest_arrow, require_modest_parquet
from odefs.tables.readers.dialect import is_text
from odefs.tables.readers.excel import read_sheet
from odefs.tables.readers.file_names import path_for_polars, readable
from odefs.tables.readers.limits import require_height, require_width
from odefs.tables.readers.ndjson import read_lines
from odefs.tables.readers.partitioned import parts_of, read_parts
from odefs.tables.readers.text import Found, read_text

TEXT = (".csv", ".tsv", ".txt", ".gz")
ARROW = (".arrow", ".feather", ".ipc")
LINES = (".ndjson", ".jsonl")
EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")
READABLE = (*TEXT, ".parquet", *ARROW, *LINES, *EXCEL)
DOCUMENTS = (".json", ".html", ".htm", ".xml", ".md", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".py")
PACKED = (".zip", ".tar", ".tgz", ".7z", ".npz", ".npy", ".pkl", ".pickle", ".db", ".sqlite", ".odefs")
OTHER = (*DOCUMENTS, *PACKED, ".png", ".jpg", ".jpeg", ".gif", ".svg")
"""Endings of files that hold no table; files with other endings are looked into."""
LONGEST_QUOTE = 400


@dataclass(frozen=True, eq=False)
class Reading:
    """A polars data frame, where it came from, the line of each row if it was text, and notes on the reading."""

    frame: Any
    name: str
    n_bytes: int
    sha256: str
    lines: Any = None
    notes: tuple[Note, ...] = ()
    has_header: bool = True

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    @property
    def n_rows(self) -> int:
        return int(self.frame.height)


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
            require_modest_parquet(source, name)
            found: Found = read_parts(pl, source), None, (), True
        else:
            ending = ending_of(source)
            source = path_for_polars(source) if isinstance(source, Path) else source
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


def require_input(path: str | Path) -> None:
    """Refuse a name that no file, folder or pattern has, before anything else is said."""
    if str(path) != "-" and not Path(path).exists() and not parts_of(path):
        raise TableError(f"{path}: there is no such file.")


def _existing(path: str | Path) -> Path | bytes | list[Path]:
    """The file, what comes through a pipe, or the files of a folder or glob."""
    found = Path(path)
    if found.is_file():
        return found
    if found.is_fifo():
        return found.read_bytes()
    parts = parts_of(path)
    if parts:
        return parts
    require_input(path)
    raise TableError(f"{path}: this is neither a file nor a folder.")


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
    require_modest(source, ending, name)
    if ending == ".parquet":
        return pl.read_parquet(source), None, (), True
    if ending in ARROW:
        return pl.read_ipc(source), None, (), True
    if ending in LINES:
        return read_lines(pl, source, name), None, (), True
    if ending in EXCEL:
        return _read_excel(pl, source, name, sheet), None, (), True
    if ending in TEXT:
        return read_text(pl, source, name, text_columns, delimiter, header)
    raise TableError(f"{name}: files that end in {ending or 'nothing'} cannot be read, only {', '.join(READABLE)}.")


def require_modest(source: Path | bytes, ending: str, name: str) -> None:
    """Refuse files of columns that would take far more memory than their size suggests."""
    if ending == ".parquet":
        require_modest_parquet([source], name)
    elif ending in ARROW:
        require_modest_arrow(source, name)


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


def fingerprint(source: Path | bytes | list[Path]) -> tuple[int, str]:
    """Size and sha256; of several files, over their own digests."""
    if isinstance(source, bytes):
        return len(source), hashlib.sha256(source).hexdigest()
    if isinstance(source, Path):
        with open(source, "rb") as file:
            return source.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    parts = [fingerprint(part) for part in source]
    return sum(size for size, _ in parts), hashlib.sha256("".join(digest for _, digest in parts).encode()).hexdigest()
