"""Parquet files that form one table: those of a folder, a glob or a list, with the same columns.

Tables (``tables.table``), row blocks and Dask share these rules.
"""

import glob
from collections.abc import Sequence
from pathlib import Path

from odefs.engines.row_blocks import Paths
from odefs.exceptions import TableError


def parquet_in(folder: Path) -> list[Path]:
    """The parquet files of a folder, sorted by name; the case of the suffix does not matter.

    Names that begin with a dot or an underscore belong to systems and writers, not to the table;
    Arrow, Spark and Dask ignore them as well.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".parquet"
        and not path.name.startswith((".", "_"))
        and path.is_file()
    )


def no_parquet(folder: Path, way_out: str | None = None) -> str:
    """The error message for a folder without parquet files.

    If its subfolders have some, as in partitioned datasets, it suggests a glob.
    """
    deeper = next(
        (stars for stars in ("*/*", "*/*/*") if any(folder.glob(f"{stars}.parquet"))), None
    )
    way_out = way_out or f"name the files, as '{folder}/{deeper}.parquet'"
    hint = "" if deeper is None else f", only in folders inside it: {way_out}"
    if any(folder.glob("[._]*.parquet")):
        hint = (
            f" except those whose names begin with a dot or an underscore, which are ignored{hint}"
        )
    return f"{folder}: there is no parquet file in this folder{hint}."


def parts_of(path: Paths) -> list[Path]:
    """The files of a folder or a glob, sorted by name, or of a list; empty if it is neither."""
    if isinstance(path, list | tuple):
        return [Path(part) for part in path]
    if Path(path).is_dir():
        parts = parquet_in(Path(path))
        if not parts:
            raise TableError(no_parquet(Path(path)))
        return parts
    if Path(path).exists() or not glob.has_magic(str(path)):
        return []
    parts = sorted(Path(part) for part in glob.glob(str(path)))
    if not parts:
        raise TableError(f"{path}: no file matches.")
    return parts


def parquet_files(path: Paths) -> list[Path]:
    """The files of a path, a folder, a glob or a list of paths."""
    parts = parts_of(path)
    if parts:
        return parts
    if isinstance(path, list | tuple):
        raise TableError("the list of parquet files is empty: name at least one.")
    if not Path(path).is_file():
        raise TableError(f"{path}: there is no such file.")
    return [Path(path)]


def require_same_columns(files: Sequence[Path], names: Sequence[Sequence[str]]) -> None:
    """Raise if a file has other columns than the first, in any order."""
    first = sorted(names[0])
    for file, own in zip(files, names, strict=True):
        if sorted(own) != first:
            raise TableError(f"{file}: its columns are not those of {files[0].name}.")
