"""Partitioned datasets: the parquet files of a folder or a glob."""

import glob
from pathlib import Path

from odefs.engines.parquet import no_parquet, parquet_in
from odefs.exceptions import TableError


def parts_of(path: str | Path) -> list[Path]:
    """Return the parquet files of a folder or glob, sorted by name; empty if it is neither."""
    if Path(path).is_dir():
        parts = parquet_in(Path(path))
        if not parts:
            raise TableError(no_parquet(Path(path)))
        return parts
    if not glob.has_magic(str(path)):
        return []
    parts = sorted(Path(part) for part in glob.glob(str(path)))
    if not parts:
        raise TableError(f"{path}: no file matches.")
    other = [part for part in parts if part.suffix.lower() != ".parquet"]
    if other:
        raise TableError(
            f"{path}: {other[0].name} is not a parquet file; "
            "only parquet files can be read together."
        )
    return parts
