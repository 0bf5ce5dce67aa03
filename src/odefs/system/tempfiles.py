"""Temporary folders that are deleted together with their holder, and arrays in temporary files.

``TMPDIR`` sets the location. Only the process that created a folder deletes it: a forked child that
ends leaves its parent's folders alone. A killed process leaves its folder, whose name identifies
the process and which is deleted when another one is created.
"""

import contextlib
import mmap
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from odefs.system.tempfile_owner import OWNER, forget, is_left_behind, owner, register

VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Environment variables that Python reads for the temporary folder, in this order."""

NAME = re.compile(rf"odefs-{OWNER}-.+")


def folder_of(holder: object) -> Path:
    """Create a folder that exists as long as ``holder``."""
    made = _new_folder()
    # The process number is passed along: a forked child inherits the finaliser and must not delete.
    weakref.finalize(holder, delete_own, made, os.getpid())
    return made


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a folder that exists as long as the block."""
    made, maker = _new_folder(), os.getpid()
    try:
        yield made
    finally:
        delete_own(made, maker)


def delete_own(path: Path, maker: int) -> None:
    """Delete a file or folder, but only in the process that created it."""
    if os.getpid() != maker:
        return
    forget(path)
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        # Systems that cannot delete files in use delete it later, with the folder.
        with contextlib.suppress(OSError):
            path.unlink()


def require_place() -> None:
    """Raise ``ValueError`` if the temporary folder that the environment names is not usable.

    Python would silently use another one, which may be smaller or accessible to others.
    """
    name = next((name for name in VARIABLES if os.environ.get(name)), None)
    if name is not None:
        place = os.environ[name]
        if not (os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK)):
            raise ValueError(
                f"{name}={place!r} is not a writable folder: set {name} to a folder for temporary "
                "files, or unset it."
            )


def _new_folder() -> Path:
    require_place()
    _delete_leftovers(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=f"odefs-{owner()}-"))
    register(made)
    return made


def _delete_leftovers(place: Path) -> None:
    """Delete folders of this user whose process ran on this machine and has ended."""
    with contextlib.suppress(OSError):
        for left in place.glob("odefs-*"):
            found = NAME.fullmatch(left.name)
            if (
                found
                and is_left_behind(found)
                and left.is_dir()
                # In a shared folder another user could place a link with such a name.
                and not left.is_symlink()
                and _is_own(left)
            ):
                shutil.rmtree(left, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


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
        # Results in place stay backed by the file; all others are in memory.
        if array is self:
            return array
        plain = np.asarray(array)
        return plain[()] if return_scalar or not plain.ndim else plain

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return np.asarray(self).__reduce_ex__(protocol)


def _delete_file(path: Path, maker: int, holder: object) -> None:
    """Delete the file; taking ``holder`` as an argument keeps it alive until then."""
    delete_own(path, maker)
