"""A file takes the place of another whole or not at all: written under a temporary name in the same folder, flushed to the disk, then renamed.

What fails or is interrupted leaves nothing behind. What is killed leaves a temporary file, which names its process and goes with the next writing of the same file.
"""

import contextlib
import errno
import glob
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefs.system.permissions import create_private, keep_permissions
from odefs.system.tempfile_owner import OWNER, is_left_behind, owner
from odefs.system.unfinished_files import forget, register

TEMPORARY = re.compile(rf"\.(?P<name>.+)\.{OWNER}-[0-9a-f]{{8}}\.part", re.DOTALL)
"""The temporary name of a file, as :func:`replacing` gives it."""

NUMBERS_OF_WRITING = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS") if hasattr(errno, name)
)


@contextmanager
def replacing(path: str | os.PathLike[str], private: bool = False) -> Iterator[Path]:
    """A temporary name beside ``path`` that becomes ``path`` if the block succeeds and vanishes otherwise; no two calls are given the same one.

    A file that is replaced keeps its mode and, where the system permits, its owner and group. A new one follows the umask, or is for this user alone if ``private``.
    Errors of the system that come from writing name ``path``, whichever library met them; what the block meets while it reads other files is told as it is.
    """
    # A link stays one: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "this is no regular file", os.fspath(path))
    delete_leftovers(target.parent, _short(target.name))
    partial = target.with_name(f".{_short(target.name)}.{owner()}-{secrets.token_hex(4)}.part")
    before = target.stat() if target.exists() else None
    is_made = private or before is not None
    complete = False
    register(partial)
    try:
        if is_made:
            create_private(partial)
        yield partial
        complete = True
        if is_made and not partial.stat().st_size:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(partial))
        # In this order: a mode without the right to write would forbid opening the file once more.
        _flush(partial)
        if before is not None:
            keep_permissions(partial, before)
        os.replace(partial, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and (complete or _is_of_writing(error, partial)):
            number = error_number(error)
            reason = os.strerror(number) if number else str(error)
            if sys.platform == "win32" and isinstance(error, PermissionError) and complete and target.exists():
                reason = "another program has the file open"
            raise OSError(number or errno.EIO, reason, os.fspath(path)) from error
        raise
    finally:
        forget(partial)
    _flush_folder(target.parent)


def error_number(error: BaseException) -> int | None:
    """The system's number of an error; libraries written in Rust tell it in the text only."""
    number = getattr(error, "errno", None)
    told = re.search(r"\(os error (\d+)\)", str(error))
    if isinstance(number, int) or told is None:
        return number if isinstance(number, int) else None
    # Windows has numbers of its own, which Python turns into the common ones.
    return OSError(0, "", None, int(told[1])).errno if sys.platform == "win32" else int(told[1])


def _is_of_writing(error: OSError, partial: Path) -> bool:
    """Whether an error speaks of the temporary file: by name, in the text only as pyarrow does, or with a number that only writing meets."""
    if error.filename is not None:
        return error.filename in (partial, str(partial))
    return error_number(error) in NUMBERS_OF_WRITING or str(partial) in str(error)


def delete_leftovers(folder: Path, name: str | None = None) -> None:
    """Delete temporary files, of all names or of one, whose process was on this machine and is gone; files of other names are none of ours."""
    pattern = f".{'*' if name is None else glob.escape(name)}.*.part"
    for left in folder.glob(pattern):
        parts = TEMPORARY.fullmatch(left.name)
        if parts is not None and parts["name"] == (name or parts["name"]) and is_left_behind(parts):
            with contextlib.suppress(OSError):
                left.unlink()


def _short(name: str) -> str:
    """At most 40 bytes of a file's name, so that there is room for the rest; some file systems have names of 143 bytes at most."""
    while len(os.fsencode(name)) > 40:
        name = name[:-1]
    return name


def _flush(file: Path) -> None:
    with open(file, "r+b") as written:
        os.fsync(written.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the new name last through a power cut, on systems that can flush a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
