"""Temporary folders (``TMPDIR`` says where) that go with what holds them, and only in the process that made them: a forked child that ends leaves its parent's alone.

What is killed leaves its folder, which names its process and goes when another one is made.
"""

import contextlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odefs.system.tempfile_owner import OWNER, is_left_behind, owner
from odefs.system.unfinished_files import forget, register

VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Where Python looks for the name of the folder for temporary files, in this order."""

NAME = re.compile(rf"odefs-{OWNER}-.+")


def folder_of(holder: Any) -> Path:
    """A new folder that lives as long as ``holder``."""
    made = _made()
    weakref.finalize(holder, delete_own, made, os.getpid())
    return made


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder that lives as long as the block."""
    made, maker = _made(), os.getpid()
    try:
        yield made
    finally:
        delete_own(made, maker)


def delete_own(path: Path, maker: int) -> None:
    """Delete a file or folder, in the process that made it."""
    if os.getpid() != maker:
        return
    forget(path)
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        # A system that does not delete files in use leaves it to the folder's end.
        with contextlib.suppress(OSError):
            path.unlink()


def require_place() -> None:
    """Refuse a folder for temporary files that is not there: Python would use another, which may be smaller or open to others."""
    name = next((name for name in VARIABLES if os.environ.get(name)), None)
    if name is not None:
        place = os.environ[name]
        if not (os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK)):
            raise ValueError(
                f"{name} is {place!r}, which is not a folder that can be written to: set {name} to a folder for temporary files, or unset it."
            )


def _made() -> Path:
    require_place()
    _take_away_leftovers(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=f"odefs-{owner()}-"))
    register(made)
    return made


def _take_away_leftovers(place: Path) -> None:
    """Delete folders of this user whose process was on this machine and is gone."""
    with contextlib.suppress(OSError):
        for left in place.glob("odefs-*"):
            found = NAME.fullmatch(left.name)
            if found and is_left_behind(found) and left.is_dir() and not left.is_symlink() and _is_own(left):
                shutil.rmtree(left, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
