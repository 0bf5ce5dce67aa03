"""``RowBlocks``: rows that come in blocks, as often as they are asked for, and need not fit into memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs._ops.blocks import row_blocks

BATCH_ROWS = 65_536


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 for what it holds exactly (itself, float16, booleans, integers of up to 16 bits), otherwise float64."""
    exact = (
        dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize <= 2) or (dtype.kind == "f" and dtype.itemsize <= 4)
    )
    return np.dtype(np.float32 if exact else np.float64)


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
    >>> from odefs.engines.stream import RowBlocks
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

    def __iter__(self) -> Iterator[np.ndarray]:
        for block in self.read():
            rows = np.asarray(block)
            if rows.ndim != 2 or rows.shape[1] != self.n_columns:
                raise ValueError(
                    f"a block has the shape {rows.shape}: blocks are 2-D arrays of {self.n_columns} columns, as the first one is."
                )
            yield rows

    @classmethod
    def from_arrays(cls, arrays: Any, names: Sequence[str] | None = None) -> "RowBlocks":
        """From a 2-D array, a sequence of them, or a function that gives an iterator over them; the first block tells type and width."""
        if isinstance(arrays, np.ndarray):
            return cls._cut(arrays, names)
        if callable(arrays):
            read = arrays
        elif isinstance(arrays, Sequence):

            def read() -> Iterator[np.ndarray]:
                return iter(arrays)
        else:
            raise TypeError(
                f"rows must be readable several times: a sequence of arrays, or a function that gives an iterator over them, not {type(arrays).__name__}."
            )
        first = next(iter(read()), None)
        if first is None:
            raise ValueError("there is no block of rows.")
        first = np.asarray(first)
        if first.ndim != 2 or first.dtype.kind not in "biuf":
            raise ValueError(
                f"a block has the shape {first.shape} and the type {first.dtype}: blocks are 2-D arrays of numbers."
            )
        return cls(read, first.shape[1], first.dtype, None if names is None else tuple(names))

    @classmethod
    def _cut(cls, X: np.ndarray, names: Sequence[str] | None) -> "RowBlocks":
        def read() -> Iterator[np.ndarray]:
            return (X[rows] for rows in row_blocks(X.shape[0], BATCH_ROWS))

        return cls(read, X.shape[1], X.dtype, None if names is None else tuple(names), X.shape[0])

    @classmethod
    def from_parquet(cls, path: Any, columns: Sequence[str] | None = None, batch_rows: int = BATCH_ROWS) -> "RowBlocks":
        """From a parquet file, a folder of them (in the order of their names), or a list of files; needs pyarrow."""
        from odefs.engines.arrow import parquet_blocks

        return parquet_blocks(path, columns, batch_rows)

    @classmethod
    def from_dataset(
        cls, dataset: Any, columns: Sequence[str] | None = None, batch_rows: int = BATCH_ROWS
    ) -> "RowBlocks":
        """From a ``pyarrow.dataset.Dataset``."""
        from odefs.engines.arrow import dataset_blocks

        return dataset_blocks(dataset, columns, batch_rows)


def recut(blocks: Iterable[np.ndarray], height: int, n_columns: int, dtype: np.dtype[Any]) -> Iterator[np.ndarray]:
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
