"""SQLite databases: a table or the rows of a query, streamed to a parquet file.

The file is opened read-only. SQLite stores the type of every single cell, so a first pass over the
rows finds types that hold all cells of a column: integers, floats, text or bytes.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._progress import report_progress
from odefs.exceptions import TableError
from odefs.tables.error_messages import chosen_name, first_line
from odefs.tables.readers.columnar.to_parquet import batch_rows, require_names, write_batches
from odefs.tables.readers.limits import most_bytes, require_width

if TYPE_CHECKING:
    import pyarrow as pa

Cell = int | float | str | bytes | None
"""What SQLite stores in a cell."""
KINDS = ("integer", "real", "text", "blob")
COLUMNS_AT_ONCE = 400
"""SQLite returns at most 2,000 columns, and each column needs one for every kind."""
STEPS = 10**6
"""Instructions of SQLite between two calls of :class:`_Watch`, which take some milliseconds."""
LOCK_SECONDS = 10
"""Time to wait for another program that is writing to the database."""
TABLES = """
SELECT name FROM sqlite_schema
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
ORDER BY name
"""


def sqlite_to_parquet(
    database: Path, name: str, table: str | None, query: str | None, target: Path
) -> None:
    """Write a table (the only one by default) or the rows of a query to a parquet file."""
    address = f"{database.absolute().as_uri()}?mode=ro"
    watch = _Watch()
    try:
        with closing(_connected(address)) as opened:
            opened.set_progress_handler(watch, STEPS)
            # SQLite does not check the encoding of text, and Python raises an error for bytes that
            # are not UTF-8.
            opened.text_factory = lambda text: text.decode(errors="replace")
            # Views of a crafted file must not call functions with side effects.
            opened.execute("PRAGMA trusted_schema = OFF")
            # Both passes see the same rows, also while others write.
            opened.execute("BEGIN")
            rows = as_subquery(query) if query else None
            if rows is None:
                names = [row[0] for row in opened.execute(TABLES)]
                rows = quoted(chosen_name(names, table, name, "the database"))
            most = None if query else most_bytes(database.stat().st_size)
            _write(opened, rows, target, name, most)
    except sqlite3.Error as error:
        if watch.interrupt is not None:
            raise watch.interrupt from None
        raise TableError(f"{name}: {first_line(error)}.") from error


class _Watch:
    """Called by SQLite during long queries: shows progress, and lets Ctrl-C end them."""

    interrupt: BaseException | None = None

    def __call__(self) -> bool:
        """Whether the query is to end; an exception here would be lost in SQLite."""
        try:
            report_progress(0, 0)
        except BaseException as error:
            self.interrupt = error
        return self.interrupt is not None


def _connected(address: str) -> sqlite3.Connection:
    # No isolation level: transactions begin only where the code says so.
    return sqlite3.connect(address, timeout=LOCK_SECONDS, isolation_level=None, uri=True)


def as_subquery(query: str) -> str:
    """Return a query in parentheses, so that it cannot be anything but a query."""
    # The last line may end in a comment.
    return f"({query.strip().rstrip(';')}\n)"


def quoted(name: str) -> str:
    """Return the name of a table or column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _write(
    opened: sqlite3.Connection, rows: str, target: Path, name: str, most: int | None
) -> None:
    import pyarrow as pa

    found = opened.execute(f"SELECT * FROM {rows} LIMIT 0")
    names = [str(column[0]) for column in found.description]
    require_names(names, name)
    require_width(len(names), name)
    schema = pa.schema(list(zip(names, _types(opened, rows, names), strict=True)))
    write_batches(_batches(opened, rows, schema, name), schema, target, name, most)


def _types(opened: sqlite3.Connection, rows: str, names: Sequence[str]) -> "list[pa.DataType]":
    """Return types that hold all cells of each column."""
    types = []
    for start in range(0, len(names), COLUMNS_AT_ONCE):
        # By name: SQLite has no other way to refer to a column of a query.
        columns = [quoted(name) for name in names[start : start + COLUMNS_AT_ONCE]]
        tests = [f"max(typeof({column}) = '{kind}')" for column in columns for kind in KINDS]
        (flags,) = opened.execute(f"SELECT {', '.join(tests)} FROM {rows}")
        starts = range(0, len(flags), len(KINDS))
        types += [_type(*flags[first : first + len(KINDS)]) for first in starts]
    return types


def _type(
    integer: int | None, real: int | None, text: int | None, blob: int | None
) -> "pa.DataType":
    """Return the type for a column that has cells of the given kinds; without rows, ``None``."""
    import pyarrow as pa

    if blob and not (integer or real or text):
        return pa.binary()
    if text or blob:
        return pa.string()
    return pa.float64() if real else pa.int64() if integer else pa.null()


def _batches(
    opened: sqlite3.Connection, rows: str, schema: "pa.Schema", name: str
) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    cursor = opened.execute(f"SELECT * FROM {rows}")
    while found := cursor.fetchmany(batch_rows(len(schema))):
        cells = zip(*found, strict=True)
        try:
            arrays = [
                pa.array(_converted(column, field.type), field.type)
                for column, field in zip(cells, schema, strict=True)
            ]
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise TableError(
                f"{name}: the query returns other rows each time: save them as a table first."
            ) from error
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _converted(cells: Sequence[Cell], kind: "pa.DataType") -> Sequence[Cell]:
    """Return cells of columns of text as text, and of floats as floats, as their type needs."""
    import pyarrow as pa

    if kind == pa.float64():
        # Arrow refuses integers that a float cannot hold exactly.
        return [cell if cell is None else float(cell) for cell in cells]
    if kind != pa.string():
        return cells
    return [
        cell.decode(errors="replace")
        if isinstance(cell, bytes)
        else cell
        if cell is None or isinstance(cell, str)
        else str(cell)
        for cell in cells
    ]
