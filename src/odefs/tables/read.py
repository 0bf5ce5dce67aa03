"""Reading a table from a file, through polars; the only file that imports it."""

from pathlib import Path
from typing import Any

READABLE = (".csv", ".parquet")


class TableError(Exception):
    """The file cannot be used; the message is one sentence for the user."""


def read_table(path: Path) -> Any:
    """A polars data frame with the file's rows."""
    import polars as pl

    if not path.is_file():
        raise TableError(f"{path}: there is no such file.")
    if path.suffix.lower() not in READABLE:
        raise TableError(f"{path}: only {' and '.join(READABLE)} files can be read.")
    try:
        if path.suffix.lower() == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = pl.read_csv(path, infer_schema_length=None, null_values=["", "NA", "N/A", "NaN", "nan", "null"])
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path}: {str(error).splitlines()[0]}") from error
    if frame.height < 2:
        raise TableError(f"{path}: a table needs at least two rows, this one has {frame.height}.")
    return frame


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Write columns of equal length, under a temporary name first so that a killed run leaves no half file."""
    import polars as pl

    partial = path.with_name(path.name + ".part")
    try:
        pl.DataFrame(columns).write_csv(partial)
        partial.replace(path)
    except OSError as error:
        raise TableError(f"{path}: cannot be written ({error.strerror or error}).") from error
