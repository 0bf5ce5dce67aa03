"""Names of files that are not text, not UTF-8, or patterns to polars: how they are shown, and how what is behind them is handed to libraries."""

import glob
import os
import shutil
from pathlib import Path


def readable(name: str) -> str:
    """A name that can be written to any file; bytes that are no text show as a mark, whatever the locale made of them."""
    try:
        return name.encode(errors="surrogateescape").decode(errors="replace")
    except UnicodeEncodeError:
        return name.encode(errors="replace").decode()


def path_for_polars(path: Path) -> Path | bytes:
    """The path, or the content where polars would look for other files: to it all names are UTF-8, and some are patterns."""
    return path if _is_utf8(path) and not glob.has_magic(str(path)) else path.read_bytes()


def path_for_scans(path: Path, folder: Path) -> Path:
    """The path, or a link in ``folder`` where polars' scans would look for other files."""
    if _is_utf8(path) and not glob.has_magic(str(path)):
        return path
    return _linked(path, folder / "linked")


def _linked(path: Path, link: Path) -> Path:
    try:
        link.symlink_to(path.absolute())
    except OSError:
        # Windows permits links to some users only.
        shutil.copyfile(path, link)
    return link


def _is_utf8(path: Path) -> bool:
    try:
        return os.fsencode(path) == str(path).encode()
    except UnicodeEncodeError:
        return False
