"""Partitions of a table as delayed matrices, and whether the workers can keep them in memory."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs._extras import require_extra
from odefs.engines.parquet import as_matrix, parquet_parts
from odefs.engines.row_blocks import (
    Paths,
    require_columns,
    require_numbers,
    unmasked,
    working_dtype,
)

if TYPE_CHECKING:
    from dask.dataframe import DataFrame
    from dask.delayed import Delayed
    from distributed import Client

KEPT_SHARE = 1 / 3
"""Share of the workers' free memory for partitions that are kept; the passes need the rest."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """Delayed matrices of one type; ``n_rows`` is ``None`` if unknown before they are read."""

    parts: "list[Delayed]"
    names: tuple[str, ...] | None
    n_columns: int
    dtype: np.dtype
    n_rows: int | None

    def __post_init__(self) -> None:
        require_columns(self.n_columns, self.names)


def fits_into_workers(client: "Client", n_bytes: int) -> bool:
    """Whether the workers can keep this many bytes, each as much as the one with the least."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    # Workers without a limit report None or 0, which counts as no room: their memory is unknown.
    free = [max(0, (one["memory_limit"] or 0) - one["metrics"]["memory"]) for one in workers]
    return bool(free) and n_bytes <= KEPT_SHARE * len(free) * min(free)


def partitions(X: Any) -> Partitions:
    """The partitions of a Dask collection or of parquet files."""
    from dask.delayed import delayed

    if isinstance(X, str | os.PathLike | list | tuple):
        return _parquet_partitions(X)
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        raise TypeError(
            "engine='dask' requires a 2-D Dask array, a Dask data frame or the path of parquet "
            f"files, not {type(X).__name__}."
        )
    if hasattr(X, "dtypes"):
        return _frame_partitions(X)
    as_rows = delayed(_as_rows, pure=True)
    require_numbers(X.dtype)
    require_columns(X.shape[1], None)
    dtype = working_dtype(X.dtype)
    # All columns of a row in one chunk.
    parts = X.rechunk({1: -1}).to_delayed().ravel()
    n_rows = None if np.isnan(X.shape[0]) else int(X.shape[0])
    return Partitions(
        [as_rows(part, dtype) for part in parts], None, int(X.shape[1]), dtype, n_rows
    )


def _frame_partitions(X: "DataFrame") -> Partitions:
    from dask.delayed import delayed

    wrong = [name for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if wrong:
        raise ValueError(
            f"column {wrong[0]!r} holds {X.dtypes[wrong[0]]}, not numbers: "
            "drop it or encode the table."
        )
    names = tuple(str(name) for name in X.columns)
    require_columns(len(names), names)
    dtype = working_dtype(
        np.result_type(*(np.dtype(getattr(k, "numpy_dtype", k)) for k in X.dtypes))
    )
    as_rows = delayed(_as_rows, pure=True)
    return Partitions(
        [as_rows(part, dtype) for part in X.to_delayed()], names, len(names), dtype, None
    )


def _as_rows(part: object, dtype: np.dtype) -> np.ndarray:
    if hasattr(part, "to_numpy"):
        return np.ascontiguousarray(part.to_numpy(dtype=dtype, na_value=np.nan))
    return np.ascontiguousarray(np.asarray(unmasked(part), dtype=dtype))


def _parquet_partitions(path: Paths) -> Partitions:
    """One partition per row group, so that large files are divided."""
    with require_extra("engine='dask' with parquet files", "dask"):
        import pyarrow.parquet  # noqa: F401
    from dask.delayed import delayed

    found = parquet_parts(path)
    read = delayed(_read_group, pure=True)
    parts = [
        read(str(file.absolute()), group, found.names, found.dtype, _state(file))
        for file, n_groups in zip(found.files, found.n_groups, strict=True)
        for group in range(n_groups)
    ]
    return Partitions(parts, found.names, len(found.names), found.dtype, found.n_rows)


def _state(file: Path) -> tuple[int, int]:
    """Size and modification time, which become part of a task's name.

    A file that was replaced has other rows, and those of the old one may still be kept.
    """
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _read_group(
    file: str, group: int, names: tuple[str, ...], dtype: np.dtype, state: tuple[int, int]
) -> np.ndarray:
    import pyarrow.parquet as pq

    # state is not used here: as an argument it is part of the task's name.
    with pq.ParquetFile(file) as opened:
        table = opened.read_row_group(group, columns=list(names), use_threads=False)
    return as_matrix(table.select(list(names)).combine_chunks(), dtype)
