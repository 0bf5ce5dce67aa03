"""Reading ndjson through polars, within bounds: every key of any line is a column of all lines, so lines with keys of their own make a table of empty cells."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from odefs.exceptions import TableError
from odefs.tables.readers.gzip_files import beginning

ALWAYS_CELLS = 2_000_000
"""So many cells are read in any case."""
CELLS_PER_BYTE = 4
"""A cell that is there takes at least six bytes, as in ``"a":1,``: tables in which one cell of 24 is filled are read."""
HEAD_BYTES = 2**20
PIECE = 2**20
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
LISTED = re.compile(rb"[\[,]\s*\{")
"""An object in a list; others follow a colon, or begin a line."""
STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)


def lines_schema(source: Any, name: str, content: Path | bytes) -> Any:
    """The columns and types of all lines; refused where most cells would be empty. ``source`` is the same as polars is to be given it."""
    import polars as pl

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    head = beginning(content, HEAD_BYTES)
    # By the beginning first: finding a common type of thousands of keys takes a minute.
    keys = {found[1] for found in STRING.finditer(head) if found[2]}
    _require_filled(name, max(head.count(b"\n"), 1), len(keys), size)
    schema = pl.scan_ndjson(source, infer_schema_length=None).collect_schema()
    n_outputs = sum(piece.count(b"\n") for piece in _pieces(content)) + 1
    _require_filled(name, n_outputs, sum(_leaves(dtype) for dtype in schema.dtypes()), size)
    n_in_lists = sum(_leaves_in_lists(dtype) for dtype in schema.dtypes())
    if n_in_lists:
        # Without texts, which may hold braces.
        n_objects = sum(len(LISTED.findall(TEXT.sub(b"", piece))) for piece in _pieces(content))
        _require_filled(name, n_objects, n_in_lists, size)
    return schema


def _require_filled(name: str, n_rows: int, n_columns: int, size: int) -> None:
    if n_rows * n_columns > max(ALWAYS_CELLS, CELLS_PER_BYTE * size):
        raise TableError(
            f"{name}: its lines have {n_columns:,} different keys, and most of the {n_rows:,} lines have few of them: "
            "the table would be almost empty; write names and values as two columns."
        )


def _leaves(dtype: Any) -> int:
    """Columns of which every line has a cell: objects have one for each field, a list is one."""
    import polars as pl

    return (
        sum(_leaves(field.dtype) for field in dtype.fields) if isinstance(dtype, pl.Struct) else 1
    )


def _leaves_in_lists(dtype: Any) -> int:
    """Columns of which every object in a list has a cell."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return sum(_leaves_in_lists(field.dtype) for field in dtype.fields)
    inner = getattr(dtype, "inner", None)
    if inner is None:
        return 0
    return (_leaves(inner) if isinstance(inner, pl.Struct) else 0) + _leaves_in_lists(inner)


def _pieces(content: Path | bytes) -> Iterator[bytes]:
    with BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as file:
        # Cut behind lines, so that no text is cut.
        while lines := file.readlines(PIECE):
            yield b"".join(lines)
