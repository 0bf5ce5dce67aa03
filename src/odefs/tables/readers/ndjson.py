"""NDJSON schema inference within bounds.

Every key of any line becomes a column of all lines, so lines with keys of their own would make a
huge table of empty cells.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from odefs.exceptions import TableError
from odefs.tables.readers.compression import beginning

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataTypeClass

ALWAYS_CELLS = 2_000_000
"""Tables with at most this many cells are always read."""
CELLS_PER_BYTE = 4
"""A cell takes at least six bytes, as in ``"a":1,``, so one cell in 24 has to be filled."""
HEAD_BYTES = 2**20
PIECE = 2**20
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
LISTED = re.compile(rb"[\[,]\s*\{")
"""An object in a list; other objects follow a colon or start a line."""
STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)


def lines_schema(source: Path | BytesIO, name: str, content: Path | bytes) -> "pl.Schema":
    """Infer the columns and types from all lines; raise if most cells would be empty.

    ``source`` is ``content`` in the form that polars is given.
    """
    import polars as pl

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    head = beginning(content, HEAD_BYTES)
    # Check the beginning first: inferring types for thousands of keys takes a minute.
    keys = {found[1] for found in STRING.finditer(head) if found[2]}
    _require_filled(name, max(head.count(b"\n"), 1), len(keys), size)
    # From all lines: by default polars looks at 100, and fails at a later 1.5 among integers.
    schema = pl.scan_ndjson(source, infer_schema_length=None).collect_schema()
    # The last line may lack a line break.
    n_outputs = sum(piece.count(b"\n") for piece in _pieces(content)) + 1
    _require_filled(name, n_outputs, sum(_leaves(dtype) for dtype in schema.dtypes()), size)
    n_in_lists = sum(_leaves_in_lists(dtype) for dtype in schema.dtypes())
    if n_in_lists:
        # Objects inside lists have empty cells of their own: every object of a list gets the
        # fields of all others. Strings are removed first, because they may contain braces.
        n_objects = sum(len(LISTED.findall(TEXT.sub(b"", piece))) for piece in _pieces(content))
        _require_filled(name, n_objects, n_in_lists, size)
    return schema


def _require_filled(name: str, n_rows: int, n_columns: int, size: int) -> None:
    if n_rows * n_columns > max(ALWAYS_CELLS, CELLS_PER_BYTE * size):
        raise TableError(
            f"{name}: its lines have {n_columns:,} different keys, and most of the {n_rows:,} "
            "lines have few of them, so the table would be almost empty: "
            "write names and values as two columns."
        )


def _leaves(dtype: "pl.DataType | DataTypeClass") -> int:
    """Count the cells per line: an object has one for each field, a list is one."""
    import polars as pl

    return (
        sum(_leaves(field.dtype) for field in dtype.fields) if isinstance(dtype, pl.Struct) else 1
    )


def _leaves_in_lists(dtype: "pl.DataType | DataTypeClass") -> int:
    """Count the cells per object in a list."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return sum(_leaves_in_lists(field.dtype) for field in dtype.fields)
    inner = getattr(dtype, "inner", None)
    if inner is None:
        return 0
    return (_leaves(inner) if isinstance(inner, pl.Struct) else 0) + _leaves_in_lists(inner)


def _pieces(content: Path | bytes) -> Iterator[bytes]:
    with BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as file:
        # Cut at line ends, so that no string is split.
        while lines := file.readlines(PIECE):
            yield b"".join(lines)
