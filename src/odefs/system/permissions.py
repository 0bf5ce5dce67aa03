"""Permissions of replaced files: mode, owner and group are kept as far as this user may set them.

Access control lists and extended attributes are not copied.
"""

import contextlib
import os
import stat
from pathlib import Path

PRIVATE = 0o600


def create_private(path: Path) -> None:
    """Create an empty file that only this user can read, so that others cannot read it while it is
    written.
    """
    os.close(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE)
    )


def keep_permissions(path: Path, before: os.stat_result) -> None:
    """Give a file the owner, group and mode of the file that it will replace."""
    if not hasattr(os, "chown"):
        return  # Windows: files inherit their permissions from the folder
    # Separately: a user who may not change the owner may still set another of their own groups.
    for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.chown(path, owner, group)
    now, mode = path.stat(), stat.S_IMODE(before.st_mode)
    if now.st_gid != before.st_gid:
        # Permissions of one group must not pass to another.
        mode &= ~(stat.S_IRWXG | stat.S_ISGID)
    if now.st_uid != before.st_uid:
        mode &= ~stat.S_ISUID
    # Some file systems have no modes.
    with contextlib.suppress(OSError):
        os.chmod(path, mode)
