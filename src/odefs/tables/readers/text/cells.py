"""Text cells of a delimited file, held in memory or in a parquet file.

Every cell is text at first: the type of a column is known only after all rows have been seen
(:mod:`odefs.tables.readers.text.types`), because a code such as 00123 may be in the last line.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from odefs.tables.readers.columnar.to_parquet import row_group_rows, sink_parquet
from odefs.tables.readers.text.dialect import Dialect, opened
from odefs.tables.readers.text.header import Header, copied_under_names, under_names

if TYPE_CHECKING:
    import polars as pl

# polars compares cells with these as they are, so every spelling is listed.
NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "-", "?", "#N/A"]
HEAD_ROWS = 10_000
COPIED_BYTES = 2**20


class TextCells(ABC):
    """Frames of text columns, under the names that polars was given."""

    @abstractmethod
    def frames(self) -> Iterator["pl.DataFrame"]:
        """All rows, in order."""

    @abstractmethod
    def first_types(self) -> dict[str, "pl.DataType"]:
        """Return the column types that polars infers from the first rows."""


@dataclass(frozen=True, eq=False)
class HeldCells(TextCells):
    """All cells in memory."""

    source: Path | bytes
    dialect: Dialect
    frame: "pl.DataFrame"

    @classmethod
    def read(cls, source: Path | bytes, dialect: Dialect, header: Header) -> "HeldCells":
        source, dialect = under_names(source, dialect, header)
        return cls(source, dialect, _read_csv(source, dialect))

    def frames(self) -> Iterator["pl.DataFrame"]:
        yield self.frame

    def first_types(self) -> dict[str, "pl.DataType"]:
        return _first_types(self.source, self.dialect)


@dataclass(frozen=True, eq=False)
class FiledCells(TextCells):
    """Cells in a parquet file, read one row group at a time."""

    path: Path
    types: dict[str, "pl.DataType"]

    @classmethod
    def read(cls, source: Path, dialect: Dialect, header: Header, folder: Path) -> "FiledCells":
        import polars as pl

        plain, path = _plain_copy(source, dialect, header, folder), folder / "cells.parquet"
        # polars' streaming reader supports only UTF-8.
        dialect = replace(dialect, encoding="utf-8")
        rows = pl.scan_csv(
            plain, separator=dialect.delimiter, null_values=NULLS, infer_schema=False
        )
        sink_parquet(rows, path)
        # While the copy exists: the parquet file has text only.
        types = _first_types(plain, dialect)
        if plain != source:
            plain.unlink()
        return cls(path, types)

    def frames(self) -> Iterator["pl.DataFrame"]:
        import polars as pl
        import pyarrow as pa
        import pyarrow.parquet as pq

        # With ``pre_buffer``, pyarrow's default, the whole file would end up in memory.
        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=row_group_rows(file.metadata.num_columns)):
                frame = pl.from_arrow(pa.Table.from_batches([batch]))
                assert isinstance(frame, pl.DataFrame)
                # polars renames columns with an empty name.
                frame.columns = batch.schema.names
                yield frame
            # A header without rows has no batch, but the table still has columns.
            if not file.metadata.num_rows:
                yield pl.DataFrame(schema=dict.fromkeys(file.schema_arrow.names, pl.String))

    def first_types(self) -> dict[str, "pl.DataType"]:
        return self.types


def _plain_copy(path: Path, dialect: Dialect, header: Header, folder: Path) -> Path:
    """Return the file, or a copy in UTF-8 with unique column names."""
    copy = folder / "plain.csv"
    if dialect.encoding == "utf-8":
        return copied_under_names(path, copy, dialect, header)
    with opened(path, dialect) as text, open(copy, "w", encoding="utf-8", newline="") as out:
        shutil.copyfileobj(text, out, COPIED_BYTES)
    utf8 = replace(dialect, encoding="utf-8")
    named = copied_under_names(copy, folder / "named.csv", utf8, header)
    return copy if named == copy else named.replace(copy)


def _first_types(source: Path | bytes, dialect: Dialect) -> dict[str, "pl.DataType"]:
    return dict(_read_csv(source, dialect, HEAD_ROWS).schema)


def _read_csv(source: Path | bytes, dialect: Dialect, n_rows: int | None = None) -> "pl.DataFrame":
    """Read all cells as text, or the first rows with the types that polars infers."""
    import polars as pl

    encoding = "utf8" if dialect.encoding == "utf-8" else dialect.encoding
    return pl.read_csv(
        source,
        separator=dialect.delimiter,
        encoding=encoding,
        null_values=NULLS,
        infer_schema=n_rows is not None,
        infer_schema_length=n_rows,
        n_rows=n_rows,
        # polars also inspects some later rows, which may have other types. Errors do not lose
        # cells: only the types of this frame are used, and every cell is checked against them.
        ignore_errors=n_rows is not None,
    )
