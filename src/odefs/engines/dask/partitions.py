"""A table as partitions: delayed matrices of some rows each, and whether the workers can keep them."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs._extras import needed_by
from odefs.engines.arrow import as_matrix, matrix_dtype, parquet_files
from odefs.engines.blocks import working_dtype

KEPT_SHARE = 1 / 3
"""Of the workers' free memory, what partitions may take that are kept from pass to pass; the passes themselves need the rest."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """Delayed matrices of one type; how many rows there are in all, where that is known before they are read."""

    parts: list[Any]
    names: tuple[str, ...] | None
    n_columns: int
    dtype: np.dtype[Any]
    n_rows: int | None


def fits_into_workers(client: Any, n_bytes: int) -> bool:
    """Whether the workers have the room to keep so many bytes, each as much as the one with the least."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    free = [max(0, (one["memory_limit"] or 0) - one["metrics"]["memory"]) for one in workers]
    return bool(free) and n_bytes <= KEPT_SHARE * len(free) * min(free)


def partitions(X: Any) -> Partitions:
    """What a Dask collection or the path of parquet files holds."""
    from dask.delayed import delayed

    if isinstance(X, str | os.PathLike | list | tuple):
        return _parquet_partitions(X)
    as_rows = delayed(_as_rows, pure=True)
    if hasattr(X, "to_delayed") and hasattr(X, "dtypes"):
        wrong = [name for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
        if wrong:
            raise ValueError(
                f"column {wrong[0]!r} holds {X.dtypes[wrong[0]]}, not numbers: drop it or encode the table."
            )
        dtype = working_dtype(np.result_type(*(np.dtype(getattr(k, "numpy_dtype", k)) for k in X.dtypes)))
        names = tuple(str(name) for name in X.columns)
        return Partitions([as_rows(part, dtype) for part in X.to_delayed()], names, len(names), dtype, None)
    if hasattr(X, "to_delayed") and getattr(X, "ndim", 0) == 2:
        if X.dtype.kind not in "biuf":
            raise ValueError(f"the array holds {X.dtype}, not numbers.")
        dtype = working_dtype(X.dtype)
        parts = X.rechunk({1: -1}).to_delayed().ravel()
        n_rows = None if np.isnan(X.shape[0]) else int(X.shape[0])
        return Partitions([as_rows(part, dtype) for part in parts], None, int(X.shape[1]), dtype, n_rows)
    raise TypeError(
        f"engine='dask' takes a Dask array of two dimensions, a Dask data frame or the path of parquet files, not {type(X).__name__}."
    )


def _as_rows(part: Any, dtype: np.dtype[Any]) -> np.ndarray:
    rows = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "to_numpy") else np.asarray(part, dtype=dtype)
    return np.ascontiguousarray(rows)


def _parquet_partitions(path: Any) -> Partitions:
    """One partition per row group, so that files of any size are shared out."""
    with needed_by("engine='dask' with parquet files", "dask"):
        import pyarrow.parquet as pq
    from dask.delayed import delayed

    files = parquet_files(path)
    schema = pq.read_schema(files[0])
    names = tuple(schema.names)
    dtype = matrix_dtype(schema, names)
    read = delayed(_read_group, pure=True)
    parts: list[Any] = []
    n_rows = 0
    for file in files:
        with pq.ParquetFile(file) as opened:
            if opened.schema_arrow.names != schema.names:
                raise ValueError(f"{file}: its columns are not those of {files[0].name}.")
            n_groups = opened.metadata.num_row_groups
            n_rows += opened.metadata.num_rows
        parts += [read(str(file.absolute()), group, names, dtype) for group in range(n_groups)]
    return Partitions(parts, names, len(names), dtype, n_rows)


def _read_group(file: str, group: int, names: tuple[str, ...], dtype: np.dtype[Any]) -> np.ndarray:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        table = opened.read_row_group(group, columns=list(names), use_threads=False)
    return as_matrix(table.select(list(names)).combine_chunks(), dtype)
