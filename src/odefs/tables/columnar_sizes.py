"""Parquet and arrow files that ask for far more memory than their size suggests: columns that unpack into gigabytes, and texts that every row refers to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from odefs.tables.columns import TableError
from odefs.tables.proportion import LARGEST_GROWTH, most_bytes

DICTIONARIES = {"RLE_DICTIONARY", "PLAIN_DICTIONARY"}
BATCH_ROWS = 65_536


def require_modest_parquet(paths: Sequence[Path], name: str) -> None:
    """Refuse files with a column that cannot be unpacked, or text that cannot be held, in proportion to the files."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        return
    for path in paths:
        most = most_bytes(path.stat().st_size)
        try:
            with open(path, "rb") as file:
                metadata = pq.read_metadata(file)
        except (OSError, ValueError):
            return  # for the reader to tell
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        shared: dict[str, int] = {}
        for chunk in (group.column(k) for group in groups for k in range(metadata.num_columns)):
            if chunk.total_uncompressed_size > most:
                raise TableError(_too_much(name, f"a part of the column {chunk.path_in_schema!r}"))
            if chunk.physical_type == "BYTE_ARRAY" and DICTIONARIES & set(chunk.encodings):
                # The dictionary may be a single text.
                worst = chunk.num_values * chunk.total_uncompressed_size
                shared[chunk.path_in_schema] = shared.get(chunk.path_in_schema, 0) + worst
        # Nested columns are not used.
        for column in (column for column, worst in shared.items() if worst > most and "." not in column):
            _require_total(_from_parquet(path, column), most, name, column)


def require_modest_arrow(path: Path, name: str) -> None:
    """The same for arrow files, whose batches are unpacked whole."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
        import pyarrow.ipc as ipc

        most = most_bytes(path.stat().st_size)
        with open(path, "rb") as file:
            table = ds.IpcFileFormat().make_fragment(file)
            n_rows, schema = table.count_rows(), table.physical_schema
        if n_rows * sum(_width(pa, field.type) for field in schema) > most:
            raise TableError(_too_much(name, "its table"))
        for k, field in enumerate(schema):
            if pa.types.is_dictionary(field.type):
                with ipc.open_file(str(path)) as reader:
                    batches = (reader.get_batch(i).column(k) for i in range(reader.num_record_batches))
                    _require_total(batches, most, name, field.name)
    except TableError:
        raise
    except (ModuleNotFoundError, OSError, ValueError):
        return  # for the reader to tell


def _width(pa: Any, kind: Any) -> float:
    """Bytes of a cell at least."""
    return kind.bit_width / 8 if pa.types.is_primitive(kind) else 4


def _from_parquet(path: Path, column: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, read_dictionary=[column], pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=[column]):
            yield batch.column(0)


def _require_total(parts: Iterator[Any], most: int, name: str, column: str) -> None:
    """Refuse text that is longer in all rows together than the file may take, by the lengths in its dictionaries."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for part in parts:
        if not pa.types.is_dictionary(part.type) or part.type.value_type not in (pa.string(), pa.large_string()):
            return
        lengths = pc.binary_length(part.dictionary).cast(pa.int64())
        total += pc.sum(lengths.take(part.indices)).as_py() or 0
        if total > most:
            raise TableError(_too_much(name, f"the text of the column {column!r}"))


def _too_much(name: str, what: str) -> str:
    return f"{name}: {what} takes over {LARGEST_GROWTH} times the size of the file in memory: leave out or shorten what is repeated."
