"""Who may read a file that takes the place of another: mode, owner and group stay as they were, as far as the system lets this user set them.

Access control lists and extended attributes are not copied.
"""

import contextlib
import os
import stat
from pathlib import Path

PRIVATE = 0o600


def create_private(path: Path) -> None:
    """An empty file that only this user can read: what is written into it is not readable by others meanwhile."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE))


def keep_permissions(path: Path, before: os.stat_result) -> None:
    """Give a file the owner, group and mode of the one that it is to replace."""
    if not hasattr(os, "chown"):
        return  # Windows: files inherit their rights from the folder
    # One after the other: who may not give a file away may still hand it to another group of theirs.
    for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.chown(path, owner, group)
    now, mode = path.stat(), stat.S_IMODE(before.st_mode)
    if now.st_gid != before.st_gid:
        # Rights of a group are not for another one.
        mode &= ~(stat.S_IRWXG | stat.S_ISGID)
    if now.st_uid != before.st_uid:
        mode &= ~stat.S_ISUID
    # Some file systems know no modes.
    with contextlib.suppress(OSError):
        os.chmod(path, mode)
