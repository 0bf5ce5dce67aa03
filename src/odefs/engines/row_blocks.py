"""``RowBlocks``: rows in blocks that can be read repeatedly and need not fit into memory."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from odefs.kernels.chunking import row_blocks

if TYPE_CHECKING:
    import pyarrow.dataset

Paths = str | os.PathLike[str] | list[str] | list[Path] | tuple[str | os.PathLike[str], ...]

BATCH_ROWS = 65_536
BATCH_CELLS = 2**23
"""Cells of a batch, which limit the rows of wide tables."""


def rows_at_once(n_columns: int) -> int:
    """Rows of a file to read at a time."""
    return max(1024, min(BATCH_ROWS, BATCH_CELLS // max(1, n_columns)))


def working_dtype(dtype: np.dtype) -> np.dtype:
    """float32 for types it holds exactly, otherwise float64.

    These are float32, float16, booleans and integers of up to 16 bits.
    """
    exact = (
        dtype.kind == "b"
        or (dtype.kind in "iu" and dtype.itemsize <= 2)
        or (dtype.kind == "f" and dtype.itemsize <= 4)
    )
    return np.dtype(np.float32 if exact else np.float64)


def is_sparse(X: object) -> bool:
    """Whether a table is a sparse matrix of scipy.

    scipy.sparse is imported only for tables that may be one: it takes a tenth of a short command.
    """
    if isinstance(X, np.ndarray):
        return False
    from scipy import sparse

    return sparse.issparse(X)


def require_numbers(dtype: np.dtype) -> None:
    """Raise ``ValueError`` for a type that is not a real number.

    Complex numbers would lose a part, and dates have no scale.
    """
    if dtype.kind not in "biuf":
        raise ValueError(
            f"the rows hold {dtype}, not numbers: only integers, floats and booleans can be used."
        )


def require_columns(n_columns: int, names: Sequence[str] | None) -> None:
    """Raise ``ValueError`` for a table without columns, or a wrong number of names."""
    if not n_columns >= 1:
        raise ValueError(f"the table has {n_columns} columns: at least one is needed.")
    if names is not None and len(names) != n_columns:
        raise ValueError(
            f"there are {len(names)} names for {n_columns} columns: give one name per column."
        )


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """A table as a function that starts a new iteration over its blocks of rows.

    Parameters
    ----------
    read : callable
        ``read()`` returns an iterator over 2-D arrays of numbers with ``n_columns`` columns each.
        Every call must return the same rows in the same order; the block sizes do not matter.
    n_columns : int
    dtype : dtype
        A type that can hold all blocks.
    names : sequence of str, optional
        Names of the columns.
    n_rows : int, optional
        Number of rows, if known; otherwise they are counted.

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
    dtype: np.dtype
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
                    f"a block has the shape {rows.shape}: blocks are 2-D arrays of "
                    f"{self.n_columns} columns, like the first one."
                )
            # Types are compared as they are computed with: int16 and float32 are both float32.
            if not np.can_cast(working_dtype(rows.dtype), working):
                raise ValueError(
                    f"a block holds {rows.dtype}, but the type of the rows, given or taken from "
                    f"the first block, is {self.dtype}, which would cut digits: "
                    "pass a type that holds all blocks, RowBlocks(read, n_columns, dtype)."
                )
            yield rows

    @classmethod
    def from_arrays(cls, arrays: object, names: Sequence[str] | None = None) -> "RowBlocks":
        """Create from a 2-D array, a sequence of them, or a function that returns an iterator.

        The type can hold all arrays of a sequence; for a function it is that of the first block.
        """
        known = None if names is None else tuple(names)
        if isinstance(arrays, np.ndarray):
            X = _as_rows(arrays)

            def cut() -> Iterator[np.ndarray]:
                return (X[rows] for rows in row_blocks(X.shape[0], BATCH_ROWS))

            return cls(cut, X.shape[1], X.dtype, known, X.shape[0])
        if callable(arrays):
            # No row is lost by reading one block: the function starts again for every pass.
            first = next(iter(arrays()), None)
            if first is None:
                raise ValueError("there are no blocks of rows: at least one is needed.")
            first = _as_rows(first)
            return cls(arrays, first.shape[1], first.dtype, known)
        if not isinstance(arrays, Sequence):
            raise TypeError(
                "rows must be readable several times: pass a sequence of arrays, or a function "
                f"that returns an iterator over them, not {type(arrays).__name__}."
            )
        if not len(arrays):
            raise ValueError("there are no blocks of rows: at least one is needed.")
        widths, dtypes = zip(
            *((rows.shape[1], rows.dtype) for rows in map(_as_rows, arrays)), strict=True
        )
        return cls(lambda: iter(arrays), widths[0], np.result_type(*dtypes), known)

    @classmethod
    def from_parquet(
        cls, path: Paths, columns: Sequence[str] | None = None, batch_rows: int | None = None
    ) -> "RowBlocks":
        """Create from a parquet file, a folder or glob (sorted by name), or a list of files.

        Requires pyarrow.
        """
        from odefs.engines.parquet import parquet_blocks

        return parquet_blocks(path, columns, batch_rows)

    @classmethod
    def from_dataset(
        cls,
        dataset: "pyarrow.dataset.Dataset",
        columns: Sequence[str] | None = None,
        batch_rows: int | None = None,
    ) -> "RowBlocks":
        """Create from a ``pyarrow.dataset.Dataset``."""
        from odefs.engines.parquet import dataset_blocks

        return dataset_blocks(dataset, columns, batch_rows)


def _as_rows(block: npt.ArrayLike) -> np.ndarray:
    """A block as an array, if it is a 2-D array of numbers."""
    rows = np.asarray(unmasked(block))
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(
            f"a block has the shape {rows.shape} and the type {rows.dtype}: "
            "blocks are 2-D arrays of numbers."
        )
    return rows


def rechunk(
    blocks: Iterable[np.ndarray], height: int, n_columns: int, dtype: np.dtype
) -> Iterator[np.ndarray]:
    """The same rows in arrays of ``height`` rows (the last may have fewer).

    Results then do not depend on the original block sizes. Two arrays are reused in turn, because
    new ones cost page faults: each is valid until the next but one is requested.
    """
    # Two, because the next block is filled while a consumer in another thread still reads the last
    # one.
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


def unmasked(X: object) -> Any:
    """Return ``X`` with NaN in masked cells; anything but masked arrays is returned unchanged.

    A list of masked arrays counts as one. Integers and booleans become floats if a cell is masked,
    because they have no NaN. Masked dates and durations become NaT, and text becomes objects with
    ``None``.
    """
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind == "V" or not np.ma.getmaskarray(X).any():
        return X.data
    if X.dtype.kind in "mM":
        return np.where(np.ma.getmaskarray(X), np.array("NaT", X.dtype), X.data)
    if X.dtype.kind not in "biufcO":
        found = X.data.astype(object)
        found[np.ma.getmaskarray(X)] = None
        return found
    # Small integers become float32, which holds them exactly, large ones float64.
    kept = X.dtype if X.dtype.kind in "fcO" else np.result_type(X.dtype, np.float32)
    return np.ma.filled(X.astype(kept), np.nan)
