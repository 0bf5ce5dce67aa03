"""A table in parquet files that is read a batch at a time: its rows by number, and statistics over all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from odefs.engines.blocks import rows_at_once
from odefs.tables.columns import TableError

MANY_VALUES = 20_000
"""Distinct values of a text column that are counted; one with more is judged by the sample."""


@dataclass
class ColumnFacts:
    """What is known of a column once all rows have been seen: exact, whatever the sample was."""

    missing: int = 0
    low: Any = None
    high: Any = None
    rows: dict[str, int] = field(default_factory=dict)
    """Where the lowest and the highest value are."""
    counts: Counter[str] | None = field(default_factory=Counter)
    """How often each text occurs; ``None`` where there are too many."""


@dataclass(frozen=True)
class LargeTable:
    """Parquet files with the same columns, in order."""

    files: tuple[Path, ...]
    line_column: str | None = None
    """A column beside those of the table with the line of each row, where the table was text."""

    @cached_property
    def schema(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        first = pq.read_schema(self.files[0])
        for file in self.files[1:]:
            _require_same(file, pq.read_schema(file), self.files[0], first)
        # Files of one table may differ in what their columns are said to allow, and in how they hold their values.
        return pa.schema([field.with_nullable(True).with_type(_plain(field.type)) for field in first])

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
                for batch in opened.iter_batches(batch_size=height, columns=list(columns)):
                    if batch.num_rows:
                        part = pa.Table.from_batches([batch]).select(list(columns))
                        yield start, part if part.schema.equals(schema) else part.cast(schema)
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


def other_type(file: Path, column: str, first: Path) -> str:
    """What is said of a file whose column is of another type than in the first file."""
    return f"{file}: its column {column!r} is of another type than in {first.name}: write both with one type."


def _require_same(file: Path, here: Any, first: Path, there: Any) -> None:
    """Refuse a file with other columns or types than the first; how long texts may be, and whether cells may lack, is no part of a type."""
    if here.names != there.names:
        raise TableError(f"{file}: its columns are not those of {first.name}.")
    for one, other in zip(here, there, strict=True):
        if not _same_type(one.type, other.type):
            raise TableError(other_type(file, one.name, first))


def _same_type(one: Any, other: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(one) != pa.types.is_dictionary(other):
        return False
    long = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    one, other = _plain(one), _plain(other)
    return bool(long.get(one, one) == long.get(other, other))


def _plain(kind: Any) -> Any:
    """A column's type without the way in which a file holds it.

    The codes of a dictionary may be too small for the values of another file; views have no kernels; UUIDs are bytes, as the reader in memory has them.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType) and pa.types.is_fixed_size_binary(kind.storage_type):
        return kind.storage_type
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


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
    _look_at_text(facts, column, start)


def _look_at_text(facts: ColumnFacts, column: Any, start: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        if facts.counts is not None:
            for entry in pc.value_counts(column.drop_null()).to_pylist():
                facts.counts[entry["values"]] += entry["counts"]
            if len(facts.counts) > MANY_VALUES:
                facts.counts = None
    else:
        facts.counts = None
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
