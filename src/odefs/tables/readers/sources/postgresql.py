"""PostgreSQL databases: a table or the rows of a query, streamed to a parquet file through ADBC.

The transaction is read-only. Types that parquet does not have are converted by the server. The
password in an address does not appear in any message.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from odefs._extras import require_extra
from odefs.exceptions import TableError
from odefs.system.atomic_write import error_number
from odefs.tables.error_messages import chosen_name, first_line
from odefs.tables.readers.columnar.to_parquet import require_names, write_batches
from odefs.tables.readers.limits import require_width
from odefs.tables.readers.sources.addresses import HIDDEN, PARAMETER, SECRET
from odefs.tables.readers.sources.sqlite import as_subquery, quoted

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = """
SELECT CASE table_schema WHEN 'public' THEN table_name ELSE table_schema || '.' || table_name END
         AS shown,
       table_schema AS schema, table_name AS name
FROM information_schema.tables
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
ORDER BY table_schema <> 'public', 1
"""
CONNECT_SECONDS = 15
LOGIN = re.compile(r"[^:@/]*(:(?P<password>[^:@/]*))?")
BAD_ENCODING = re.compile(r"%(?![0-9A-Fa-f]{2})")
PREFIX = re.compile(r".*(ERROR: *|Failed to connect: )")
"""What the driver writes before the message of the server."""
NUMBERS = (b"numeric", b"money")


class _Cursor(Protocol):
    """What is used of a cursor of ADBC, which has no types."""

    def execute(self, operation: str) -> object: ...
    def fetch_arrow_table(self) -> "pa.Table": ...


def postgresql_to_parquet(
    address: str, name: str, table: str | None, query: str | None, target: Path
) -> None:
    """Write a table (the only one by default) or the rows of a query to a parquet file."""
    with require_extra(f"{name}: reading PostgreSQL databases", "sql"):
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    import pyarrow as pa

    secrets = _secrets(address, name)
    try:
        # None of the driver's errors may be chained: some quote the address.
        with dbapi.connect(_with_timeout(address)) as opened, opened.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            rows = f"{as_subquery(query)} AS t" if query else _chosen(cursor, name, table)
            # Without rows, to learn names and types: some must be converted by the server.
            cursor.execute(f"SELECT * FROM {rows} LIMIT 0")
            schema = cursor.fetch_arrow_table().schema
            require_names(schema.names, name)
            require_width(len(schema), name)
            columns = ", ".join(_column(field) for field in schema)
            cursor.execute(f"SELECT {columns} FROM {rows}")
            reader = cursor.fetch_record_batch()
            write_batches(reader, reader.schema, target, name)
    except (Error, pa.ArrowException, OSError) as error:
        if error_number(error) is not None:
            raise  # the disk is full
        raise TableError(f"{name}: {_message(error, secrets)}.") from None


def _secrets(address: str, name: str) -> list[str]:
    """Return the passwords in an address; raise if the driver would misread the address."""
    given = [
        _password(address, name),
        *(m[2] for m in PARAMETER.finditer(address) if SECRET.search(m[1])),
    ]
    return [text for secret in given if secret for text in (secret, unquote(secret))]


def _password(address: str, name: str) -> str:
    """Return the password of the login, empty if there is none; raise if it would be misread.

    The error of the driver would quote the part that it took for something else, which may be a
    password.
    """
    _, _, rest = address.partition("://")
    login, mark, place = rest.rpartition("@")
    parameters = place.partition("?")[2]
    found = LOGIN.fullmatch(login)
    if found is None or BAD_ENCODING.search(rest) or (mark and not place):
        raise TableError(
            f"{name}: the address cannot be read: in user name and password, write : @ / and % "
            "as %3A %40 %2F and %25."
        )
    if parameters and any("=" not in part for part in parameters.split("&")):
        raise TableError(
            f"{name}: the address cannot be read: after the ?, write name=value, and an & in a "
            "value as %26."
        )
    return found["password"] or ""


def _with_timeout(address: str) -> str:
    # The driver knows schemes in lower case only, and would quote the address.
    scheme, mark, rest = address.partition("://")
    address = f"{scheme.lower()}{mark}{rest}"
    # By default libpq waits for a server without a limit.
    if "connect_timeout=" in address:
        return address
    return f"{address}{'&' if '?' in address else '?'}connect_timeout={CONNECT_SECONDS}"


def _chosen(cursor: _Cursor, name: str, table: str | None) -> str:
    cursor.execute(TABLES)
    tables = {row["shown"]: row for row in cursor.fetch_arrow_table().to_pylist()}
    row = tables[chosen_name(list(tables), _without_public(table), name, "the database")]
    return f"{quoted(row['schema'])}.{quoted(row['name'])}"


def _without_public(table: str | None) -> str | None:
    return None if table is None else table.removeprefix("public.")


def _column(field: "pa.Field") -> str:
    """Return a column of the query, converted if its type is unknown to parquet."""
    metadata = field.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type") or metadata.get(b"ADBC:postgresql:typname")
    name = quoted(field.name)
    if kind in NUMBERS:
        # The driver passes numeric as text, and PostgreSQL casts money to numeric only.
        return f"{name}::numeric::float8 AS {name}"
    # The driver passes types of its own as bytes.
    is_own = b"ADBC:postgresql:typname" in metadata or re.search("extension|interval", str(field))
    return f"{name}::text AS {name}" if is_own else name


def _message(error: Exception, secrets: Sequence[str]) -> str:
    """Return the server's message without the driver's prefix and the passwords."""
    message = PREFIX.sub("", first_line(error)).replace("FATAL:  ", "")
    for secret in secrets:
        message = message.replace(secret, HIDDEN)
    return message
