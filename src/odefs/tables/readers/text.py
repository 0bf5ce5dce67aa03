"""Reading delimited text through polars: names, types that lose no cell, the line of each row, and notes on it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from odefs.exceptions import TableError
from odefs.tables.notes import Note
from odefs.tables.readers.dialect import Dialect, broken_line, require_filled, require_line_ends, short_lines, sniff
from odefs.tables.readers.gzip_files import beginning, unpacked
from odefs.tables.readers.header import (
    Header,
    has_numbered_names,
    read_header,
    under_names,
)
from odefs.tables.readers.limits import MAX_COLUMNS, require_width
from odefs.tables.readers.text_types import first_type, has_zeros, may_be_dates
from odefs.tables.writers.formulas import restored

FALLBACK_ENCODING = "cp1252"
"""Of text that is not UTF-8 and has no mark of another encoding."""
NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "-", "?", "#N/A"]
HEAD_ROWS = 10_000
CHECKED_BYTES = 32 * 2**20
FIRST_LINE = 2 * 2**20
"""Bytes of the first line that are looked at before it is taken apart."""

Found = tuple[Any, Any, tuple[Note, ...], bool]
"""A frame, the lines of its rows, notes, and whether it had a header."""


def read_text(
    pl: Any,
    source: Path | bytes,
    name: str,
    text_columns: Sequence[str],
    delimiter: str | None,
    has_header: bool | None,
) -> Found:
    """The table in a file or in its content; ``text_columns`` are not to be taken for numbers."""
    source = unpacked(source, name)
    dialect, header = sniff_checked(source, name, delimiter, has_header)
    notes = encoding_notes(dialect)
    try:
        frame, zeros, n_restored = _read_named(pl, source, dialect, header, text_columns)
    except pl.exceptions.ComputeError as error:
        if "utf-8" not in str(error) or dialect.encoding != "utf-8":
            raise_parse_error(source, name, dialect, error)
        dialect = replace(dialect, encoding=FALLBACK_ENCODING)
        header = read_header(source, dialect)
        notes.append(Note("not_utf8", value=FALLBACK_ENCODING))
        try:
            frame, zeros, n_restored = _read_named(pl, source, dialect, header, text_columns)
        except pl.exceptions.ComputeError as again:
            raise_parse_error(source, name, dialect, again)
    text = [series for series in frame if series.dtype == pl.String and series.name not in text_columns]
    frame = frame.with_columns([first_type(pl, series, [pl.Datetime]) for series in text if may_be_dates(series)])
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    notes += header_notes(header, numbers, text_columns)
    notes += [*zeros_notes(zeros), *restored_notes(header, n_restored)]
    # Only a line whose last cell is blank can be short.
    if frame.width > 1 and frame[:, -1].null_count():
        notes += short_notes(source, dialect)
    return (*_numbered(pl, frame, header.line), tuple(notes), dialect.header)


def sniff_checked(
    source: Path | bytes, name: str, delimiter: str | None, has_header: bool | None
) -> tuple[Dialect, Header]:
    """How a text file is to be read, and its names; refused where the columns are too many for it."""
    dialect = sniff(source, name, delimiter)
    _require_narrow(source, name, dialect)
    dialect = replace(dialect, header=has_numbered_names(source, dialect) if has_header is None else has_header)
    header = read_header(source, dialect)
    require_width(len(header.names), name)
    require_line_ends(source, name, dialect)
    require_filled(source, name, dialect, len(header.names))
    return dialect, header


def _require_narrow(source: Path | bytes, name: str, dialect: Dialect) -> None:
    """Refuse a first line of millions of fields by its beginning: taken apart, it would take many times the file."""
    start = beginning(source, FIRST_LINE)
    if len(start) < FIRST_LINE or b"\n" in start or b'"' in start:
        return
    if start.decode(dialect.encoding, errors="replace").count(dialect.separator) >= MAX_COLUMNS:
        raise TableError(
            f"{name}: {dialect.first_line} has more fields than the {MAX_COLUMNS:,} columns that are supported."
        )


def short_notes(source: Path | bytes, dialect: Dialect) -> list[Note]:
    """Lines with too few fields. To find them takes longer than reading, so only small files are searched."""
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    short = short_lines(source, dialect) if size <= CHECKED_BYTES else None
    return [] if short is None else [short]


def header_notes(header: Header, numbers: Sequence[str], text_columns: Sequence[str]) -> list[Note]:
    """Notes on the names; ``numbers`` are the columns that turned out to be numeric."""
    is_data = header.may_be_data and set(header.names) <= {*numbers, *text_columns}
    return [*header.notes, *([Note("header_like_data")] if is_data else [])]


def raise_parse_error(source: Path | bytes, name: str, dialect: Dialect, error: Exception) -> NoReturn:
    """The line that cannot be read, or what the reader says where none is found."""
    fault = broken_line(source, dialect)
    if fault is None:
        raise error
    raise TableError(f"{name}: {fault}.") from error


def _read_named(
    pl: Any, source: Path | bytes, dialect: Dialect, header: Header, text_columns: Sequence[str]
) -> tuple[Any, list[str], int]:
    """The same as :func:`_read_typed`, under the names of the header, and how many cells lost an apostrophe."""
    handed = [header.handed(column) for column in text_columns]
    frame, zeros = _read_typed(pl, *under_names(source, dialect, header), handed)
    frame.columns = [header.own(column) for column in frame.columns]
    frame, n_restored = restored(pl, frame) if header.is_own else (frame, 0)
    return frame, [header.own(column) for column in zeros], n_restored


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
        _require_parsing(error)
        try:
            frame = _read_csv(pl, source, dialect, types)
        except pl.exceptions.ComputeError as again:
            # Digits of other scripts: the reader takes them for numbers and then cannot read them.
            _require_parsing(again)
            floats = [name for name, dtype in known.items() if dtype == pl.Float64]
            text = {name: pl.String for name, dtype in first.items() if dtype != pl.Boolean}
            frame = _read_csv(pl, source, dialect, text)
            frame = frame.with_columns([first_type(pl, frame[name], [pl.Float64]) for name in floats])
    whole = [name for name in types if name not in text_columns]
    if not whole:
        return frame, []
    zeros = [name for name in whole if has_zeros(frame[name])]
    numbers = [first_type(pl, frame[name], [pl.Int64, pl.Float64]) for name in whole if name not in zeros]
    return frame.with_columns(numbers), zeros


def _require_parsing(error: Exception) -> None:
    """Only cells of another type than was expected are worth another try."""
    if "parse" not in str(error):
        raise error


def first_types(pl: Any, source: Any, dialect: Dialect) -> dict[str, Any]:
    """What the first rows say about the columns. The reader looks at some rows behind these too, which may be of other types."""
    return dict(_read_csv(pl, source, dialect, {}, HEAD_ROWS, infer=HEAD_ROWS, passes_over=True).schema)


def encoding_notes(dialect: Dialect) -> list[Note]:
    return [] if dialect.encoding == "utf-8" else [Note("encoding", value=dialect.encoding)]


def zeros_notes(columns: Sequence[str]) -> list[Note]:
    return [Note("leading_zeros", column) for column in columns]


def restored_notes(header: Header, n_cells: int) -> list[Note]:
    """A note where text of a file of scores differs from what the file holds."""
    n = n_cells + header.n_restored
    return [Note("apostrophes_removed", count=n)] if n else []


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
