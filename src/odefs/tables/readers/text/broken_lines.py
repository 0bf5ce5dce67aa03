"""Malformed lines of a text file: why polars refuses it, and which option or edit helps."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from odefs.tables.error_messages import reading_advice
from odefs.tables.readers.compression import beginning
from odefs.tables.readers.layout.cells import is_value
from odefs.tables.readers.text.dialect import (
    HEAD_BYTES,
    LINES,
    Dialect,
    detect_delimiter,
    lines_of,
    long_cells,
    opened,
    rows_of,
    split_lines,
)

SHOWN = 60
"""Characters of a malformed line that are shown."""
AGREEMENT = 0.9
"""Share of the lines that another delimiter must split into the same number of fields."""


def broken_line(
    source: Path | bytes, dialect: Dialect, shows_line: bool = True, may_skip: bool = True
) -> str | None:
    """Describe the first malformed line, as the end of a sentence; ``None`` if there is none.

    ``shows_line``: whether the line may be shown, which has values of all columns. ``may_skip``:
    whether no option says yet where the table begins.
    """
    with opened(source, dialect) as text:
        fault = _first_fault(text, dialect)
    if not isinstance(fault, _LongLine):
        return fault
    found = (
        f"line {fault.line} has {fault.n_fields} fields, {dialect.first_line} has {fault.width} "
        f"(delimiter: {dialect.delimiter!r})"
    )
    remedy = _skipping(source, dialect) if may_skip else None
    if remedy is not None:
        how = reading_advice(f"read it with {remedy}")
        return f"{found}: if the first line is not part of the table, {how}"
    other = _other_delimiter(source, dialect)
    if other is not None:
        how = f"set the delimiter with --delimiter {other}"
        return f"{found}: {reading_advice(how, f'to use the delimiter {other}')}"
    shown = f": {fault.shown}" if shows_line else ""
    return (
        f"{found}{shown}; if one of its fields contains {dialect.delimiter!r}, put that field in "
        "double quotes"
    )


class _LongLine:
    """A line with more fields than the first."""

    def __init__(self, line: int, n_fields: int, width: int, text: str) -> None:
        self.line, self.n_fields, self.width = line, n_fields, width
        text = " ".join(text.split())
        self.shown = text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


def _first_fault(text: io.TextIOWrapper, dialect: Dialect) -> str | _LongLine | None:
    """Find a line with too many fields, an unclosed quote, or a quote inside a field."""
    # The csv reader does not show the text of a row, which is needed to count its quotes.
    last = [""]

    def lines() -> Iterator[str]:
        for last[0] in lines_of(text):
            yield last[0]

    reader = csv.reader(lines(), delimiter=dialect.delimiter, strict=True)
    header: list[str] = []
    while True:
        begin = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            if "unexpected end" in str(error):
                return f"a quote opened in line {begin} is never closed: remove or close it"
            return f"line {reader.line_num} {_quote_inside()}"
        if row is None:
            return None
        header = header or row
        if len(row) > len(header):
            return _LongLine(reader.line_num, len(row), len(header), last[0])
        # The csv module accepts ``x"y`` even in strict mode; polars refuses the file, because it
        # takes every quote into account when it looks for the ends of rows.
        if begin == reader.line_num and last[0].count('"') % 2:
            return f"line {begin} {_quote_inside()}"


def _quote_inside() -> str:
    how = reading_advice("set the delimiter with --delimiter", "to use another delimiter")
    return f"has a quote inside a field: write the quote twice, or {how}"


def _skipping(source: Path | bytes, dialect: Dialect) -> str | None:
    """Return the options with which all lines below the first have the same number of fields."""
    with opened(source, dialect) as text:
        reader = rows_of(text, dialect)
        filled = filter(None, reader)
        first = next(filled, [])
        n_skipped = reader.line_num
        names = next(filled, [])
        widths = set(map(len, filled))
    # A first line of names alone is the header of a broken table, such as one with decimal commas,
    # which make two fields of one.
    is_title = len(first) == 1 and len(names) > 2 * len(first)
    is_above = is_title or any(map(is_value, first))
    if widths != {len(names)} or len(names) == len(first) or not is_above:
        return None
    headless = any(map(is_value, names)) or not dialect.header
    return f"--skip-rows {n_skipped}{' --no-header' if headless else ''}"


def _other_delimiter(source: Path | bytes, dialect: Dialect) -> str | None:
    """Return a delimiter that splits nearly all of the first lines alike, as an option takes it."""
    head = beginning(source, HEAD_BYTES).decode(dialect.encoding, errors="replace")
    other = detect_delimiter(head)
    if other == dialect.delimiter:
        return None
    with long_cells():
        rows = [row for row in csv.reader(split_lines(head)[:LINES], delimiter=other) if row]
    width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
    if width < 2 or count < AGREEMENT * len(rows):
        return None
    return "tab" if other == "\t" else f"'{other}'"
