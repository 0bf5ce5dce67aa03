"""Names of files that are no text, or none in this locale: how they are shown, and how what is behind them is handed to polars."""

import glob
import os
from pathlib import Path


def readable(name: str) -> str:
    """A name that can be written to any file; bytes that are no text show as a mark."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode(errors="replace")
    return name


def handed_to_polars(path: Path) -> Path | bytes:
    """The path, or the content where polars, to which all names are UTF-8, would look for another file."""
    return path if _is_utf8(path) else path.read_bytes()


def named_for_scans(path: Path, folder: Path) -> Path:
    """The path, or a link in ``folder`` where polars would look for another file: its scans take some names for patterns, too."""
    if _is_utf8(path) and not glob.has_magic(str(path)):
        return path
    link = folder / "linked"
    link.symlink_to(path.absolute())
    return link


def _is_utf8(path: Path) -> bool:
    try:
        return os.fsencode(path) == str(path).encode()
    except UnicodeEncodeError:
        return False
