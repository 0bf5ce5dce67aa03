"""The table in a text file: which lines above, below and between its rows are not part of it.

The first and last lines of a file are examined, and all lines for copies of the header. All other
code reads a copy in which lines that are not part of the table are blank, so
that line numbers stay those of the file (:mod:`odefs.tables.readers.text.copies`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from odefs.exceptions import TableError
from odefs.tables.readers.compression import beginning
from odefs.tables.readers.layout.cells import (
    Grid,
    is_name,
    is_note,
    is_sentence,
    is_value,
    numeric_columns,
)
from odefs.tables.readers.layout.find import Layout
from odefs.tables.readers.layout.repeated_headers import HeaderNames
from odefs.tables.readers.options import Placement
from odefs.tables.readers.text.dialect import (
    HEAD_BYTES,
    LINES,
    detect_delimiter,
    text_encoding,
)
from odefs.tables.readers.text.lines import (
    COMMENT,
    SPACE,
    Line,
    is_split_by_spaces,
    split_fields,
    split_rows,
)
from odefs.tables.readers.text.repeated_headers import repeatable_header
from odefs.tables.readers.text.titles import find_text_table
from odefs.tables.records.notes import Note

QUOTED = 60
SHORT_FIELDS = 2
_NOTE_MARK = re.compile(r'[\s"]*([*†(\[]|[^\W\d]+( \w+)?:)')
MAX_LINE = 10_000
"""Files with longer lines are not looked into: their tables are too wide to have titles."""


@dataclass(frozen=True)
class TextPlan:
    """What to change in a copy of the file before it is read; lines are numbered from 0."""

    encoding: str = "utf-8"
    blank: frozenset[int] = frozenset()
    replaced: dict[int, list[str]] = field(default_factory=dict)
    """Fields of lines that are written instead of those in the file."""
    delimiter: str = ","
    by_spaces: bool = False
    width: int = 1
    header: HeaderNames | None = None
    """The names, if lines that have them again repeat the header."""
    first: int = 0
    """The first line below the header."""
    notes: tuple[Note, ...] = ()

    @property
    def is_plain(self) -> bool:
        return not (self.blank or self.replaced or self.by_spaces)


@dataclass(frozen=True)
class _Head:
    """The first lines of a file, of which the skipped ones are blank."""

    encoding: str
    text: str
    lines: list[str]
    n_skipped: int

    @classmethod
    def of(cls, source: Path | bytes, place: Placement) -> "_Head":
        head = beginning(source, HEAD_BYTES)
        encoding = text_encoding(head)
        text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
        n_skipped = place.skip_rows if place.header_row is None else place.header_row - 1
        lines = text.replace("\r\n", "\n").replace("\r", " ").split("\n")
        # The last line is probably cut off.
        if len(head) == HEAD_BYTES:
            lines.pop()
        lines = [*[""] * min(n_skipped, len(lines)), *lines[n_skipped:]][: n_skipped + LINES]
        return cls(encoding, text, lines, n_skipped)

    @property
    def is_blank(self) -> bool:
        """Whether no line below the skipped ones has text."""
        return "\x00" in self.text or not any(line.strip() for line in self.lines)


@dataclass
class _Changes:
    """Lines that are left out or replaced, and notes on them."""

    blank: set[int] = field(default_factory=set)
    replaced: dict[int, list[str]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def plan_text(
    source: Path | bytes,
    name: str,
    delimiter: str | None,
    has_header: bool | None,
    place: Placement,
    expected: Sequence[str] = (),
) -> TextPlan:
    """Find the lines above the rows that are not part of the table, from the head of the file."""
    head = _Head.of(source, place)
    plan = TextPlan(head.encoding, frozenset(range(head.n_skipped)))
    if head.is_blank:
        if head.n_skipped and head.text.strip():
            raise TableError(f"{name}: the file has no table below line {head.n_skipped}.")
        return plan
    if max(map(len, head.lines)) > MAX_LINE:
        return plan
    found, by_spaces = _delimiter(head.lines, delimiter)
    rows = list(split_rows(head.lines, found, by_spaces))
    if not rows:
        return plan  # nothing but delimiters
    width = _usual_width(rows)
    if width == 1 and delimiter is None:
        _require_table(rows, name)
    changes = _changes(rows, width, by_spaces, bool(has_header), place, expected)
    kept = [row for row in rows if row.number not in changes.blank]
    # Names that were joined from several lines are in none of them.
    may_repeat = bool(has_header) and width > 1 and not changes.replaced and len(kept) > 1
    return replace(
        plan,
        blank=plan.blank | changes.blank,
        replaced=changes.replaced,
        delimiter=found,
        by_spaces=by_spaces,
        width=width,
        header=repeatable_header(kept) if may_repeat else None,
        first=kept[1].number if may_repeat else 0,
        notes=tuple(changes.notes),
    )


def _delimiter(lines: Sequence[str], given: str | None) -> tuple[str, bool]:
    """Return what separates the fields, and whether it is runs of spaces."""
    data = [line for line in lines if not line.startswith(COMMENT)]
    if is_split_by_spaces(data, given):
        return SPACE, True
    return given or detect_delimiter("\n".join(data or lines)), False


def _usual_width(rows: Sequence[Line]) -> int:
    """Return the most frequent number of fields, without comments."""
    widths = Counter(len(row.fields) for row in rows if not row.is_comment)
    return max(widths, key=lambda n: (widths[n], n)) if widths else 1


def _changes(
    rows: Sequence[Line],
    width: int,
    by_spaces: bool,
    has_header: bool,
    place: Placement,
    expected: Sequence[str],
) -> _Changes:
    """Decide which lines above the data are left out, and which are replaced."""
    changes = _Changes()
    if by_spaces and has_header:
        _name_first_column(rows, width, changes)
    comments = _comments(rows, width, has_header)
    changes.blank.update(row.number for row in comments)
    found = rows[len(comments) :]
    layout = None
    if has_header:
        layout = find_text_table(found, width, place, expected, bool(changes.replaced))
    start = found[0] if found else None
    if layout is not None:
        start = _apply(layout, found, width, changes)
    if start is not None:
        _leave_out_above(start, rows, changes)
    if by_spaces:
        changes.notes.append(Note("separated_by_spaces"))
    return changes


def _name_first_column(rows: Sequence[Line], width: int, changes: _Changes) -> None:
    """Add an empty name to a header that has none for the first column, the row names."""
    header = next((row for row in rows if not row.is_comment), rows[0])
    if len(header.fields) == width - 1:
        changes.replaced[header.number] = ["", *header.fields]


def _apply(layout: Layout, found: Sequence[Line], width: int, changes: _Changes) -> Line:
    """Leave out titles and units, and join header lines; return the first line of the table."""
    top = layout.header_rows[0] if layout.header_rows else layout.first_row
    changes.blank.update(row.number for row in found[:top])
    start = found[top]
    if len(layout.header_rows) > 1:
        last = found[layout.header_rows[-1]].number
        changes.blank.update(found[k].number for k in layout.header_rows[:-1])
        names = dict(zip(layout.columns, layout.names, strict=True))
        changes.replaced[last] = [names.get(k, "") for k in range(width)]
        count = len(layout.header_rows)
        changes.notes.append(Note("joined_header", line=start.number + 1, count=count))
    if layout.units_row is not None:
        row = found[layout.units_row]
        changes.blank.add(row.number)
        units = tuple(cell.strip() for cell in row.fields if cell.strip())
        changes.notes.append(Note("units_row", line=row.number + 1, details=units))
    return start


def _leave_out_above(start: Line, rows: Sequence[Line], changes: _Changes) -> None:
    """Note what is left out above the table, and leave out lines of delimiters there, too."""
    above = [row for row in rows if row.number in changes.blank and row.number < start.number]
    if not above:
        return
    changes.blank.update(range(start.number))
    text = shortened(above[0].text)
    note = Note("rows_above", line=start.number + 1, count=len(above), value=text)
    changes.notes.insert(0, note)


def shortened(text: str) -> str:
    """Return the text of a line without delimiters at its end, cut to a length for a note."""
    text = " ".join(text.split()).rstrip(",;|\t ").strip('"')
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} ..."


def _comments(rows: Sequence[Line], width: int, has_header: bool) -> Sequence[Line]:
    """Return the lines at the top that are comments; the last may be the header instead."""
    n_comments = next((k for k, row in enumerate(rows) if not row.is_comment), len(rows))
    if not n_comments or n_comments == len(rows):
        return ()
    last = rows[n_comments - 1]
    if not has_header or len(last.fields) != width or _has_header(rows[n_comments:], width):
        return rows[:n_comments]
    return rows[: n_comments - 1]


def _has_header(rows: Sequence[Line], width: int) -> bool:
    """Whether the first row has names, and the rows below it have numbers."""
    grid = Grid.of([row.fields for row in rows[1:] if len(row.fields) == width])
    numeric = numeric_columns(grid, range(len(grid.rows)), range(grid.filled.shape[1]))
    return bool(numeric) and all(map(is_name, rows[0].fields))


def _require_table(rows: Sequence[Line], name: str) -> None:
    """Raise if a file of one column has sentences."""
    n_sentences = sum(map(is_sentence, (row.text for row in rows)))
    if (
        len(rows) > 1
        and 2 * n_sentences > len(rows)
        and not any(is_value(row.text.strip()) for row in rows)
    ):
        raise TableError(
            f"{name}: one column was found, and most of its lines are sentences: this is text, not "
            "a table, or its fields are separated by spaces (--delimiter ' ')."
        )


def is_note_line(text: str, delimiter: str, width: int, is_apart: bool, longest: int) -> bool:
    """Whether a line below a table is a note; ``longest`` is the length of first fields above."""
    # The line is part of a cell with line breaks.
    if text.count('"') % 2:
        return False
    fields = split_fields(text, delimiter, by_spaces=False)
    filled = list(filter(None, map(str.strip, fields)))
    if not filled or is_value(filled[0]):
        return False
    if len(fields) == width and len(filled) > 1:
        return is_apart and is_note(filled[0])
    return is_note(filled[0]) or (
        len(filled) < width and _is_long_sentence(filled[0], text, is_apart, longest)
    )


def has_note_mark(text: str) -> bool:
    """Whether a line begins with a mark of notes: ``*``, ``[1]``, or a word and a colon."""
    return _NOTE_MARK.match(text) is not None


def is_short_line(text: str, delimiter: str, width: int) -> bool:
    """Whether a line has one or two texts and no values, where the table has several fields."""
    if text.count('"') % 2:
        return False
    fields = split_fields(text, delimiter, by_spaces=False)
    filled = list(filter(None, map(str.strip, fields)))
    return (
        len(fields) < width
        and 0 < len(filled) <= SHORT_FIELDS
        and 2 * len(filled) < width
        and not any(map(is_value, filled))
    )


def is_padded_text(text: str, delimiter: str, width: int) -> bool:
    """Whether a line is one text and the delimiters of a row, as spreadsheets save a note."""
    if text.count('"') % 2:
        return False
    first, *others = split_fields(text, delimiter, by_spaces=False) or [""]
    is_text = bool(first.strip()) and not is_value(first.strip())
    return is_text and width > SHORT_FIELDS and not any(map(str.strip, others))


def _is_long_sentence(first: str, text: str, is_apart: bool, longest: int) -> bool:
    """Whether a line starts with a sentence, and is longer than fields above if next to them."""
    return is_sentence(first) and (is_apart or len(text) > 2 * longest)
