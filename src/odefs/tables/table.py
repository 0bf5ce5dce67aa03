"""Tables whose rows can be read again: in memory, or in parquet files of any size.

Whether a table is in memory is one of its properties. All code reads rows through
:meth:`Table.batches` and :meth:`Table.take`; a table in memory is a single batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import narwhals as nw
import numpy as np

from odefs._known_options import no_column
from odefs.engines.other_arrays import local_table
from odefs.engines.row_blocks import rows_at_once
from odefs.exceptions import TableError
from odefs.system.atomic_write import error_number
from odefs.tables.error_messages import unreadable
from odefs.tables.frames.columns import Column, Columns
from odefs.tables.frames.common_types import as_schema, common_schema
from odefs.tables.frames.convert import checked_frame, columns_of, frame_names

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

BATCH_BYTES = 256 * 2**20
"""Memory limit for a batch of rows with long texts."""


class Table(ABC):
    """Rows under named columns, read in batches of native frames (polars, pyarrow, pandas)."""

    line_column: str | None
    """An extra column with the line of each row, for tables read from text."""
    is_in_memory: bool

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns, without :attr:`line_column`."""

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @abstractmethod
    def batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Any]]:
        """Yield frames with at least the named columns, and the number of their first row.

        Batches are shorter if rows will be encoded into ``width`` columns.
        """

    @abstractmethod
    def take(self, numbers: np.ndarray, names: Sequence[str]) -> Any:
        """Return a frame of the rows with the given numbers, which are ascending."""

    @abstractmethod
    def column_batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Columns]]:
        """Yield the batches as columns of numbers, times and categories."""

    @abstractmethod
    def column_rows(self, numbers: np.ndarray, names: Sequence[str]) -> Columns:
        """Return such columns for the rows with the given numbers, which are ascending."""

    def require_columns(self, names: Sequence[str]) -> None:
        """Raise if a column does not exist."""
        for name in names:
            if name not in self.names:
                raise TableError(no_column(name, self.names))


@dataclass(frozen=True, eq=False)
class HeldTable(Table):
    """A data frame in memory, or columns that were read from an array."""

    frame: Any
    line_column: str | None = None
    _converted: dict[str, Column] = field(default_factory=dict, repr=False)
    is_in_memory = True

    @cached_property
    def names(self) -> list[str]:
        given = self.frame.names if isinstance(self.frame, Columns) else frame_names(self.frame)
        return [name for name in given or [] if name != self.line_column]

    @property
    def n_rows(self) -> int:
        return self.frame.n_rows if isinstance(self.frame, Columns) else len(self.frame)

    def batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Any]]:
        yield 0, self.frame

    def take(self, numbers: np.ndarray, names: Sequence[str]) -> Any:
        return nw.from_native(self.frame, eager_only=True)[numbers].to_native()

    def column_batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Columns]]:
        yield 0, self.columns(names)

    def column_rows(self, numbers: np.ndarray, names: Sequence[str]) -> Columns:
        found = self.columns(names)
        # Compact, since the same rows of a parquet file have only the categories that occur there.
        return found if numbers.size == self.n_rows else found.take(numbers).compact()

    def columns(self, names: Sequence[str]) -> Columns:
        """Return columns of all rows; each is converted only once."""
        missing = frozenset(names) - self._converted.keys()
        if missing:
            read = columns_of(self.frame, missing.__contains__)
            self._converted.update({name: read[name] for name in missing})
        return Columns(tuple(self._converted[name] for name in names), self.n_rows)


def duration_names(table: Table) -> list[str]:
    """Return the columns of a data frame that hold durations, which are read as seconds."""
    if not isinstance(table, HeldTable) or isinstance(table.frame, Columns):
        return []
    schema = nw.from_native(table.frame, eager_only=True).schema
    return [str(name) for name, dtype in schema.items() if dtype == nw.Duration]


def table_of(frame: object) -> Table:
    """Make a table of a data frame or a numeric matrix; tables are returned unchanged."""
    if isinstance(frame, Table):
        return frame
    frame = local_table(frame)
    if isinstance(frame, np.ndarray | Columns):
        columns = columns_of(frame)
        return HeldTable(columns, _converted={column.name: column for column in columns})
    checked_frame(frame)
    return HeldTable(frame)


@dataclass(frozen=True, eq=False)
class ParquetTable(Table):
    """Parquet files with the same columns, cast to common types."""

    files: tuple[Path | bytes, ...]
    """Paths, or contents of files."""
    line_column: str | None = None
    is_in_memory = False

    @cached_property
    def schema(self) -> "pa.Schema":
        import pyarrow.parquet as pq

        schemas = []
        for file in self.files:
            with _opened(file) as opened:
                found = pq.read_schema(opened)
            if len(set(found.names)) < len(found.names):
                twice = next(name for name in found.names if found.names.count(name) > 1)
                raise TableError(f"{_name(file)}: two columns are called {twice!r}: rename one.")
            schemas.append(found)
        return common_schema([Path(_name(file)) for file in self.files], schemas)

    @property
    def names(self) -> list[str]:
        return [name for name in self.schema.names if name != self.line_column]

    @cached_property
    def n_rows(self) -> int:
        import pyarrow.parquet as pq

        n_rows = 0
        for file in self.files:
            with _opened(file) as opened:
                n_rows += pq.read_metadata(opened).num_rows
        return n_rows

    def batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        start = 0
        schema = pa.schema([self.schema.field(name) for name in names])
        height = rows_at_once(max(width, len(names)))
        for file in self.files:
            # With ``pre_buffer``, the default, Arrow keeps what it has read of earlier row groups:
            # a file of 64 MB took 85 MB instead of 7 MB.
            with _opened(file) as source, pq.ParquetFile(source, pre_buffer=False) as opened:
                height = min(height, _rows_within_budget(opened.metadata))
                for batch in opened.iter_batches(batch_size=height, columns=list(names)):
                    if batch.num_rows:
                        part = pa.Table.from_batches([batch]).select(list(names))
                        yield start, as_schema(part, schema)
                        start += batch.num_rows

    def take(self, numbers: np.ndarray, names: Sequence[str]) -> "pa.Table":
        import pyarrow as pa

        found = []
        for start, part in self.batches(names):
            # Rows at the start of a table are taken without reading the rest.
            if start > numbers[-1]:
                break
            first, last = np.searchsorted(numbers, (start, start + part.num_rows))
            if last > first:
                found.append(part.take(pa.array(numbers[first:last] - start)))
        return pa.concat_tables(found).combine_chunks()

    def column_batches(self, names: Sequence[str], width: int = 0) -> Iterator[tuple[int, Columns]]:
        for start, frame in self.batches(names, width):
            yield start, columns_of(frame)

    def column_rows(self, numbers: np.ndarray, names: Sequence[str]) -> Columns:
        return columns_of(self.take(numbers, names))

    def load(self) -> HeldTable:
        """Read the table into memory."""
        import pyarrow as pa

        parts = [part for _, part in self.batches(self.schema.names)]
        whole = pa.concat_tables(parts) if parts else self.schema.empty_table()
        return HeldTable(whole, self.line_column)


def _rows_within_budget(metadata: "pq.FileMetaData") -> int:
    """Return how many rows of a parquet file fit into ``BATCH_BYTES`` when decompressed."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    # By the row group with the longest rows: others may have short ones.
    row = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return max(1, BATCH_BYTES // max(1, row))


def _name(file: Path | bytes) -> str:
    return "standard input" if isinstance(file, bytes) else str(file)


@contextmanager
def _opened(file: Path | bytes) -> Iterator[BinaryIO]:
    """Open a file and name it in errors. Arrow would assume UTF-8 names, and take some for URLs."""
    import pyarrow as pa

    with BytesIO(file) if isinstance(file, bytes) else open(file, "rb") as opened:
        try:
            yield opened
        except (pa.ArrowException, OSError) as error:
            if error_number(error) is not None:
                raise  # an error of the system, not of the file's content
            raise TableError(unreadable(_name(file), error)) from error
