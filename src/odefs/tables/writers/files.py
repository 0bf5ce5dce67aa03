"""Result writer: chooses the format by suffix, and writes atomically.

A file gets its final name when it is complete, so an interrupted run leaves no partial file.
"""

import gzip
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from odefs.exceptions import TableError
from odefs.system.atomic_write import atomic_write, error_number
from odefs.tables.formulas import defused
from odefs.tables.frames.common_types import MOST_DIGITS
from odefs.tables.polars_names import nameless
from odefs.tables.records.notes import Note
from odefs.tables.writers.excel import write_sheet

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

WRITABLE = (
    ".csv",
    ".tsv",
    ".csv.gz",
    ".parquet",
    ".arrow",
    ".feather",
    ".ndjson",
    ".jsonl",
    ".xlsx",
)
DELIMITED = (".csv", ".tsv", ".csv.gz")
SPREADSHEET = (*DELIMITED, ".xlsx")


def is_spreadsheet(path: Path | None) -> bool:
    """Whether people read the file as a table: in a spreadsheet, or on the screen (``None``)."""
    return path is None or path.name.lower().endswith(SPREADSHEET)


def check_target(path: Path, force: bool, suffixes: tuple[str, ...] = ()) -> None:
    """Raise if the file cannot be written, before any work is done."""
    require_nameable(path)
    if suffixes and not path.name.lower().endswith(suffixes):
        raise TableError(f"{path}: the name must end in one of {', '.join(suffixes)}.")
    if path.is_dir():
        raise TableError(f"{path}: this is a folder.")
    if path.exists() and not path.is_file():
        raise TableError(f"{path}: this is not a regular file.")
    if path.exists() and not force:
        raise TableError(f"{path}: the file exists; --force replaces it.")
    if not path.parent.is_dir():
        raise TableError(f"{path}: cannot be written (there is no folder {path.parent}).")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"{path}: cannot be written (the folder {path.parent} is read-only).")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``, which replaces ``path`` if the block succeeds."""
    try:
        with atomic_write(path) as partial:
            yield partial
    except OSError as error:
        if error.filename != os.fspath(path):
            raise  # of another file, for instance of the input
        raise TableError(f"{path}: cannot be written ({error.strerror or error}).") from error


def write_table(
    path: Path | None,
    batches: Iterable[Mapping[str, object]],
    excel: bool = False,
    raw: bool = False,
) -> tuple[Note, ...]:
    """Write batches of columns with the same names; ``None`` means csv to standard output.

    ``excel`` writes a byte order mark to csv; ``raw`` leaves text in csv unchanged, even if a
    spreadsheet would run it as a formula. Return notes on what the file could not hold.
    """
    frames = (_frame(columns) for columns in batches)
    if path is None:
        _write_text(sys.stdout.buffer, ".csv", frames, excel, raw)
        sys.stdout.buffer.flush()
        return ()
    suffix = path.name.lower()
    # Opened here: polars assumes that file names are UTF-8.
    with replacing(path) as partial, _system_errors(), open(partial, "wb") as file:
        if suffix.endswith(".xlsx"):
            import polars as pl

            # All at once, since a table larger than memory is refused (``refuse_large``). Cells of
            # a workbook have types: text is never run as a formula.
            parts = list(frames)
            return write_sheet(_flat(pl.concat(parts) if parts else pl.DataFrame()), file, path)
        if suffix.endswith((".parquet", ".arrow", ".feather")):
            _write_columns(file, path, frames)
        elif suffix.endswith(".gz"):
            # Without name and time, so that the same table gives the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
                _write_text(compressed, suffix, frames, excel, raw)
        else:
            _write_text(file, suffix, frames, excel, raw)
    return ()


def _write_columns(file: BinaryIO, path: Path, frames: Iterable["pl.DataFrame"]) -> None:
    """Write parquet or arrow with the schema of the first batch."""
    import pyarrow.ipc
    import pyarrow.parquet as pq

    make = pq.ParquetWriter if path.suffix.lower() == ".parquet" else pyarrow.ipc.new_file
    writer: Any = None
    try:
        for frame in frames:
            wide = [series.name for series in frame if "Int128" in repr(series.dtype)]
            if wide:
                raise TableError(
                    f"{path}: column {wide[0]!r} holds integers of 128 bits, which Arrow and "
                    "parquet lack: write csv, ndjson or xlsx, or convert the column to text."
                )
            rows = frame.to_arrow()
            writer = make(file, rows.schema) if writer is None else writer
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()


def _write_text(
    out: BinaryIO | gzip.GzipFile,
    suffix: str,
    frames: Iterable["pl.DataFrame"],
    excel: bool,
    raw: bool,
) -> None:
    """Write csv, tsv or ndjson; the header precedes the first batch."""
    is_first = True
    for frame in frames:
        content = io.BytesIO()
        if suffix.endswith((".ndjson", ".jsonl")):
            json_frame(frame).write_ndjson(content)
        else:
            separator = "\t" if suffix.endswith((".tsv", ".tsv.gz")) else ","
            spreadsheet_frame(frame, raw).write_csv(
                content,
                include_bom=excel and is_first,
                include_header=is_first,
                separator=separator,
            )
        # Written here: polars would wrap the system's errors in its own.
        out.write(content.getbuffer())
        is_first = False


@contextmanager
def _system_errors() -> Iterator[None]:
    """Turn polars errors that were caused by the system back into ``OSError``."""
    import polars as pl

    try:
        yield
    except pl.exceptions.PolarsError as error:
        number = error_number(error)
        if number is None:
            raise
        raise OSError(number, os.strerror(number)) from error


def _frame(columns: Mapping[str, Any]) -> "pl.DataFrame":
    """Make a data frame; what cannot be encoded becomes a replacement character."""
    import polars as pl

    columns = {name: _without_wide_decimals(cells) for name, cells in columns.items()}
    try:
        return pl.DataFrame(columns, strict=False)
    except UnicodeEncodeError:
        # Unpaired surrogates, which Python strings may contain but files may not.
        clean: dict[str, Any] = {}
        for name, cells in columns.items():
            free = _without_surrogates(name)
            while free in clean:
                free = f"{free}\ufffd"
            clean[free] = [
                _without_surrogates(cell) if isinstance(cell, str) else cell for cell in cells
            ]
        return pl.DataFrame(clean, strict=False)


def _without_wide_decimals(cells: Any) -> Any:
    """Cast Arrow's 256-bit decimals, also nested ones, which polars lacks."""
    kind = getattr(cells, "type", None)
    # Only Arrow's types name them, and only a few columns pay for the comparison of types.
    return cells.cast(_held_type(kind)) if "decimal256" in str(kind) else cells


def _held_type(kind: "pa.DataType") -> "pa.DataType":
    """Return a decimal of 128 bits if it has enough digits for all values, otherwise text.

    The type does not depend on the values, because all batches of a file have one schema.
    """
    import pyarrow as pa

    if pa.types.is_decimal256(kind):
        is_short = kind.precision <= MOST_DIGITS
        return pa.decimal128(kind.precision, kind.scale) if is_short else pa.string()
    if pa.types.is_map(kind):
        return pa.map_(_held_type(kind.key_type), _held_type(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_held_type(field.type)) for field in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_held_type(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_held_type(kind.value_type))
    return pa.list_(_held_type(kind.value_type)) if pa.types.is_list(kind) else kind


def _without_surrogates(text: str) -> str:
    # Through UTF-16, in which a pair of surrogates becomes the character that it stands for.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def spreadsheet_frame(frame: "pl.DataFrame", raw: bool) -> "pl.DataFrame":
    """Convert cells for csv; unless ``raw``, escape text that would be a formula."""
    frame = _flat(frame)
    return frame if raw else defused(frame)


def _flat(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Convert lists and structs to JSON text, and other types that csv lacks to plain text."""
    import polars as pl

    found = []
    for series in frame:
        if series.dtype.is_nested():
            found.append(_as_json(series))
        elif series.dtype in (pl.Categorical, pl.Enum):
            found.append(series.cast(pl.String))
        elif series.dtype == pl.Duration:
            found.append(nameless(series).dt.to_string("iso").alias(series.name))
    return json_frame(frame.with_columns(found))


def _as_json(series: "pl.Series") -> "pl.Series":
    import polars as pl

    cells = [
        None if cell is None else json.dumps(cell, ensure_ascii=False, default=str)
        for cell in series.to_list()
    ]
    return pl.Series(series.name, cells, dtype=pl.String)


def json_frame(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Convert bytes and Python objects, which JSON lacks, to text."""
    import polars as pl

    found = []
    for series in frame:
        if series.dtype.is_nested() and "Binary" in repr(series.dtype):
            found.append(_as_json(series))
        elif series.dtype == pl.Binary:
            found.append(nameless(series).bin.encode("base64").alias(series.name))
        elif series.dtype == pl.Object:
            cells = [None if cell is None else str(cell) for cell in series.to_list()]
            found.append(pl.Series(series.name, cells, dtype=pl.String))
    return frame.with_columns(found)


def write_text(path: Path, content: str) -> None:
    """Write a report."""
    with replacing(path) as partial:
        partial.write_text(content, encoding="utf-8", newline="\n")


DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?", re.IGNORECASE | re.DOTALL
)
CHARACTERS = re.compile(r'[<>:"|?*\x00-\x1f]')


def require_nameable(path: Path) -> None:
    """Raise if Windows would shorten the name, or take it for a device or an alternate stream."""
    reason = _reserved(path.name) if sys.platform == "win32" else None
    if reason:
        raise TableError(f"{path}: cannot be written ({reason} on Windows); choose another name.")


def _reserved(name: str) -> str | None:
    if DEVICE.fullmatch(name):
        return f"{name.partition('.')[0].strip()} is the name of a device"
    if found := CHARACTERS.search(name):
        return f"file names cannot contain {found[0]!r}"
    if name.endswith((".", " ")):
        return "file names cannot end in a dot or a space"
    return None
