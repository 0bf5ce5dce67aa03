"""Writing a table that comes in batches, by the file's ending, as :mod:`odefs.tables.write` does for one that is in memory."""

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odefs.tables.write import replacing, spreadsheet_frame

Write = Callable[[Any], None]


def write_batches(path: Path | None, batches: Iterable[Mapping[str, Any]], excel: bool = False) -> None:
    """Write columns of Arrow arrays, all batches with the same columns; ``None`` means csv to standard output."""
    import pyarrow as pa

    if path is None:
        with _text(sys.stdout.buffer, ".csv", excel) as write:
            for columns in batches:
                write(pa.table(dict(columns)))
        sys.stdout.buffer.flush()
        return
    with replacing(path) as partial, _writer(partial, path.name.lower(), excel) as write:
        for columns in batches:
            write(pa.table(dict(columns)))


@contextmanager
def _writer(partial: Path, ending: str, excel: bool) -> Iterator[Write]:
    if ending.endswith((".parquet", ".arrow", ".feather")):
        with _columns(partial, ending) as write:
            yield write
        return
    with open(partial, "wb") as file:
        if ending.endswith(".gz"):
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
                _text(packed, ending, excel) as write,
            ):
                yield write
        else:
            with _text(file, ending, excel) as write:
                yield write


@contextmanager
def _columns(partial: Path, ending: str) -> Iterator[Write]:
    """Parquet and arrow, whose writers learn the columns from the first batch."""
    import pyarrow.ipc
    import pyarrow.parquet as pq

    make = pq.ParquetWriter if ending.endswith(".parquet") else pyarrow.ipc.new_file
    writer: list[Any] = []

    def write(table: Any) -> None:
        if not writer:
            writer.append(make(partial, table.schema))
        writer[0].write_table(table)

    try:
        yield write
    finally:
        for opened in writer:
            opened.close()


@contextmanager
def _text(out: Any, ending: str, excel: bool) -> Iterator[Write]:
    """csv, tsv and ndjson; the header stands before the first batch."""
    import polars as pl

    first = [True]

    def write(table: Any) -> None:
        frame: Any = pl.from_arrow(table)
        if ending.endswith((".ndjson", ".jsonl")):
            frame.write_ndjson(out)
            return
        frame = spreadsheet_frame(pl, frame, excel)
        separator = "\t" if ".tsv" in ending else ","
        frame.write_csv(out, include_bom=excel and first[0], include_header=first[0], separator=separator)
        first[0] = False

    yield write
