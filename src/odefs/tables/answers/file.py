"""The answers of a review as a csv file that people can read, edit and keep.

A line names a row by its id, or by its number and the fingerprint of the table. Other columns are
kept when the file is written again. Text is protected from being run as a formula
(:mod:`odefs.tables.formulas`).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from odefs.exceptions import TableError
from odefs.tables.answers.lines import (
    MAX_BYTES,
    OWN_NAMES,
    csv_line,
    key_name,
    own_name,
    read_lines,
)
from odefs.tables.encoder.text_formats import is_missing_word
from odefs.tables.frames.convert import column_cells
from odefs.tables.messages import row_name
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import plain_cell, shown_id
from odefs.tables.table import Table
from odefs.tables.writers.files import replacing

ANSWERS: dict[bool | None, str] = {True: "yes", False: "no", None: "unsure"}
"""Answers as the file shows them; an empty cell is a row without an answer yet."""
WORDS: dict[str, str] = (
    dict.fromkeys(("yes", "y", "true", "1", "1.0", "real", "outlier"), "yes")
    | dict.fromkeys(("no", "n", "false", "0", "0.0", "fine", "normal", "ordinary"), "no")
    | dict.fromkeys(("unsure", "u", "cannot say"), "unsure")
)
FINGERPRINT = "sha256:"
"""Start of a fingerprint, without which a spreadsheet might read its digits as a number."""
FINGERPRINT_DIGITS = 16


@dataclass(frozen=True)
class Answer:
    """One line of the file: the number of its row, from 0, and the answer."""

    row: int
    word: str
    """``yes``, ``no``, ``unsure``, or empty."""
    score: str = ""
    reasons: str = ""
    time: str = ""
    other: Mapping[str, str] = field(default_factory=dict)
    """Columns that are not odefs' own."""

    @property
    def is_outlier(self) -> bool | None:
        """``None`` for "cannot say"."""
        return {"yes": True, "no": False}.get(self.word)


def answered(answers: Sequence[Answer]) -> tuple[list[int], list[bool | None]]:
    """Return row numbers and answers of the lines that have an answer."""
    given = [one for one in answers if one.word]
    return [one.row for one in given], [one.is_outlier for one in given]


def table_fingerprint(source: Mapping[str, object], table: Table) -> str:
    """Return 16 hex digits of the file's sha256, or of the shape and names of a table without one.

    ``source`` is that of a :class:`~odefs.tables.results.detection.TableDetection`.
    """
    digest = source.get("sha256")
    if not isinstance(digest, str):
        described = "\x1f".join([str(table.n_rows), *table.names])
        digest = hashlib.sha256(described.encode(errors="surrogatepass")).hexdigest()
    return digest[:FINGERPRINT_DIGITS]


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """The answers on the rows of one table; ``identifier`` is its id column, if it has one."""

    path: Path
    table: Table
    fingerprint: str
    identifier: str | None = None

    @classmethod
    def of(cls, path: Path, table: Table, found: TableDetection) -> "AnswerFile":
        """The file for a detection; rows go by their numbers if the id column is hidden."""
        return cls(path, table, table_fingerprint(found.source, table), shown_id(found))

    def write(self, answers: Sequence[Answer]) -> None:
        """Write the file whole or not at all; raise TableError if it cannot be written."""
        other = list(dict.fromkeys(name for one in answers for name in one.other))
        header = [*self._key_columns, *OWN_NAMES[1:], *other]
        lines = [csv_line(header)]
        for one in answers:
            own = (one.word, one.score, one.reasons, one.time, FINGERPRINT + self.fingerprint)
            cells = [*self._keys(one.row), *own, *(one.other.get(name, "") for name in other)]
            lines.append(csv_line(cells))
        # Ids may hold surrogates, which have no UTF-8 form.
        content = "".join(lines).encode(errors="replace")
        if len(content) > MAX_BYTES:
            raise self._error(
                f"it would be larger than the {MAX_BYTES // 2**20} MB that can be read again; "
                "without --id, rows go by their numbers, which take less space."
            )
        with replacing(self.path) as partial:
            partial.write_bytes(content)

    def read(self) -> list[Answer]:
        """Read the file; raise TableError for a line that fits no row of the table."""
        lines = read_lines(self.path, self._key_column)
        named = [cells.get(self._key_column or "", "") for _, cells in lines]
        by_id = self._key_column is not None and any(named)
        places = self._places(named) if by_id else {}
        found: dict[int, tuple[int, Answer]] = {}
        for (line, cells), name in zip(lines, named, strict=True):
            row = self._row_of_id(line, cells, name, places) if by_id else self._row(line, cells)
            kept = self._answer(row, line, cells)
            # Removed and added again, so that the row keeps the place of its last line.
            before = found.pop(row, None)
            if before is not None and before[1].word not in ("", kept.word):
                raise self._error(
                    f"the row of line {line} also has an answer in line {before[0]}, "
                    f"{before[1].word!r}: keep one of the two lines."
                )
            found[row] = line, kept
        return [answer for _, answer in found.values()]

    def _answer(self, row: int, line: int, cells: Mapping[str, str]) -> Answer:
        own = {key: cells.get(key, "") for key in OWN_NAMES}
        known = {*OWN_NAMES, self._key_column}
        other = {key: cell for key, cell in cells.items() if key not in known}
        word = self._word(line, own["answer"])
        return Answer(row, word, own["score"], own["reasons"], own["time"], other)

    @property
    def _key_column(self) -> str | None:
        """The name of the id column in the file."""
        return None if self.identifier is None else key_name(self.identifier)

    @property
    def _has_ids_named_row(self) -> bool:
        return self.identifier is not None and own_name(self.identifier) == "row"

    @property
    def _key_columns(self) -> list[str]:
        ids = [] if self._key_column is None else [self._key_column]
        return ids if ids and self._ids_are_unique else [*ids, "row"]

    def _keys(self, row: int) -> list[str]:
        ids = [self._ids[row]] if self.identifier is not None else []
        return ids if ids and self._ids_are_unique else [*ids, str(row + 1)]

    @cached_property
    def _ids(self) -> list[str]:
        return [name for _, name in self._names()]

    @cached_property
    def _ids_are_unique(self) -> bool:
        counts = Counter(self._ids)
        return len(counts) == len(self._ids) and "" not in counts

    def _names(self) -> Iterator[tuple[int, str]]:
        """Row numbers and ids as text; missing ids are empty."""
        assert self.identifier is not None
        for start, frame in self.table.batches([self.identifier]):
            for row, cell in enumerate(column_cells(frame, self.identifier), start):
                name = plain_cell(cell)
                yield row, "" if name is None or name != name else str(name)

    def _places(self, wanted: Sequence[str]) -> dict[str, list[int]]:
        """Numbers of the rows with the wanted ids, as written or with an apostrophe before."""
        places: dict[str, list[int]] = {}
        names = set(wanted).union(map(_raw, wanted)) - {""}
        for row, name in self._names():
            if name in names:
                places.setdefault(name, []).append(row)
        return places

    def _rows_of_text(self, name: str) -> list[int]:
        """Numbers of the rows that the report names by a text of its own, not by the id."""
        return [row for row, own in self._names() if str(row_name(own or None, row + 1)) == name]

    def _row_of_id(
        self, line: int, cells: Mapping[str, str], name: str, places: Mapping[str, list[int]]
    ) -> int:
        rows = places.get(name) or places.get(_raw(name)) or self._rows_of_text(name)
        if len(rows) == 1:
            return rows[0]
        if not cells.get("row"):
            many = f"{len(rows)} rows have" if rows else "no row has"
            advice = "add a column 'row' with the row numbers" if rows else "correct or remove it"
            raise self._error(
                f"{many} {name!r} in the column {self.identifier!r} (line {line}): {advice}."
            )
        row = self._row(line, cells)
        if name and row not in rows:
            raise self._error(
                f"row {row + 1} does not have {name!r} in the column {self.identifier!r} "
                f"(line {line}): correct or remove the line."
            )
        return row

    def _row(self, line: int, cells: Mapping[str, str]) -> int:
        """The row of a line that names it by its number, from 0."""
        if "row" not in cells:
            name = f"{self._key_column!r} or 'row'" if self.identifier else "'row'"
            raise self._error(
                f"there is no column {name}, which says whose answers these are; the columns are "
                f"{', '.join(cells)}."
            )
        self._require_numbers(line, cells)
        # Spreadsheets may write 17 as 17.0; ``isdecimal`` alone accepts digits of all scripts.
        text = cells["row"].strip().removesuffix(".0")
        last = self.table.n_rows
        if not (text.isascii() and text.isdecimal() and len(text) < 19 and 1 <= int(text) <= last):
            raise self._error(
                f"there is no row {cells['row']!r} (line {line}): rows are numbered from 1 to "
                f"{last:,}."
            )
        return int(text) - 1

    def _require_numbers(self, line: int, cells: Mapping[str, str]) -> None:
        """Reject numbers of rows of another table, and what may be ids."""
        given = cells.get("table", "").strip().lower().removeprefix(FINGERPRINT)
        if given and given != self.fingerprint:
            raise self._error(
                f"these are answers on another table ({given}, this one is {self.fingerprint}; "
                f"line {line}): give the file that was reviewed, or name rows by an id column "
                "(--id), which stays valid when the table changes."
            )
        if not given and not cells.get(self._key_column or "", "") and self._has_ids_named_row:
            raise self._error(
                f"the column 'row' may hold row numbers or the ids of the column "
                f"{self.identifier!r} (line {line}): call it {self._key_column!r} if it holds ids; "
                "give no --id if it holds row numbers."
            )

    def _word(self, line: int, cell: str) -> str:
        text = cell.strip().lower()
        if not text or is_missing_word(cell.strip()):
            return ""
        if text not in WORDS:
            raise self._error(
                f"the answer {cell!r} (line {line}) is not known: write yes (outlier), no "
                "(ordinary row), unsure, or nothing."
            )
        return WORDS[text]

    def _error(self, sentence: str) -> TableError:
        return TableError(f"{self.path}: {sentence}")


def _raw(name: str) -> str:
    """The text from which :func:`restored_name` has removed an apostrophe."""
    return f"'{name}"
