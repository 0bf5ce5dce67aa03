"""A table in parquet files that is read a batch at a time: its rows by number, and statistics over all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from odefs.engines.row_blocks import rows_at_once
from odefs.tables.readers.common_types import as_schema, common_schema

BATCH_BYTES = 256 * 2**20
"""Rows with long texts that are in memory at a time."""


@dataclass
class ColumnFacts:
    """What is known of a column as it lies in the files once all rows have been seen."""

    missing: int = 0
    low: Any = None
    high: Any = None
    rows: dict[str, int] = field(default_factory=dict)
    """Where the lowest and the highest value are."""


@dataclass(frozen=True)
class LargeTable:
    """Parquet files with the same columns, whose types are brought together."""

    files: tuple[Path, ...]
    line_column: str | None = None
    """A column beside those of the table with the line of each row, where the table was text."""

    @cached_property
    def schema(self) -> Any:
        import pyarrow.parquet as pq

        return common_schema(self.files, [pq.read_schema(file) for file in self.files])

    @property
    def names(self) -> list[str]:
        """The table's own columns."""
        return [name for name in self.schema.names if name != self.line_column]

    @cached_property
    def n_rows(self) -> int:
        import pyarrow.parquet as pq

        return sum(pq.read_metadata(file).num_rows for file in self.files)

    def batches(self, columns: Sequence[str], width: int = 0) -> Iterator[tuple[int, Any]]:
        """Arrow tables of some rows each, with the number of the first; of fewer rows where they become ``width`` columns."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        start = 0
        schema = pa.schema([self.schema.field(name) for name in columns])
        height = rows_at_once(max(width, len(columns)))
        for file in self.files:
            with pq.ParquetFile(file, pre_buffer=False) as opened:
                height = min(height, _rows_of(opened.metadata))
                for batch in opened.iter_batches(batch_size=height, columns=list(columns)):
                    if batch.num_rows:
                        part = pa.Table.from_batches([batch]).select(list(columns))
                        yield start, as_schema(part, schema)
                        start += batch.num_rows

    def rows(self, numbers: np.ndarray, columns: Sequence[str]) -> Any:
        """The rows with the given numbers (ascending) as an Arrow table."""
        import pyarrow as pa

        found = []
        for start, part in self.batches(columns):
            first, last = np.searchsorted(numbers, (start, start + part.num_rows))
            if last > first:
                found.append(part.take(pa.array(numbers[first:last] - start)))
        return pa.concat_tables(found).combine_chunks()

    def facts(self, columns: Sequence[str]) -> dict[str, ColumnFacts]:
        """One pass over all rows."""
        facts = {name: ColumnFacts() for name in columns}
        for start, part in self.batches(columns):
            for name in columns:
                _look_at(facts[name], part.column(name).combine_chunks(), start)
        return facts


def _rows_of(metadata: Any) -> int:
    """How many rows with long texts are read at a time, going by what they take when they are unpacked."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    row = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return max(1, BATCH_BYTES // max(1, row))


def _look_at(facts: ColumnFacts, column: Any, start: int) -> None:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
        known = np.flatnonzero(np.isfinite(values))
        facts.missing += values.size - known.size
        if known.size:
            low, high = (int(known[pick]) for pick in (values[known].argmin(), values[known].argmax()))
            _extend(facts, float(values[low]), start + low, float(values[high]), start + high)
        return
    facts.missing += column.null_count
    if pa.types.is_nested(kind):
        return
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
    if pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        # Durations have no order here, and times need not be ones that Python can hold.
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    _look_at_ends(facts, column, start)


def _look_at_ends(facts: ColumnFacts, column: Any, start: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count < len(column):
        try:
            ends = pc.min_max(column)
        except pa.ArrowNotImplementedError:
            return  # a type without an order, which nothing is read from
        low, high = ends["min"], ends["max"]
        places = [start + pc.index(column, end).as_py() for end in (low, high)]
        _extend(facts, low.as_py(), places[0], high.as_py(), places[1])


def _extend(facts: ColumnFacts, low: Any, low_row: int, high: Any, high_row: int) -> None:
    if facts.low is None or low < facts.low:
        facts.low, facts.rows["low"] = low, low_row
    if facts.high is None or high > facts.high:
        facts.high, facts.rows["high"] = high, high_row
