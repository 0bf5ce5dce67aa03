"""JSON documents: the records in a document, written as ndjson lines, which has a reader already.

A document is an array of records, an object of columns (arrays of equal length, or what pandas
writes: objects with the keys 0, 1, ...), or an object with one of these under a key, at most two
levels deep. Objects in records become columns of their own, ``a.b`` for the field b of a.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias, TypeGuard

from odefs.exceptions import TableError
from odefs.system.memory import BASELINE, available_memory
from odefs.tables.error_messages import chosen_name, listed, option

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of a JSON document."""
Record = dict[str, Json]
GROWTH = 12
"""Bytes of memory per byte of a document of short numbers under short keys."""
MAX_DEPTH = 2
"""Levels of keys above the records."""
SHAPES = 'an array of records ([{"a": 1}, ...]) or columns ({"a": [1, ...]}), at most two keys deep'


def records_to_lines(document: Path, name: str, target: Path, table: str | None = None) -> None:
    """Write the records of a document to ``target``, one per line.

    ``table`` is the key of one of several tables.
    """
    size = document.stat().st_size
    if BASELINE + GROWTH * size > available_memory():
        raise TableError(
            f"{name}: a JSON document of {size / 1e6:,.0f} MB cannot be read in parts and takes "
            "too much memory at once: write one record per line (.ndjson) instead."
        )
    with open(target, "w", encoding="utf-8") as out:
        for number, record in enumerate(_records(_parsed(document, name), name, table), 1):
            try:
                out.write(json.dumps(_flat(record, name), allow_nan=False) + "\n")
            except ValueError as error:
                if isinstance(error, TableError):
                    raise
                # Numbers such as 1e999 are read as infinite.
                raise TableError(
                    f"{name}: record {number:,} contains a number above the largest float."
                ) from None


def _parsed(document: Path, name: str) -> Json:
    try:
        # NaN and Infinity, which are not JSON but which Python writes, are missing values.
        found: Json = json.loads(document.read_bytes(), parse_constant=lambda _: None)
        return found
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise TableError(
            f"{name}: this is not a JSON document ({why}): save or download it again, or rename it "
            "if its suffix does not fit its content."
        ) from None


def has_lines(document: Path) -> bool:
    """Whether the first two lines are records, as in ndjson files."""
    try:
        with open(document, encoding="utf-8") as file:
            lines = [json.loads(line) for line in islice(file, 2)]
    except (ValueError, RecursionError):
        return False
    return len(lines) == 2 and all(isinstance(line, dict) for line in lines)


def _records(value: Json, name: str, wanted: str | None) -> Iterator[Record]:
    """Yield the records of the only table in a document, or of the one under a key."""
    tables = list(_tables(value, "", 0))
    found = dict(tables)
    if len(found) < len(tables):
        raise TableError(f"{name}: two tables have the same key: {listed(sorted(found))}.")
    if not found:
        raise TableError(f"{name}: no table was found in {_kind(value)}: needed is {SHAPES}.")
    if wanted is not None and tables[0][1] is value:
        raise TableError(f"{name}: this is a single table: leave out {option('table')}.")
    if wanted is None:
        # Other parts of a document, such as a list of pages, may look like columns.
        others = [key for key, table in found.items() if not isinstance(table, list)]
        if len(others) < len(found):
            found = {key: table for key, table in found.items() if key not in others}
    yield from _rows(found[chosen_name(list(found), wanted, name, "the document")])


def _tables(value: Json, key: str, depth: int) -> Iterator[tuple[str, list[Record] | Record]]:
    """Yield arrays of records and objects of columns with their keys."""
    if _is_records(value) or (isinstance(value, dict) and _columns(value)):
        yield key, value
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for inner, content in value.items():
            yield from _tables(content, f"{key}.{inner}" if key else inner, depth + 1)


def _is_records(value: Json) -> TypeGuard[list[Record]]:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _columns(value: Record) -> dict[str, list[Json]] | None:
    """Return the columns of an object whose values are all columns of one length."""
    columns = {}
    for key, content in value.items():
        cells = _cells(content)
        if cells is None:
            return None
        columns[key] = cells
    lengths = {len(cells) for cells in columns.values()}
    return columns if len(lengths) == 1 and lengths != {0} else None


def _cells(content: Json) -> list[Json] | None:
    """Return the cells of a column: an array, or an object with the keys "0", "1", ..."""
    # ``DataFrame.to_json`` of pandas writes columns as objects by default.
    if isinstance(content, dict) and list(content) == [str(k) for k in range(len(content))]:
        content = list(content.values())
    if not isinstance(content, list) or any(isinstance(cell, dict) for cell in content):
        return None
    return content


def _rows(table: list[Record] | Record) -> Iterator[Record]:
    if isinstance(table, list):
        yield from table
        return
    columns = _columns(table)
    assert columns is not None
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))


def _flat(record: Record, name: str) -> Record:
    """Return a record without objects in it."""
    if not any(isinstance(value, dict) for value in record.values()):
        return record
    flat: Record = {}
    for key, value in record.items():
        fields: Record = (
            {f"{key}.{inner}": cell for inner, cell in _flat(value, name).items()}
            if isinstance(value, dict)
            else {key: value}
        )
        twice = next((field for field in fields if field in flat), None)
        if twice is not None:
            raise TableError(
                f"{name}: {twice!r} is both a field and a field of an object: rename one of them."
            )
        flat |= fields
    return flat


def _kind(value: Json) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {listed(list(value))}" if value else "an empty object"
    if isinstance(value, list):
        return "an array of values that are not records" if value else "an empty array"
    return "a single value"
