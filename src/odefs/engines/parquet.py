"""Row blocks from parquet files and Arrow datasets, and which parquet files form one table.

The files are those of a folder, a glob or a list, with the same columns; tables
(``tables.table``), row blocks and Dask share these rules.
"""

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from odefs._extras import require_extra
from odefs.engines.row_blocks import Paths, RowBlocks, rows_at_once, working_dtype
from odefs.exceptions import TableError
from odefs.kernels.chunking import row_blocks

if TYPE_CHECKING:
    import pyarrow.dataset


def parquet_in(folder: Path) -> list[Path]:
    """The parquet files of a folder, sorted by name; the case of the suffix does not matter.

    Names that begin with a dot or an underscore belong to systems and writers, not to the table;
    Arrow, Spark and Dask ignore them as well.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".parquet"
        and not path.name.startswith((".", "_"))
        and path.is_file()
    )


def no_parquet(folder: Path, way_out: str | None = None) -> str:
    """The error message for a folder without parquet files.

    If its subfolders have some, as in partitioned datasets, it suggests a glob.
    """
    deeper = next(
        (stars for stars in ("*/*", "*/*/*") if any(folder.glob(f"{stars}.parquet"))), None
    )
    way_out = way_out or f"name the files, as '{folder}/{deeper}.parquet'"
    hint = "" if deeper is None else f", only in folders inside it: {way_out}"
    if any(folder.glob("[._]*.parquet")):
        hint = (
            f" except those whose names begin with a dot or an underscore, which are ignored{hint}"
        )
    return f"{folder}: there is no parquet file in this folder{hint}.{_other_files(folder)}"


def _other_files(folder: Path) -> str:
    """Return how many files of the most frequent kind a folder holds instead, with advice."""
    kinds = Counter(
        one.suffix.lower().removeprefix(".")
        for one in folder.glob("*.*")
        if one.is_file() and not one.name.startswith((".", "_"))
    )
    if not kinds:
        return ""
    kind, n = min(kinds.items(), key=lambda item: (-item[1], item[0]))
    held, one, all_ = ("file", "it", "it") if n == 1 else ("files", "one of them", "them")
    return (
        f" It holds {n:,} {kind} {held}, but only parquet files are read as one table: name "
        f"{one}, or write {all_} as parquet."
    )


def parts_of(path: Paths) -> list[Path]:
    """The files of a folder or a glob, sorted by name, or of a list; empty if it is neither."""
    if isinstance(path, list | tuple):
        return [Path(part) for part in path]
    if Path(path).is_dir():
        parts = parquet_in(Path(path))
        if not parts:
            raise TableError(no_parquet(Path(path)))
        return parts
    # A file whose name contains [ or * is that file, not a pattern.
    if Path(path).exists() or not glob.has_magic(str(path)):
        return []
    parts = sorted(Path(part) for part in glob.glob(str(path)))
    if not parts:
        raise TableError(f"{path}: no file matches.")
    return parts


def parquet_files(path: Paths) -> list[Path]:
    """The files of a path, a folder, a glob or a list of paths."""
    parts = parts_of(path)
    if parts:
        return parts
    if isinstance(path, list | tuple):
        raise TableError("the list of parquet files is empty: name at least one.")
    if not Path(path).is_file():
        raise TableError(f"{path}: there is no such file.")
    return [Path(path)]


def require_same_columns(files: Sequence[Path], names: Sequence[Sequence[str]]) -> None:
    """Raise if a file has other columns than the first, in any order."""
    first = sorted(names[0])
    for file, own in zip(files, names, strict=True):
        if sorted(own) != first:
            raise TableError(f"{file}: its columns are not those of {files[0].name}.")


TILE_ROWS = 4096
PADDING = 16
"""Unused cells after each column of a tile.

Columns at a distance of a power of two would evict each other from the cache.
"""


@dataclass(frozen=True)
class ParquetParts:
    """Metadata of parquet files that have the same columns, in any order."""

    files: list[Path]
    names: tuple[str, ...]
    dtype: np.dtype
    """A type that can hold the cells of all files."""
    n_groups: list[int]
    n_rows: int


def parquet_parts(path: Paths, columns: Sequence[str] | None = None) -> ParquetParts:
    """Read the metadata of every file: one may have text or wider numbers where others do not."""
    with require_extra("reading parquet files", "stream"):
        import pyarrow.parquet as pq

    files = parquet_files(path)
    schemas, n_groups, n_rows = [], [], 0
    for file in files:
        with pq.ParquetFile(file) as opened:
            schemas.append(opened.schema_arrow)
            n_groups.append(opened.metadata.num_row_groups)
            n_rows += opened.metadata.num_rows
    require_same_columns(files, [schema.names for schema in schemas])
    names = tuple(schemas[0].names if columns is None else columns)
    found = []
    for file, schema in zip(files, schemas, strict=True):
        try:
            found.append(matrix_dtype(schema, names))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
    return ParquetParts(files, names, np.result_type(*found), n_groups, n_rows)


def parquet_blocks(path: Paths, columns: Sequence[str] | None, batch_rows: int | None) -> RowBlocks:
    parts = parquet_parts(path, columns)
    import pyarrow.parquet as pq

    names = list(parts.names)
    height = batch_rows or rows_at_once(len(names))

    def read() -> Iterator[np.ndarray]:
        for file in parts.files:
            # Pre-buffering would hold the bytes of row groups, which may be of any size.
            with pq.ParquetFile(file, pre_buffer=False) as opened:
                for batch in opened.iter_batches(batch_size=height, columns=names):
                    # Files may have the columns in other orders.
                    yield as_matrix(batch.select(names), parts.dtype)

    return RowBlocks(read, len(names), parts.dtype, parts.names, parts.n_rows)


def dataset_blocks(
    dataset: "pyarrow.dataset.Dataset", columns: Sequence[str] | None, batch_rows: int | None
) -> RowBlocks:
    names = list(dataset.schema.names if columns is None else columns)
    dtype = matrix_dtype(dataset.schema, names)
    height = batch_rows or rows_at_once(len(names))

    def read() -> Iterator[np.ndarray]:
        # Arrow would read several files ahead; a few batches keep the threads busy.
        batches = dataset.to_batches(
            columns=names, batch_size=height, batch_readahead=4, fragment_readahead=1
        )
        return (as_matrix(batch, dtype) for batch in batches if batch.num_rows)

    return RowBlocks(read, len(names), dtype, tuple(names))


def matrix_dtype(schema: "pyarrow.Schema", names: Sequence[str]) -> np.dtype:
    """The type of a matrix of the named columns: float32 if it is exact for all, else float64."""
    import pyarrow as pa

    _require_once(names, schema.names)
    # Columns without any value have no type.
    typed = [name for name in names if not pa.types.is_null(schema.field(name).type)]
    found = [_number_dtype(name, schema.field(name).type) for name in typed]
    return working_dtype(np.result_type(*found) if found else np.dtype(np.float32))


def _require_once(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Raise unless each wanted column exists exactly once."""
    held = Counter(names)
    absent = [name for name in wanted if name not in held]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r}; the columns are {', '.join(names)}.")
    twice = [name for name in wanted if held[name] > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}: give each a unique name.")


def _number_dtype(name: str, kind: "pyarrow.DataType") -> np.dtype:
    """NumPy's type for a column of numbers or booleans; raises for other columns."""
    import pyarrow as pa

    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise ValueError(
            f"column {name!r} holds {kind}, not numbers: "
            "select other columns, or encode the table (TableEncoder, odefs detect)."
        )
    return np.dtype(kind.to_pandas_dtype())


def as_matrix(batch: "pyarrow.RecordBatch | pyarrow.Table", dtype: np.dtype) -> np.ndarray:
    """The columns of a record batch (or a table of one chunk) as a matrix, nulls as NaN."""
    out = np.empty((batch.num_rows, batch.num_columns), dtype=dtype)
    columns = [_as_numbers(column) for column in batch.columns]
    # A tile of some rows is filled column by column, which copies contiguous memory, and
    # transposed while it is in the cache.
    tile = np.empty((len(columns), min(batch.num_rows, TILE_ROWS) + PADDING), dtype=dtype)
    for rows in row_blocks(batch.num_rows, TILE_ROWS):
        part = tile[:, : rows.stop - rows.start]
        for line, values in zip(part, columns, strict=True):
            line[:] = values[rows]
        out[rows] = part.T
    return out


def _as_numbers(column: "pyarrow.Array | pyarrow.ChunkedArray") -> np.ndarray:
    """Integers with nulls become floats with NaN; booleans with nulls arrive as objects."""
    chunked = hasattr(column, "chunks")
    values = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return values.astype(np.float64) if values.dtype == object else values
