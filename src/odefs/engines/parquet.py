"""Blocks of rows out of parquet files and Arrow datasets. The only file of the engines that imports pyarrow."""

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from odefs._extras import needed_by
from odefs.engines.row_blocks import RowBlocks, rows_at_once, working_dtype
from odefs.kernels.chunking import row_blocks

TILE_ROWS = 4096
PADDING = 16
"""Unused cells after each column of a tile: columns a power of two apart would push each other out of the cache."""


def parquet_in(folder: Path) -> list[Path]:
    """The parquet files of a folder in the order of their names, however their ending is written.

    Names that begin with a dot or an underscore are what systems and writers put beside a table; Arrow, Spark and Dask pass them over, too.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".parquet"
        and not path.name.startswith((".", "_"))
        and path.is_file()
    )


def no_parquet(folder: Path, way_out: str | None = None) -> str:
    """What is said of a folder without parquet files; one that has them in folders of its own, as partitioned tables do, can be named by a glob."""
    deeper = next(
        (stars for stars in ("*/*", "*/*/*") if any(folder.glob(f"{stars}.parquet"))), None
    )
    way_out = way_out or f"name the files, as '{folder}/{deeper}.parquet'"
    hint = "" if deeper is None else f", only in folders inside it: {way_out}"
    if any(folder.glob("[._]*.parquet")):
        hint = (
            f" but those whose names begin with a dot or an underscore, which are passed over{hint}"
        )
    return f"{folder}: there is no parquet file in this folder{hint}."


def parquet_files(path: Any) -> list[Path]:
    """The files behind a path, a folder, a glob or a list of paths."""
    if isinstance(path, list | tuple):
        return [Path(part) for part in path]
    found = Path(path)
    if found.is_dir():
        parts = parquet_in(found)
        if not parts:
            raise ValueError(no_parquet(found))
        return parts
    if not found.exists() and glob.has_magic(str(path)):
        parts = sorted(Path(part) for part in glob.glob(str(path)))
        if not parts:
            raise ValueError(f"{path}: no file matches.")
        return parts
    if not found.is_file():
        raise ValueError(f"{found}: there is no such file.")
    return [found]


@dataclass(frozen=True)
class ParquetParts:
    """Parquet files with the same columns, in any order: what is known of them before any row is read."""

    files: list[Path]
    names: tuple[str, ...]
    dtype: np.dtype[Any]
    """The type of a matrix that holds the cells of all files."""
    n_groups: list[int]
    n_rows: int


def parquet_parts(path: Any, columns: Sequence[str] | None = None) -> ParquetParts:
    """Every file's columns are looked at: one may have text or longer numbers where others have none."""
    with needed_by("reading parquet files", "stream"):
        import pyarrow.parquet as pq

    files = parquet_files(path)
    first = pq.read_schema(files[0]).names
    names = tuple(first if columns is None else columns)
    found, n_groups, n_rows = [], [], 0
    for file in files:
        with pq.ParquetFile(file) as opened:
            if sorted(opened.schema_arrow.names) != sorted(first):
                raise ValueError(f"{file}: its columns are not those of {files[0].name}.")
            try:
                found.append(matrix_dtype(opened.schema_arrow, names))
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from None
            n_groups.append(opened.metadata.num_row_groups)
            n_rows += opened.metadata.num_rows
    return ParquetParts(files, names, np.result_type(*found), n_groups, n_rows)


def parquet_blocks(path: Any, columns: Sequence[str] | None, batch_rows: int | None) -> RowBlocks:
    parts = parquet_parts(path, columns)
    import pyarrow.parquet as pq

    names = list(parts.names)
    height = batch_rows or rows_at_once(len(names))

    def read() -> Iterator[np.ndarray]:
        for file in parts.files:
            with pq.ParquetFile(file, pre_buffer=False) as opened:
                for batch in opened.iter_batches(batch_size=height, columns=names):
                    yield as_matrix(batch.select(names), parts.dtype)

    return RowBlocks(read, len(names), parts.dtype, parts.names, parts.n_rows)


def dataset_blocks(
    dataset: Any, columns: Sequence[str] | None, batch_rows: int | None
) -> RowBlocks:
    names = list(dataset.schema.names if columns is None else columns)
    dtype = matrix_dtype(dataset.schema, names)
    height = batch_rows or rows_at_once(len(names))

    def read() -> Iterator[np.ndarray]:
        # Arrow would read several files ahead; a few batches are enough to keep the threads busy.
        batches = dataset.to_batches(
            columns=names, batch_size=height, batch_readahead=4, fragment_readahead=1
        )
        return (as_matrix(batch, dtype) for batch in batches if batch.num_rows)

    return RowBlocks(read, len(names), dtype, tuple(names))


def matrix_dtype(schema: Any, names: Sequence[str]) -> np.dtype[Any]:
    """The type of a matrix of the named columns: float32 where it holds them all exactly, float64 otherwise."""
    import pyarrow as pa

    held = Counter(schema.names)
    absent = [name for name in names if name not in held]
    if absent:
        raise ValueError(
            f"there is no column {absent[0]!r}; the columns are {', '.join(schema.names)}."
        )
    twice = [name for name in names if held[name] > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}: give each a name of its own.")
    found = []
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_null(kind):
            continue
        if not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        ):
            raise ValueError(
                f"column {name!r} holds {kind}, not numbers: name the columns to use, or encode the table (TableEncoder, odefs detect)."
            )
        found.append(np.dtype(kind.to_pandas_dtype()))
    # A column without any value has no type of its own.
    return working_dtype(np.result_type(*found) if found else np.dtype(np.float32))


def as_matrix(batch: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """The columns of a record batch (or a table of one chunk) side by side, nulls as NaN."""
    out = np.empty((batch.num_rows, batch.num_columns), dtype=dtype)
    columns = [_as_numbers(column) for column in batch.columns]
    # Some rows at a time are laid one column below the other, which copies whole stretches, and turned while the cache holds them.
    tile = np.empty((len(columns), min(batch.num_rows, TILE_ROWS) + PADDING), dtype=dtype)
    for rows in row_blocks(batch.num_rows, TILE_ROWS):
        part = tile[:, : rows.stop - rows.start]
        for line, values in zip(part, columns, strict=True):
            line[:] = values[rows]
        out[rows] = part.T
    return out


def _as_numbers(column: Any) -> np.ndarray:
    """Integers with nulls become floats with NaN; booleans with nulls come as objects."""
    chunked = hasattr(column, "chunks")
    values = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return values.astype(np.float64) if values.dtype == object else values
