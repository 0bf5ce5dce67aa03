"""Writing a table that comes in batches, by the file's ending, as :mod:`odefs.tables.writers.files` does for one that is in memory."""

import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from odefs.tables.writers.files import json_frame, replacing, spreadsheet_frame

Write = Callable[[Any], None]


def write_batches(
    path: Path | None, batches: Iterable[Mapping[str, Any]], excel: bool = False, raw: bool = False
) -> None:
    """Write columns of Arrow arrays, all batches with the same columns; ``None`` means csv to standard output."""
    import pyarrow as pa

    if path is None:
        with _text(sys.stdout.buffer, ".csv", excel, raw) as write:
            for columns in batches:
                write(pa.table(dict(columns)))
        sys.stdout.buffer.flush()
        return
    with replacing(path) as partial, _writer(partial, path.name.lower(), excel, raw) as write:
        for columns in batches:
            write(pa.table(dict(columns)))


@contextmanager
def _writer(partial: Path, ending: str, excel: bool, raw: bool) -> Iterator[Write]:
    # Opened here: to the libraries all names are UTF-8, and this one need not be.
    with open(partial, "wb") as file:
        if ending.endswith((".parquet", ".arrow", ".feather")):
            with _columns(file, ending) as write:
                yield write
        elif ending.endswith(".gz"):
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
                _text(packed, ending, excel, raw) as write,
            ):
                yield write
        else:
            with _text(file, ending, excel, raw) as write:
                yield write


@contextmanager
def _columns(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Parquet and arrow, whose writers learn the columns from the first batch."""
    import pyarrow.ipc
    import pyarrow.parquet as pq

    make = pq.ParquetWriter if ending.endswith(".parquet") else pyarrow.ipc.new_file
    writer: list[Any] = []

    def write(table: Any) -> None:
        if not writer:
            writer.append(make(file, table.schema))
        writer[0].write_table(table)

    try:
        yield write
    finally:
        for opened in writer:
            opened.close()


@contextmanager
def _text(out: Any, ending: str, excel: bool, raw: bool) -> Iterator[Write]:
    """csv, tsv and ndjson; the header stands before the first batch."""
    import polars as pl

    first = [True]

    def write(table: Any) -> None:
        frame: Any = pl.from_arrow(table)
        frame.columns = table.schema.names  # polars gives a column without a name one of its own
        content = io.BytesIO()
        if ending.endswith((".ndjson", ".jsonl")):
            json_frame(pl, frame).write_ndjson(content)
        else:
            separator = "\t" if ending.endswith((".tsv", ".tsv.gz")) else ","
            spreadsheet_frame(pl, frame, raw).write_csv(
                content, include_bom=excel and first[0], include_header=first[0], separator=separator
            )
        # Written here: what the system refuses, polars would tell as an error of its own, and a closed pipe as a fault.
        out.write(content.getbuffer())
        first[0] = False

    yield write
