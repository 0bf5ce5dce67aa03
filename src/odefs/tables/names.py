"""Names of files that are no text, or none in this locale: how they are shown, and how what is behind them is handed to polars."""

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
    try:
        found = os.fsencode(path) == str(path).encode()
    except UnicodeEncodeError:
        found = False
    return path if found else path.read_bytes()
