"""Files that are too large to be read at once, turned into parquet a part at a time, so that they can be read in blocks.

Arrow and ndjson go through polars' streaming. Of delimited text every cell is first kept as text, for what a column holds is only known once all rows have been seen
(:mod:`odefs.tables.readers.text_types`): a code such as 00123 may stand at the end of the file.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odefs.exceptions import TableError
from odefs.system.atomic_write import NUMBERS_OF_WRITING, error_number
from odefs.tables.notes import Note
from odefs.tables.readers.dialect import Dialect, opened
from odefs.tables.readers.file_names import path_for_scans, readable
from odefs.tables.readers.gzip_files import unpack_to
from odefs.tables.readers.header import Header, copied_under_names, read_header
from odefs.tables.readers.ndjson import lines_schema
from odefs.tables.readers.open import ARROW, LINES, TEXT, ending_of, first_line
from odefs.tables.readers.text import (
    FALLBACK_ENCODING,
    NULLS,
    encoding_notes,
    first_types,
    header_notes,
    raise_parse_error,
    restored_notes,
    short_notes,
    sniff_checked,
    zeros_notes,
)
from odefs.tables.readers.text_types import TextTypes
from odefs.tables.writers.formulas import restored

CELLS = 2**20
"""Cells of a row group, about."""
COPIED = 2**20
LINE = "\x1fline"
"""Column of the parquet file with the line that each row begins in; no text file has such a name."""


@dataclass(frozen=True)
class Spooled:
    """A parquet file with the same table, and notes on the reading."""

    path: Path
    has_lines: bool = False
    notes: tuple[Note, ...] = ()
    has_header: bool = True


def spool_to_parquet(
    path: Path,
    folder: Path,
    text_columns: Sequence[str] = (),
    delimiter: str | None = None,
    has_header: bool | None = True,
) -> Spooled:
    """Write the file's table to a parquet file in ``folder``; ``has_header`` is what ``read_table`` calls so."""
    import polars as pl

    ending = ending_of(path)
    try:
        if ending in TEXT:
            return _spool_text(pl, path, folder, text_columns, delimiter, has_header)
        target = folder / "table.parquet"
        if ending in ARROW:
            _sink(pl.scan_ipc(path_for_scans(path, folder)), target)
        elif ending in LINES:
            source = path_for_scans(path, folder)
            schema = lines_schema(pl, source, readable(path.name), path)
            _sink(pl.scan_ndjson(source, schema=schema), target)
        else:
            raise TableError(
                f"{path}: the file is too large to be read at once, and in parts only parquet, csv, arrow and ndjson can be read: "
                "convert it, or raise ODEFS_MEMORY."
            )
        return Spooled(target)
    except (OSError, pl.exceptions.PolarsError) as error:
        number = error_number(error)
        if number is not None and number in NUMBERS_OF_WRITING:
            # Another folder for work in progress helps against these.
            raise TableError(
                f"{path}: the file is too large to be read at once, and cannot be turned into parquet in {folder.parent} ({os.strerror(number)}); "
                "TMPDIR names another folder."
            ) from error
        reason = first_line(error) if number is None else f"cannot be read ({os.strerror(number)})"
        raise TableError(f"{path}: {reason}.") from error


def _sink(lazy: Any, target: Path) -> None:
    schema = lazy.collect_schema()
    wide = [k for k, dtype in enumerate(schema.dtypes()) if str(dtype) in ("Int128", "UInt128")]
    if wide:
        lazy = _narrowed(lazy, wide, schema.names())
    lazy.sink_parquet(target, row_group_size=_height(len(schema)))


def _narrowed(lazy: Any, wide: Sequence[int], names: Sequence[str]) -> Any:
    """Whole numbers of 128 bits, which Arrow does not know, as those of 64 where they fit, as most do, as decimals where not, and beyond those as text."""
    import polars as pl

    bounds = lazy.select([getattr(pl.nth(k), of)().alias(f"{of} {k}") for k in wide for of in ("min", "max")])
    found = bounds.collect(engine="streaming").row(0, named=True)
    casts = []
    for k in wide:
        low, high = (found[f"{of} {k}"] or 0 for of in ("min", "max"))
        kind: Any = pl.UInt64 if low >= 0 and high < 2**64 else pl.Decimal(38, 0)
        kind = kind if max(-low, high) < 10**38 else pl.String
        casts.append(pl.nth(k).cast(kind).alias(names[k]))
    return lazy.with_columns(casts)


def _height(width: int) -> int:
    """Rows of a row group."""
    return max(1024, min(2**17, CELLS // max(1, width)))


def _spool_text(
    pl: Any, path: Path, folder: Path, text_columns: Sequence[str], delimiter: str | None, has_header: bool | None
) -> Spooled:
    given, name = path, readable(path.name)
    path = path_for_scans(unpack_to(given, name, folder / "unpacked.txt"), folder)
    dialect, header = sniff_checked(path, name, delimiter, has_header)
    notes = encoding_notes(dialect)
    cells = folder / "cells.parquet"
    source = _plain(path, dialect, header, folder)
    try:
        _sink_cells(pl, source, dialect, cells)
    except pl.exceptions.ComputeError as error:
        if "utf-8" not in str(error) or dialect.encoding != "utf-8":
            raise_parse_error(path, name, dialect, error)
        dialect = replace(dialect, encoding=FALLBACK_ENCODING)
        header = read_header(path, dialect)
        notes.append(Note("not_utf8", value=FALLBACK_ENCODING))
        source = _plain(path, dialect, header, folder)
        try:
            _sink_cells(pl, source, dialect, cells)
        except pl.exceptions.ComputeError as again:
            raise_parse_error(path, name, dialect, again)
    short = short_notes(path, dialect)
    handed = [header.handed(column) for column in text_columns]
    types = TextTypes(pl, first_types(pl, source, Dialect(dialect.separator, "utf-8")), handed)
    for copy in {source, path} - {given}:
        copy.unlink()
    for frame in _frames(pl, cells):
        types.look_at(frame)
    target = folder / "table.parquet"
    n_restored = _write_typed(pl, cells, types, target, header)
    cells.unlink()
    numbers, zeros = ([header.own(column) for column in columns] for columns in (types.numbers, types.zeros))
    notes += [*header_notes(header, numbers, text_columns), *zeros_notes(zeros)]
    notes += [*restored_notes(header, n_restored), *short]
    return Spooled(target, True, tuple(notes), dialect.header)


def _plain(path: Path, dialect: Dialect, header: Header, folder: Path) -> Path:
    """The file, or a copy of it in UTF-8 and under names that differ."""
    copy = folder / "plain.csv"
    if dialect.encoding == "utf-8":
        return copied_under_names(path, copy, dialect, header)
    with opened(path, dialect) as text, open(copy, "w", encoding="utf-8", newline="") as out:
        shutil.copyfileobj(text, out, COPIED)
    named = copied_under_names(copy, folder / "named.csv", replace(dialect, encoding="utf-8"), header)
    return copy if named == copy else named.replace(copy)


def _sink_cells(pl: Any, source: Path, dialect: Dialect, target: Path) -> None:
    _sink(pl.scan_csv(source, separator=dialect.separator, null_values=NULLS, infer_schema=False), target)


def _frames(pl: Any, cells: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(cells, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=_height(file.metadata.num_columns)):
            frame: Any = pl.from_arrow(pa.Table.from_batches([batch]))
            # polars gives a column without a name one of its own.
            frame.columns = batch.schema.names
            yield frame


def _write_typed(pl: Any, cells: Path, types: TextTypes, target: Path, header: Header) -> int:
    """The rows with their names, types and lines; blank lines are left out, quoted line breaks counted.

    Returns how many cells lost an apostrophe.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None
    line, n_restored = header.line, 0
    try:
        for frame in _frames(pl, cells):
            typed = types.applied(frame)
            typed, n_changed = restored(pl, typed) if header.is_own else (typed, 0)
            n_restored += n_changed
            text = [k for k, dtype in enumerate(typed.dtypes) if dtype == pl.String]
            heights = pl.sum_horizontal(
                [
                    pl.repeat(1, pl.len(), dtype=pl.Int64),
                    *(pl.nth(k).str.count_matches("\n", literal=True) for k in text),
                ]
            )
            after = line + typed.select(heights.cum_sum()).to_series()
            typed = typed.with_columns(after.shift(1, fill_value=line).alias(LINE))
            line = int(after[-1])
            if frame.width > 1:
                typed = typed.filter(~pl.all_horizontal(pl.all().exclude(LINE).is_null()))
            rows = typed.to_arrow()
            rows = rows.rename_columns([header.own(column) for column in rows.column_names])
            if writer is None:
                writer = pq.ParquetWriter(target, rows.schema)
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        # A header alone.
        fields = [field.with_name(header.own(field.name)) for field in pq.read_schema(cells)]
        pq.write_table(pa.schema([*fields, pa.field(LINE, pa.int64())]).empty_table(), target)
    return n_restored
