"""Arrays in temporary files, for data larger than memory."""

import mmap
import os
import weakref
from pathlib import Path
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from odefs.system.tempfiles import delete_own


class FileArray(np.ndarray):
    """Array backed by a file that is deleted with the last view of it.

    Not a ``numpy.memmap``: joblib passes those to other processes by file name, and by the time
    another process opens the file it may be gone. This class is passed and pickled by value.
    """

    def __new__(
        cls,
        path: Path,
        dtype: DTypeLike,
        shape: tuple[int, ...] | None = None,
        holder: object = None,
    ) -> Self:
        """Map a whole existing file, or as much of it as ``shape`` needs.

        ``holder`` is kept alive at least as long as the file.
        """
        with open(path, "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        if shape is None:
            shape = (len(mapped) // np.dtype(dtype).itemsize,)
        array = super().__new__(cls, shape, dtype, buffer=mapped)
        # Tied to the map, not to this array: views outlive the array, and some systems cannot
        # delete a mapped file.
        weakref.finalize(mapped, _delete_file, path, os.getpid(), holder)
        return array

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        # A copy is in memory, so it must not claim to be backed by the file.
        is_copy = isinstance(found, FileArray) and not np.may_share_memory(found, self)
        return found.view(np.ndarray) if is_copy else found

    def __array_wrap__(
        self, array: np.ndarray, context: object = None, return_scalar: bool = False
    ) -> Any:
        if array is self:
            return array
        plain = np.asarray(array)
        return plain[()] if return_scalar or not plain.ndim else plain

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return np.asarray(self).__reduce_ex__(protocol)


def _delete_file(path: Path, maker: int, holder: object) -> None:
    """Delete the file; taking ``holder`` as an argument keeps it alive until then."""
    delete_own(path, maker)
