"""Names of files and columns that polars would expand as patterns, and names that are not UTF-8.

Columns: ``^...$`` stands for matching columns, ``*`` for all. Names passed as text (``select``,
``drop``, ``pl.col``) are expanded; ``frame[name]`` takes them literally. Methods of a series run on
a column of its name, and fail if the pattern does not match itself, as ``^a.*$`` does not.
"""

import glob
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

SeriesT = TypeVar("SeriesT", "pl.Series", "nw.Series[Any]")


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


def is_pattern(name: str) -> bool:
    return name == "*" or _is_expression(name)


def _is_expression(name: str) -> bool:
    return name.startswith("^") and name.endswith("$")


def nameless(series: SeriesT) -> SeriesT:
    """Return the series without a name if its name is a pattern."""
    return series.alias("") if _is_expression(str(series.name)) else series
