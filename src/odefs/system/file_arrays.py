"""Arrays in temporary files, for numbers that are too many for memory."""

import mmap
import os
import weakref
from pathlib import Path
from typing import Any, Self

import numpy as np

from odefs.system.tempfiles import delete_own


class FileArray(np.ndarray):
    """An array whose numbers lie in a file, which goes with the last view of them.

    No ``numpy.memmap``: joblib's processes hand those over as names of files, and by the time that another process opens it, the file is gone. This one is handed
    over and pickled as the numbers that it holds.
    """

    def __new__(cls, path: Path, dtype: Any, shape: tuple[int, ...] | None = None, holder: Any = None) -> Self:
        """All of a file that is there, or as much of it as the shape takes. ``holder`` lives at least as long as the file."""
        with open(path, "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        if shape is None:
            shape = (len(mapped) // np.dtype(dtype).itemsize,)
        array = super().__new__(cls, shape, dtype, buffer=mapped)
        # When the map goes and not with this array: views outlive it, and some systems delete no file that is mapped.
        weakref.finalize(mapped, _let_go, path, os.getpid(), holder)
        return array

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        # What was copied lies in memory.
        is_copy = isinstance(found, FileArray) and not np.may_share_memory(found, self)
        return found.view(np.ndarray) if is_copy else found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array is self:
            return array
        plain = np.asarray(array)
        return plain[()] if return_scalar or not plain.ndim else plain

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)


def _let_go(path: Path, maker: int, holder: Any) -> None:
    delete_own(path, maker)
