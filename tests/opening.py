"""Files opened in memory and in parts, and what is in them: the same facts in either mode."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest

from odefs.tables.readers.open import Reading, open_table
from odefs.tables.readers.options import ReadOptions
from odefs.tables.records.notes import Note

MODES = ("in memory", "in parts")
in_both_modes = pytest.mark.parametrize("mode", MODES)


@dataclass(frozen=True)
class Opened:
    """The rows as a frame of polars, the lines that they begin in, and what was said on them."""

    reading: Reading
    frame: pl.DataFrame
    lines: list[int] | None

    @property
    def columns(self) -> list[str]:
        return self.reading.table.names

    @property
    def n_rows(self) -> int:
        return self.reading.table.n_rows

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.reading.notes

    @property
    def source(self) -> tuple[str, int, str]:
        return self.reading.name, self.reading.n_bytes, self.reading.sha256


def read_in_memory(path: str | Path, **options) -> Opened:
    return _opened(path, None, options)


def read_in_parts(path: str | Path, folder: Path, **options) -> Opened:
    return _opened(path, folder, options)


def read(path: str | Path, mode: str, **options) -> Opened:
    """In either mode; files for work in progress go again."""
    if mode == "in memory":
        return read_in_memory(path, **options)
    with TemporaryDirectory() as folder:
        return read_in_parts(path, Path(folder), **options)


def _opened(path: str | Path, folder: Path | None, options: dict) -> Opened:
    reading = open_table(path, ReadOptions(**options), folder)
    table = reading.table
    assert table.is_in_memory == (folder is None)
    frame = rows_of(table)
    lines = None if table.line_column is None else frame[table.line_column].to_list()
    # By number: polars takes some names for patterns.
    return Opened(reading, frame[:, [frame.columns.index(name) for name in table.names]], lines)


def rows_of(table) -> pl.DataFrame:
    """All rows of a table, with the lines that they begin in where it has them."""
    names = table.names if table.line_column is None else [*table.names, table.line_column]
    parts = [part for _, part in table.batches(names)] or [table.schema.empty_table()]
    return pl.concat([as_polars(part) for part in parts])


def as_polars(rows) -> pl.DataFrame:
    if isinstance(rows, pl.DataFrame):
        return rows
    frame = pl.from_arrow(rows)
    frame.columns = rows.column_names  # polars gives a column without a name one of its own
    return frame
