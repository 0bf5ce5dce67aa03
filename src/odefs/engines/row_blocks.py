"""``RowBlocks``: rows that come in blocks, as often as they are asked for, and need not fit into memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.kernels.masked_arrays import unmasked

BATCH_ROWS = 65_536
BATCH_CELLS = 2**23
"""Batches of wide tables have fewer rows."""


def rows_at_once(n_columns: int) -> int:
    """How many rows of a file are read at a time."""
    return max(1024, min(BATCH_ROWS, BATCH_CELLS // max(1, n_columns)))


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 for what it holds exactly (itself, float16, booleans, integers of up to 16 bits), otherwise float64."""
    exact = (
        dtype.kind == "b"
        or (dtype.kind in "iu" and dtype.itemsize <= 2)
        or (dtype.kind == "f" and dtype.itemsize <= 4)
    )
    return np.dtype(np.float32 if exact else np.float64)


def require_numbers(dtype: np.dtype[Any]) -> None:
    """Refuse cells that are no real numbers: of complex ones a part would be dropped, and dates have no scale."""
    if dtype.kind not in "biuf":
        raise ValueError(
            f"the rows hold {dtype}, not numbers: whole and real numbers and booleans can be used."
        )


def require_columns(n_columns: int, names: Sequence[str] | None) -> None:
    """Refuse tables without columns, and names that are more or fewer than these."""
    if not n_columns >= 1:
        raise ValueError(f"the table has {n_columns} columns: at least one is needed.")
    if names is not None and len(names) != n_columns:
        raise ValueError(
            f"there are {len(names)} names for {n_columns} columns: each column needs one."
        )


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """A table as a function that starts a new walk over its blocks of rows.

    Parameters
    ----------
    read : callable
        ``read()`` gives an iterator over 2-D arrays of numbers with ``n_columns`` columns each. Every call must give the same rows in the same order; where one
        block ends and the next begins does not matter.
    n_columns : int
    dtype : dtype
        The type of all blocks, or one that holds them.
    names : sequence of str, optional
        Names of the columns.
    n_rows : int, optional
        How many rows there are, where it is known; they are counted otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from odefs import RowBlocks
    >>> parts = [np.zeros((10, 3)), np.ones((5, 3))]
    >>> blocks = RowBlocks.from_arrays(parts)
    >>> sum(len(block) for block in blocks)
    15
    """

    read: Callable[[], Iterator[np.ndarray]]
    n_columns: int
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    n_rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        require_numbers(self.dtype)
        require_columns(self.n_columns, self.names)

    def __iter__(self) -> Iterator[np.ndarray]:
        working = working_dtype(self.dtype)
        for block in self.read():
            rows = _as_rows(block)
            if rows.shape[1] != self.n_columns:
                raise ValueError(
                    f"a block has the shape {rows.shape}: blocks are 2-D arrays of {self.n_columns} columns, as the first one is."
                )
            if not np.can_cast(working_dtype(rows.dtype), working):
                raise ValueError(
                    f"a block holds {rows.dtype}, and the type of the rows, as it was given or the first block has it, is {self.dtype}, which would cut digits: "
                    "give a type that holds all blocks, RowBlocks(read, n_columns, dtype)."
                )
            yield rows

    @classmethod
    def from_arrays(cls, arrays: Any, names: Sequence[str] | None = None) -> "RowBlocks":
        """From a 2-D array, a sequence of them, or a function that gives an iterator over them.

        The type is one that holds all arrays of a sequence; of a function the first block tells it.
        """
        known = None if names is None else tuple(names)
        if isinstance(arrays, np.ndarray):
            X = _as_rows(arrays)

            def cut() -> Iterator[np.ndarray]:
                return (X[rows] for rows in row_blocks(X.shape[0], BATCH_ROWS))

            return cls(cut, X.shape[1], X.dtype, known, X.shape[0])
        if callable(arrays):
            first = next(iter(arrays()), None)
            if first is None:
                raise ValueError("there is no block of rows.")
            first = _as_rows(first)
            return cls(arrays, first.shape[1], first.dtype, known)
        if not isinstance(arrays, Sequence):
            raise TypeError(
                f"rows must be readable several times: a sequence of arrays, or a function that gives an iterator over them, not {type(arrays).__name__}."
            )
        if not len(arrays):
            raise ValueError("there is no block of rows.")
        widths, dtypes = zip(
            *((rows.shape[1], rows.dtype) for rows in map(_as_rows, arrays)), strict=True
        )
        return cls(lambda: iter(arrays), widths[0], np.result_type(*dtypes), known)

    @classmethod
    def from_parquet(
        cls, path: Any, columns: Sequence[str] | None = None, batch_rows: int | None = None
    ) -> "RowBlocks":
        """From a parquet file, a folder or glob of them (in the order of their names), or a list of files; needs pyarrow."""
        from odefs.engines.parquet import parquet_blocks

        return parquet_blocks(path, columns, batch_rows)

    @classmethod
    def from_dataset(
        cls, dataset: Any, columns: Sequence[str] | None = None, batch_rows: int | None = None
    ) -> "RowBlocks":
        """From a ``pyarrow.dataset.Dataset``."""
        from odefs.engines.parquet import dataset_blocks

        return dataset_blocks(dataset, columns, batch_rows)


def _as_rows(block: Any) -> np.ndarray:
    """A block as an array, if it is one of rows of numbers."""
    rows = np.asarray(unmasked(block))
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(
            f"a block has the shape {rows.shape} and the type {rows.dtype}: blocks are 2-D arrays of numbers."
        )
    return rows


def rechunk(
    blocks: Iterable[np.ndarray], height: int, n_columns: int, dtype: np.dtype[Any]
) -> Iterator[np.ndarray]:
    """The same rows in arrays of ``height`` rows (the last may have fewer), so that nothing depends on how they came.

    Two arrays take turns, as fresh ones cost page faults: each is valid until the next but one is asked for.
    """
    held, other = (np.empty((height, n_columns), dtype=dtype) for _ in range(2))
    n_held = 0
    for block in blocks:
        start = 0
        while start < block.shape[0]:
            n = min(height - n_held, block.shape[0] - start)
            held[n_held : n_held + n] = block[start : start + n]
            n_held, start = n_held + n, start + n
            if n_held == height:
                yield held
                held, other, n_held = other, held, 0
    if n_held:
        yield held[:n_held]
