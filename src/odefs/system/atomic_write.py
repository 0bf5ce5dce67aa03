"""Atomic file replacement: write to a temporary name in the same folder, flush, then rename.

A failed or interrupted write leaves nothing behind. A killed process leaves a temporary file, whose
name identifies the process and which is deleted the next time the same file is written.
"""

import contextlib
import errno
import glob
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefs.system.tempfile_owner import OWNER, forget, is_left_behind, owner, register

TEMPORARY = re.compile(rf"\.(?P<name>.+)\.{OWNER}-[0-9a-f]{{8}}\.part", re.DOTALL)
"""Pattern of the temporary names that :func:`atomic_write` creates."""

WRITE_ERRNOS = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS") if hasattr(errno, name)
)
"""Error numbers that only writing can cause."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], private: bool = False) -> Iterator[Path]:
    """Yield a temporary name in the folder of ``path`` that becomes ``path`` if the block succeeds.

    Otherwise the temporary file is deleted. Every call yields a different name. A replaced file
    keeps its mode and, if the system permits, its owner and group. A new file follows the umask, or
    is readable only by this user if ``private``. OS errors caused by writing name ``path``,
    whichever library raised them; errors that the block meets while reading other files are raised
    unchanged.
    """
    target = _regular_file(path)
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
        # A library that wrote elsewhere, or nothing, leaves the empty file that was created here.
        if is_made and not partial.stat().st_size:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(partial))
        _move(partial, target, before)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and (complete or _is_write_error(error, partial)):
            raise _write_error(error, complete, target, path) from error
        raise
    finally:
        forget(partial)
    _flush_folder(target.parent)


def _regular_file(path: str | os.PathLike[str]) -> Path:
    """Return the file to replace; of a symbolic link, which is kept, its target."""
    # Replacing a link would leave its target unchanged.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return target


def _move(partial: Path, target: Path, before: os.stat_result | None) -> None:
    """Rename a complete file, with the permissions of the file that it replaces."""
    # In this order: a mode without write permission would prevent opening the file again.
    _flush(partial)
    if before is not None:
        keep_permissions(partial, before)
    os.replace(partial, target)


def _write_error(
    error: OSError, complete: bool, target: Path, path: str | os.PathLike[str]
) -> OSError:
    """Return the error with the name that the caller gave."""
    number = error_number(error) or errno.EIO
    return OSError(number, _reason(error, complete, target), os.fspath(path))


def _reason(error: OSError, complete: bool, target: Path) -> str:
    """Describe a write error; Windows reports a file in use as a missing permission."""
    if sys.platform == "win32" and isinstance(error, PermissionError):
        if complete and target.exists():
            return "another program has the file open"
    number = error_number(error)
    return os.strerror(number) if number else str(error)


def error_number(error: BaseException) -> int | None:
    """Return the errno of an error; libraries written in Rust mention it only in the message."""
    number = getattr(error, "errno", None)
    in_message = re.search(r"\(os error (\d+)\)", str(error))
    if isinstance(number, int):
        return number
    if in_message is None:
        return None
    found = int(in_message[1])
    # Windows has its own error numbers, which Python translates to errno values.
    return OSError(0, "", None, found).errno if sys.platform == "win32" else found


def _is_write_error(error: OSError, partial: Path) -> bool:
    """Return whether an error concerns the temporary file.

    It does if it names the file, mentions it in the message (as pyarrow does), or has an errno that
    only writing can cause.
    """
    if error.filename is not None:
        return error.filename in (partial, str(partial))
    return error_number(error) in WRITE_ERRNOS or str(partial) in str(error)


def delete_leftovers(folder: Path, name: str | None = None) -> None:
    """Delete temporary files whose process ran on this machine and has ended.

    ``name`` restricts this to the temporary files of one file. Files not created by odefs are never
    touched.
    """
    pattern = f".{'*' if name is None else glob.escape(name)}.*.part"
    for left in folder.glob(pattern):
        parts = TEMPORARY.fullmatch(left.name)
        if parts is not None and parts["name"] == (name or parts["name"]) and is_left_behind(parts):
            with contextlib.suppress(OSError):
                left.unlink()


def _short(name: str) -> str:
    """Shorten a file name to at most 40 bytes, to leave room for the rest of the temporary name;
    some file systems limit names to 143 bytes.
    """
    while len(os.fsencode(name)) > 40:
        name = name[:-1]
    return name


def _flush(file: Path) -> None:
    # fsync on Windows needs a file that is open for writing.
    with open(file, "r+b") as written:
        os.fsync(written.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a power cut, on systems that can flush a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


PRIVATE = 0o600


def create_private(path: Path) -> None:
    """Create an empty file that only this user can read, so that others cannot read it while it is
    written.
    """
    os.close(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE)
    )


def keep_permissions(path: Path, before: os.stat_result) -> None:
    """Give a file the owner, group and mode of the file that it will replace.

    They are kept as far as this user may set them. Access control lists and extended attributes
    are not copied.
    """
    if not hasattr(os, "chown"):
        return  # Windows: files inherit their permissions from the folder
    # Separately: a user who may not change the owner may still set another of their own groups.
    for user, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.chown(path, user, group)
    now, mode = path.stat(), stat.S_IMODE(before.st_mode)
    if now.st_gid != before.st_gid:
        # Permissions of one group must not pass to another.
        mode &= ~(stat.S_IRWXG | stat.S_ISGID)
    if now.st_uid != before.st_uid:
        mode &= ~stat.S_ISUID
    # Some file systems have no modes.
    with contextlib.suppress(OSError):
        os.chmod(path, mode)
