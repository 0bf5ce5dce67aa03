"""A folder or glob of parquet files as one table in memory: which files these are, and their columns brought to one type each."""

import glob
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from odefs.engines.parquet import no_parquet, parquet_in
from odefs.exceptions import TableError
from odefs.tables.readers.common_types import common_type, common_types_of
from odefs.tables.readers.file_names import path_for_polars


def parts_of(path: str | Path) -> list[Path]:
    """The parquet files of a folder or glob in the order of their names; none where it is neither."""
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
        raise TableError(f"{path}: {other[0].name} is not a parquet file; only these can be read together.")
    return parts


def read_parts(pl: Any, parts: Sequence[Path]) -> Any:
    """The rows of all files, in the order of the files."""
    sources = [path_for_polars(part) for part in parts]
    schemas = [_schema(pl, part, source) for part, source in zip(parts, sources, strict=True)]
    types = common_types_of(parts, schemas, pl.Null, partial(_common_type, pl))
    return pl.concat([_with_types(pl, pl.read_parquet(source), types) for source in sources])


def _schema(pl: Any, part: Path, source: Any) -> Any:
    try:
        return pl.read_parquet_schema(source)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{part}: {str(error).splitlines()[0].rstrip('.')}.") from error


def _common_type(pl: Any, one: Any, other: Any) -> Any:
    """The type that Arrow's columns would get, for the same rows are to be found where a table is read in parts."""
    if one == other:
        return one
    import pyarrow as pa

    try:
        found = common_type(*(pl.Series([], dtype=dtype).to_arrow().type for dtype in (one, other)))
    except ValueError:  # a type that Arrow does not know
        return None
    return None if found is None else pl.from_arrow(pa.array([], found)).dtype


def _with_types(pl: Any, frame: Any, types: Mapping[str, Any]) -> Any:
    """The columns in the order and the types of the table."""
    if dict(frame.schema) == types and frame.columns == list(types):
        return frame
    return pl.DataFrame([frame[name].cast(dtype) for name, dtype in types.items()])
