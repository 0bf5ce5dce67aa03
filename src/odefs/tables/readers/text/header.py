"""The header of a text file: the names of its columns, and whether there is a header at all.

polars reads the names itself, and the columns are renamed afterwards. Where it would leave a column
without a name, or would reject the names, it is given the table with a header line of unique names.
"""

import csv
import io
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from odefs.tables.formulas import is_own, restored_name
from odefs.tables.readers.layout.column_names import ColumnNames, numbered
from odefs.tables.readers.text.dialect import (
    BYTEWISE,
    Dialect,
    opened,
    rows_of,
)
from odefs.tables.readers.text.first_line import FirstLine
from odefs.tables.records.notes import Note

BYTE_MARK = b"\xef\xbb\xbf"
COPIED_BYTES = 2**20
STAND_INS = "\x1e\x1d\x1c\x1b"
"""Characters that exist in every encoding; one of them replaces quotes in the names given to
polars, which would show them doubled, as in the file."""


@dataclass(frozen=True)
class Header:
    """The first line as given, the column names, and the line in which the first row begins."""

    given: tuple[str, ...]
    columns: ColumnNames
    line: int
    is_there: bool = True
    is_own: bool = False
    """Whether odefs wrote the file, with apostrophes in front of cells that could be formulas."""
    first_line: FirstLine | None = None
    """The names next to the first rows; ``None`` if the file has no header."""

    @property
    def n_restored(self) -> int:
        """Number of names that start with an apostrophe only to keep them from being formulas."""
        return sum(restored_name(name) != name for name in self.given) if self.is_own else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the columns are used."""
        return self.columns.used

    @cached_property
    def is_plain(self) -> bool:
        """Whether polars accepts the names in the file, so that it can be read as is."""
        # polars numbers repeated names itself, and fails if a column has the resulting name. It
        # keeps doubled quotes in names as they are in the file.
        polars = list(_as_polars(self.given))
        return (
            self.is_there
            and len(set(polars)) == len(polars)
            and all(name.strip() and '"' not in name for name in self.given)
        )

    def handed(self, name: str) -> str:
        """Return the name that polars has for a column."""
        return self._handed.get(name, name)

    def own(self, handed: str) -> str:
        """Return the real name of a column from the name that polars has."""
        return self._own.get(handed, handed)

    @cached_property
    def _handed(self) -> dict[str, str]:
        if self.is_plain:
            return dict(zip(self.names, _as_polars(self.given), strict=True))
        mark = next(
            (mark for mark in STAND_INS if not any(mark in name for name in self.names)),
            STAND_INS[-1],
        )
        return {name: name.replace('"', mark) for name in self.names}

    @cached_property
    def _own(self) -> dict[str, str]:
        return {handed: name for name, handed in self._handed.items()}

    @property
    def notes(self) -> list[Note]:
        """Notes on missing and repeated names, and on names that look like data."""
        if self.first_line is None:
            return []
        is_data = self.first_line.may_be_row
        return [*self.columns.notes, *([Note("header_like_data")] if is_data else [])]

    def is_row(self, named: Collection[str]) -> bool:
        """Whether the first line is certainly a row; words in options (``named``) are names."""
        line = self.first_line
        return line is not None and set(self.given).isdisjoint(named) and line.is_row


def read_header(source: Path | bytes, dialect: Dialect, expected: Collection[str] = ()) -> Header:
    """Take names from the first line that is not blank; without a header, number the columns.

    ``expected`` are names that stay as they are in the file.
    """
    with opened(source, dialect) as text:
        reader = rows_of(text, dialect)
        given = next((tuple(row) for row in reader if row), ())
        if not dialect.header:
            return Header(given, ColumnNames(given, numbered(len(given))), 1, is_there=False)
        line = reader.line_num + 1
        own = is_own(given, None) and is_own(given, next((row for row in reader if row), None))
        real = tuple(map(restored_name, given)) if own else given
        columns = ColumnNames.of(real, expected, strips=not own)
        first_line = FirstLine.of(source, dialect, given)
        return Header(given, columns, line, is_own=own, first_line=first_line)


def has_numbered_names(source: Path | bytes, dialect: Dialect) -> bool:
    """Whether a table expected to have no header starts with the names it would be given.

    This is the case for output that odefs wrote for such a table.
    """
    given = read_header(source, replace(dialect, header=True)).given
    return given == numbered(len(given))


def _as_polars(given: Sequence[str]) -> Iterator[str]:
    # polars' own names for repeated columns, which it does not let callers choose.
    before: Counter[str] = Counter()
    for name in given:
        yield f"{name}_duplicated_{before[name] - 1}" if before[name] else name
        before[name] += 1


def under_names(
    source: Path | bytes, dialect: Dialect, header: Header
) -> tuple[Path | bytes, Dialect]:
    """Return what polars should read: the file, or its content under unique names."""
    if header.is_plain:
        return source, dialect
    if dialect.encoding not in BYTEWISE:
        with opened(source, dialect) as text:
            source, dialect = (
                text.read().encode(errors="replace"),
                replace(dialect, encoding="utf-8"),
            )
    out = io.BytesIO()
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
        _copy(content, out, dialect, header)
    return out.getvalue(), dialect


def copied_under_names(source: Path, target: Path, dialect: Dialect, header: Header) -> Path:
    """Like :func:`under_names`, for files."""
    if header.is_plain:
        return source
    with open(source, "rb") as content, open(target, "wb") as out:
        _copy(content, out, dialect, header)
    return target


def _copy(content: BinaryIO, out: BinaryIO, dialect: Dialect, header: Header) -> None:
    names = io.StringIO()
    csv.writer(names, delimiter=dialect.delimiter, lineterminator="\n").writerow(
        map(header.handed, header.names)
    )
    out.write(names.getvalue().encode(dialect.encoding, errors="replace"))
    # Behind the new header, the mark would be part of the first cell of a file without a header.
    if content.read(len(BYTE_MARK)) != BYTE_MARK:
        content.seek(0)
    for _ in range(header.line - 1):
        content.readline()
    shutil.copyfileobj(content, out, COPIED_BYTES)
