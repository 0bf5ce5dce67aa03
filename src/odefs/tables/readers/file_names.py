"""File names that are not valid UTF-8, or that polars would expand as glob patterns.

How they are displayed, and how their files are passed to libraries.
"""

import glob
import os
import shutil
from pathlib import Path


def readable(name: str) -> str:
    """Return a name that can be encoded; undecodable bytes become replacement characters."""
    try:
        return name.encode(errors="surrogateescape").decode(errors="replace")
    except UnicodeEncodeError:
        return name.encode(errors="replace").decode()


def path_for_polars(path: Path) -> Path | bytes:
    """Return the path, or the content if polars would misread the name (non-UTF-8 or a glob)."""
    return path if _is_utf8(path) and not glob.has_magic(str(path)) else path.read_bytes()


def path_for_scans(path: Path, folder: Path) -> Path:
    """Return the path, or a link in ``folder`` if polars' scans would misread the name."""
    if _is_utf8(path) and not glob.has_magic(str(path)):
        return path
    return _linked(path, folder / "linked")


def _linked(path: Path, link: Path) -> Path:
    try:
        link.symlink_to(path.absolute())
    except OSError:
        # On Windows only some users may create links.
        shutil.copyfile(path, link)
    return link


def _is_utf8(path: Path) -> bool:
    try:
        return os.fsencode(path) == str(path).encode()
    except UnicodeEncodeError:
        return False
