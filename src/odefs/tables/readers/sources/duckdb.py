"""DuckDB databases: a table or the rows of a query, streamed to a parquet file.

The file is opened read-only and without access to other files or the network, which views in it
could otherwise read.
"""

from contextlib import closing
from pathlib import Path

from odefs._extras import require_extra
from odefs.exceptions import TableError
from odefs.tables.error_messages import chosen_name, first_line
from odefs.tables.readers.columnar.to_parquet import batch_rows, require_names, write_batches
from odefs.tables.readers.limits import most_bytes, require_width
from odefs.tables.readers.sources.sqlite import as_subquery, quoted

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
TEMPORARY = "duckdb"
"""Folder of the rows that DuckDB moves out of memory; by default it is next to the database."""
TABLES = """
SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END,
       table_schema, table_name
FROM information_schema.tables
WHERE table_catalog = current_database() ORDER BY 1
"""
AS_TEXT = ("INTERVAL", "TIME WITH TIME ZONE", "BIT", "VARINT", "BIGNUM")
"""Types that parquet does not have."""
AS_FLOAT = ("HUGEINT", "UHUGEINT")
"""Integers of up to 39 digits, one more than Arrow's decimals have; ``sum`` returns them."""


def duckdb_to_parquet(
    database: Path, name: str, table: str | None, query: str | None, target: Path
) -> None:
    """Write a table (the only one by default) or the rows of a query to a parquet file."""
    with require_extra(f"{name}: reading DuckDB files", "sql"):
        import duckdb
    import pyarrow as pa

    settings = SETTINGS | {"temp_directory": str(target.parent / TEMPORARY)}
    try:
        with closing(duckdb.connect(str(database), read_only=True, config=settings)) as opened:
            if query:
                rows = as_subquery(query)
            else:
                tables = {row[0]: row[1:] for row in opened.execute(TABLES).fetchall()}
                chosen = tables[chosen_name(list(tables), table, name, "the database")]
                rows = ".".join(map(quoted, chosen))
            described = opened.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()
            names = [str(column[0]) for column in described]
            require_names(names, name)
            require_width(len(names), name)
            columns = ", ".join(_column(quoted(row[0]), str(row[1])) for row in described)
            # A relation is streamed; the result of ``execute`` would be in memory as a whole.
            found = opened.sql(f"SELECT {columns} FROM {rows}")
            # Renamed in DuckDB 1.5.
            read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
            reader = read(batch_rows(len(names)))
            most = None if query else most_bytes(database.stat().st_size)
            write_batches(reader, reader.schema, target, name, most)
    except (duckdb.Error, pa.ArrowException) as error:
        raise TableError(f"{name}: {first_line(error)}.") from error


def _column(name: str, kind: str) -> str:
    if kind.startswith(AS_TEXT):
        return f"CAST({name} AS VARCHAR) AS {name}"
    return f"CAST({name} AS DOUBLE) AS {name}" if kind in AS_FLOAT else name
