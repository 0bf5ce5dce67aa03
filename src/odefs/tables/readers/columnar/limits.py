"""Memory limits for parquet and arrow files, checked before they are read.

A small file may expand to gigabytes: a column may be compressed very well, or every row may refer
to one long dictionary string.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from odefs.exceptions import TableError
from odefs.tables.readers.limits import LARGEST_GROWTH, most_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

DICTIONARIES = {"RLE_DICTIONARY", "PLAIN_DICTIONARY"}
BATCH_ROWS = 65_536
NESTED_BATCH_BYTES = 2**28
"""Upper bound on a batch of nested cells, if every cell were as long as the whole dictionary."""
LONG_FIXED_CELL = 64
"""Bytes of a cell of fixed length from which on the total is checked; numbers are shorter."""


def require_modest_parquet(sources: Sequence[Path | bytes], name: str) -> None:
    """Raise if a column, or its text, takes far more memory than the size of its file suggests."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        return
    for source in sources:
        try:
            with _opened(source) as file:
                metadata = pq.read_metadata(file)
        except (OSError, ValueError):
            return  # the reader reports what is wrong
        most = most_bytes(_size(source))
        _require_modest_cells(metadata, most, name)
        _require_modest_text(source, metadata, most, name)


def _chunks(metadata: "pq.FileMetaData") -> "Iterator[pq.ColumnChunkMetaData]":
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    return (group.column(k) for group in groups for k in range(metadata.num_columns))


def _require_modest_cells(metadata: "pq.FileMetaData", most: int, name: str) -> None:
    """Raise if a chunk is too large as such, or if long cells of fixed length are."""
    for chunk in _chunks(metadata):
        if chunk.total_uncompressed_size > most:
            raise TableError(_too_much(name, f"a part of the column {chunk.path_in_schema!r}"))
    for leaf in map(metadata.schema.column, range(metadata.num_columns)):
        if leaf.length > LONG_FIXED_CELL and metadata.num_rows * leaf.length > most:
            raise TableError(_too_much(name, f"the column {leaf.path!r}"))


def _require_modest_text(
    source: Path | bytes, metadata: "pq.FileMetaData", most: int, name: str
) -> None:
    """Raise if the text of a column is too large; only columns that may be are read."""
    leaves = [metadata.schema.column(k) for k in range(metadata.num_columns)]
    # A dot does not imply nesting: it may be part of a name.
    flat = {leaf.path for leaf in leaves if leaf.name == leaf.path}
    for column, worst, largest in _dictionary_columns(metadata):
        # Only if the worst case exceeds the limit is the column read, which takes time.
        if worst > most and column in flat:
            _require_total(_from_parquet(source, column), most, name, column)
        elif worst > most:
            _require_nested_total(source, column, largest, most, name)


def _dictionary_columns(metadata: "pq.FileMetaData") -> Iterator[tuple[str, int, int]]:
    """Yield each column with dictionaries, the most its text can take, and its largest chunk.

    A dictionary may consist of a single string, repeated in every row.
    """
    worst: Counter[str] = Counter()
    largest: dict[str, int] = {}
    for chunk in _chunks(metadata):
        size, column = chunk.total_uncompressed_size, chunk.path_in_schema
        largest[column] = max(largest.get(column, 0), size)
        if chunk.physical_type == "BYTE_ARRAY" and DICTIONARIES & set(chunk.encodings):
            worst[column] += chunk.num_values * size
    return ((column, total, largest[column]) for column, total in worst.items())


def require_modest_arrow(source: Path | bytes, name: str) -> None:
    """Raise if an arrow file takes too much memory; its batches are decompressed whole."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds

        most = most_bytes(_size(source))
        with _opened(source) as file:
            table = ds.IpcFileFormat().make_fragment(file)
            n_rows, schema = table.count_rows(), table.physical_schema
        wide = next((field.name for field in schema if "decimal256" in str(field.type)), None)
        if wide is not None:
            # polars would end in a panic of its threads.
            raise TableError(
                f"{name}: the decimals of the column {wide!r} have 256 bits, which cannot be read "
                "from arrow files: write them as decimal128, or the table as parquet."
            )
        if n_rows * sum(_width(field.type) for field in schema) > most:
            raise TableError(_too_much(name, "its table"))
        for k, field in enumerate(schema):
            if pa.types.is_dictionary(field.type):
                _require_total(_from_arrow(source, k), most, name, field.name)
    except TableError:
        raise
    except (ModuleNotFoundError, OSError, ValueError):
        return  # the reader reports what is wrong


def _width(kind: "pa.DataType") -> float:
    """Lower bound on the bytes of a cell."""
    import pyarrow as pa

    return kind.bit_width / 8 if pa.types.is_primitive(kind) else 4


def _size(source: Path | bytes) -> int:
    return len(source) if isinstance(source, bytes) else source.stat().st_size


def _opened(source: Path | bytes) -> IO[bytes]:
    """Open the file here: Arrow would assume that the file name is UTF-8."""
    return BytesIO(source) if isinstance(source, bytes) else open(source, "rb")


def _from_arrow(source: Path | bytes, k: int) -> Iterator["pa.Array"]:
    import pyarrow.ipc as ipc

    with _opened(source) as file, ipc.open_file(file) as reader:
        yield from (reader.get_batch(i).column(k) for i in range(reader.num_record_batches))


def _from_parquet(source: Path | bytes, column: str) -> Iterator["pa.Array"]:
    import pyarrow.parquet as pq

    # As a dictionary: each string is decoded once, however many rows refer to it.
    with (
        _opened(source) as file,
        pq.ParquetFile(file, read_dictionary=[column], pre_buffer=False) as table,
    ):
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=[column]):
            # The field x of a struct t is selected together with a column named t.x.
            yield from (batch.column(k) for k in batch.schema.get_all_field_indices(column))


def _require_nested_total(
    source: Path | bytes, column: str, largest: int, most: int, name: str
) -> None:
    """The same for text inside lists and structures, which Arrow cannot keep as a dictionary."""
    import pyarrow.parquet as pq

    height = max(1, min(BATCH_ROWS, NESTED_BATCH_BYTES // max(1, largest)))
    total = 0
    with _opened(source) as file, pq.ParquetFile(file, pre_buffer=False) as table:
        for batch in table.iter_batches(batch_size=height, columns=[column]):
            total += batch.nbytes
            if total > most:
                raise TableError(_too_much(name, f"the text of the column {column!r}"))


def _require_total(parts: Iterator["pa.Array"], most: int, name: str, column: str) -> None:
    """Raise if the text of all rows exceeds ``most`` bytes, going by dictionary entry lengths."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for part in parts:
        if not pa.types.is_dictionary(part.type) or part.type.value_type not in (
            pa.string(),
            pa.large_string(),
            pa.binary(),
            pa.large_binary(),
        ):
            return
        lengths = pc.binary_length(part.dictionary).cast(pa.int64())
        total += pc.sum(lengths.take(part.indices)).as_py() or 0
        if total > most:
            raise TableError(_too_much(name, f"the text of the column {column!r}"))


def _too_much(name: str, what: str) -> str:
    return (
        f"{name}: {what} takes over {LARGEST_GROWTH} times the size of the file in memory: "
        "remove or shorten repeated text."
    )
