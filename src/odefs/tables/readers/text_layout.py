"""The table in a text file: which lines above, below and between its rows are not part of it.

Only the first and last lines of a file are looked at, and a file that starts with its header is
left alone. All other code reads a copy in which lines that are not part of the table are blank, so
that line numbers stay those of the file (:mod:`odefs.tables.readers.text_copy`).
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odefs.exceptions import TableError
from odefs.tables.notes import Note
from odefs.tables.readers.cell_kinds import is_name, is_note, is_sentence, is_value
from odefs.tables.readers.compressed_files import beginning
from odefs.tables.readers.dialect import (
    HEAD_BYTES,
    LINES,
    detect_separator,
    long_cells,
    text_encoding,
)
from odefs.tables.readers.grid import Block, Grid
from odefs.tables.readers.layout import Layout, find_layout, numeric_columns
from odefs.tables.readers.placement import Placement

COMMENT = "#"
QUOTED = 60
MAX_LINE = 10_000
"""Files with longer lines are not looked into: their tables are too wide to have titles."""
LAYOUT_ROWS = 60
"""Rows in which the header and the units are looked for."""
AGREEMENT = 0.9
"""Share of the lines that must split into the same number of fields at runs of spaces."""
SPACE = " "


@dataclass(frozen=True)
class TextPlan:
    """What to change in a copy of the file before it is read; lines are numbered from 0."""

    encoding: str = "utf-8"
    blank: frozenset[int] = frozenset()
    replaced: dict[int, list[str]] = field(default_factory=dict)
    """Fields of lines that are written instead of those in the file."""
    separator: str = ","
    by_spaces: bool = False
    width: int = 1
    notes: tuple[Note, ...] = ()

    @property
    def is_plain(self) -> bool:
        return not (self.blank or self.replaced or self.by_spaces)


@dataclass(frozen=True)
class _Line:
    """A row of the file: its first line, from 0, its fields, and its text."""

    number: int
    fields: list[str]
    text: str


def plan_text(
    source: Path | bytes,
    name: str,
    delimiter: str | None,
    has_header: bool | None,
    place: Placement,
    expected: Sequence[str] = (),
) -> TextPlan:
    """Find the lines above the rows that are not part of the table, from the head of the file."""
    head = beginning(source, HEAD_BYTES)
    encoding = text_encoding(head)
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    skipped = place.skip_rows if place.header_row is None else place.header_row - 1
    lines = text.replace("\r\n", "\n").replace("\r", " ").split("\n")
    if len(head) == HEAD_BYTES:
        lines.pop()
    lines = [*[""] * min(skipped, len(lines)), *lines[skipped:]][: skipped + LINES]
    plan = TextPlan(encoding, frozenset(range(skipped)))
    if "\x00" in text or not any(line.strip() for line in lines):
        if skipped and text.strip():
            raise TableError(f"{name}: the file has no table below line {skipped}.")
        return plan
    if max(map(len, lines)) > MAX_LINE:
        return plan
    data = [line for line in lines if not line.startswith(COMMENT)]
    by_spaces = _is_split_by_spaces(data, delimiter)
    separator = SPACE if by_spaces else delimiter or detect_separator("\n".join(data or lines))
    rows = list(_rows(lines, separator, by_spaces))
    if not rows:
        return plan  # nothing but delimiters
    widths = Counter(len(row.fields) for row in rows if not row.text.startswith(COMMENT))
    width = max(widths, key=lambda n: (widths[n], n)) if widths else 1
    if width == 1 and delimiter is None:
        _require_table(rows, name)
    replaced: dict[int, list[str]] = {}
    header = next((row for row in rows if not row.text.startswith(COMMENT)), rows[0])
    if by_spaces and len(header.fields) == width - 1 and has_header:
        replaced[header.number] = ["", *header.fields]  # row names without a header
    comments = _comments(rows, width, bool(has_header))
    blank = {*plan.blank, *(row.number for row in comments)}
    found = rows[len(comments) :]
    layout = None
    if has_header and not replaced and place.header_row is None:
        layout = _layout(found[:LAYOUT_ROWS], width, expected)
    elif has_header and place.header_row is not None:
        layout = _given(found[:LAYOUT_ROWS], width)
    notes = []
    start = found[0] if found else None
    if layout is not None:
        top = layout.header_rows[0] if layout.header_rows else layout.first_row
        blank.update(row.number for row in found[:top])
        start = found[top]
        if len(layout.header_rows) > 1:
            last = found[layout.header_rows[-1]].number
            blank.update(found[k].number for k in layout.header_rows[:-1])
            names = dict(zip(layout.columns, layout.names, strict=True))
            replaced[last] = [names.get(k, "") for k in range(width)]
            count = len(layout.header_rows)
            notes.append(Note("joined_header", line=start.number + 1, count=count))
        if layout.units_row is not None:
            row = found[layout.units_row]
            blank.add(row.number)
            units = tuple(cell.strip() for cell in row.fields if cell.strip())
            notes.append(Note("units_row", line=row.number + 1, details=units))
    above = [row for row in rows if row.number in blank and start and row.number < start.number]
    if above and start is not None:
        # Lines of delimiters alone are among them.
        blank.update(range(start.number))
        note = Note(
            "rows_above", line=start.number + 1, count=len(above), value=shortened(above[0].text)
        )
        notes.insert(0, note)
    if by_spaces:
        notes.append(Note("separated_by_spaces"))
    return TextPlan(encoding, frozenset(blank), replaced, separator, by_spaces, width, tuple(notes))


def shortened(text: str) -> str:
    """Return the text of a line without delimiters at its end, cut to a length for a note."""
    text = " ".join(text.split()).rstrip(",;|\t ").strip('"')
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} ..."


def split_fields(line: str, separator: str, by_spaces: bool) -> list[str]:
    """Split one line into fields."""
    with long_cells():
        line = line.strip() if by_spaces else line
        return next(csv.reader([line], delimiter=separator, skipinitialspace=by_spaces), [])


def _rows(lines: Sequence[str], separator: str, by_spaces: bool) -> Iterator[_Line]:
    """Yield the rows that are not blank; a row with line breaks in quotes has its first line."""
    with long_cells():
        given = [f"{line.strip() if by_spaces else line}\n" for line in lines]
        reader = csv.reader(given, delimiter=separator, skipinitialspace=by_spaces)
        begin = 0
        for fields in reader:
            if any(cell.strip() for cell in fields):
                yield _Line(begin, fields, lines[begin])
            begin = reader.line_num


def _is_split_by_spaces(lines: Sequence[str], delimiter: str | None) -> bool:
    """Whether fields are separated by runs of spaces, and by no other delimiter."""
    lines = [line.strip() for line in lines if line.strip()]
    if delimiter is not None:
        return delimiter == SPACE and any("  " in line for line in lines)
    if len(lines) < 3 or SPACE not in lines[-1]:
        return False
    other = detect_separator("\n".join(lines))
    if any(other in line for line in lines[1:]):
        return False
    rows = [split_fields(line, SPACE, by_spaces=True) for line in lines]
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0]
    first = next((k for k, row in enumerate(rows) if len(row) >= width - 1), 0)
    same = [row for row in rows[first + 1 :] if len(row) == width]
    if width < 2 or count < AGREEMENT * (len(rows) - first) or not all(map(is_name, rows[first])):
        return False
    grid = Grid.of(same)
    return bool(same) and bool(numeric_columns(grid, range(len(same)), range(width)))


def _comments(rows: Sequence[_Line], width: int, has_header: bool) -> Sequence[_Line]:
    """Return the lines at the top that are comments; the last may be the header instead."""
    n_comments = next(
        (k for k, row in enumerate(rows) if not row.text.startswith(COMMENT)), len(rows)
    )
    if not n_comments or n_comments == len(rows):
        return ()
    after = rows[n_comments:]
    is_header = all(map(is_name, after[0].fields)) and len(after) > 1
    grid = Grid.of([row.fields for row in after[1:] if len(row.fields) == width])
    numeric = numeric_columns(grid, range(len(grid.rows)), range(grid.filled.shape[1]))
    last = rows[n_comments - 1]
    if not has_header or len(last.fields) != width or (is_header and numeric):
        return rows[:n_comments]
    return rows[: n_comments - 1]


def _layout(rows: Sequence[_Line], width: int, expected: Sequence[str]) -> Layout | None:
    """Return where the table is, if it does not simply start with its header."""
    if width < 2 or len(rows) < 2:
        return None
    grid = Grid.of([row.fields for row in rows])
    # Titles have fewer fields than the table, even those with delimiters in them.
    full = next((k for k, row in enumerate(rows) if len(row.fields) >= width), len(rows) - 1)
    block = Block(full, len(rows) - 1, 0, width - 1)
    layout = find_layout(grid, block, cuts_end=False, expected=expected)
    if layout is None:
        return None
    top = layout.header_rows[0] if layout.header_rows else layout.first_row
    if top == 0:
        return layout if len(layout.header_rows) > 1 or layout.units_row is not None else None
    later = range(layout.first_row, len(rows))
    is_header = all(map(is_name, filter(None, (grid.cell(top, k) for k in range(width)))))
    if not is_header:
        return None  # a header of one field above decimal commas, for example
    is_sure = bool(numeric_columns(grid, later, range(width)))
    counts = [int(count) for count in grid.filled[:top].sum(axis=1)]
    is_title = [
        len(row.fields) == 1
        or (is_sure and (len(row.fields) < width or (count == 1 and bool(row.fields[0].strip()))))
        for row, count in zip(rows[:top], counts, strict=True)
    ]
    return layout if all(is_title) and len(rows[top].fields) >= width else None


def _given(rows: Sequence[_Line], width: int) -> Layout | None:
    """Return where the table is if its header is the first of the rows."""
    if width < 2 or len(rows) < 2:
        return None
    grid = Grid.of([row.fields for row in rows])
    return find_layout(grid, Block(0, len(rows) - 1, 0, width - 1), 0, cuts_end=False)


def _require_table(rows: Sequence[_Line], name: str) -> None:
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


def is_note_line(text: str, separator: str, width: int, is_apart: bool, longest: int) -> bool:
    """Whether a line below a table is a note; ``longest`` is the length of first fields above."""
    if text.count('"') % 2:
        return False
    fields = split_fields(text, separator, by_spaces=False)
    filled = [cell.strip() for cell in fields if cell.strip()]
    if not filled or is_value(filled[0]):
        return False
    has_other_width = len(fields) != width or len(filled) == 1
    if is_note(filled[0]) and (has_other_width or is_apart):
        return True
    is_long = is_apart or len(text) > 2 * longest
    return has_other_width and len(filled) < width and is_sentence(filled[0]) and is_long
