"""A copy of a text file in which lines that are not part of the table are blank or cut off."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from odefs.tables.readers.options import FOUND, Placement
from odefs.tables.readers.text.dialect import BYTEWISE
from odefs.tables.readers.text.layout import (
    TextPlan,
    has_note_mark,
    is_note_line,
    is_padded_text,
    is_short_line,
    plan_text,
    shortened,
)
from odefs.tables.readers.text.lines import SPACE, TAB, split_fields
from odefs.tables.readers.text.repeated_headers import HeaderSearch
from odefs.tables.records.notes import Note

TAIL_BYTES = 16 * 1024
EXAMINED_LINES = 50
COPIED_BYTES = 2**20


def arranged(
    source: Path | bytes,
    name: str,
    delimiter: str | None,
    has_header: bool | None,
    place: Placement = FOUND,
    expected: Sequence[str] = (),
    target: Path | None = None,
) -> tuple[Path | bytes, str | None, tuple[Note, ...]]:
    """Return the file or a copy with the table alone, its delimiter, and notes.

    The copy is in memory, or in the file ``target``.
    """
    plan = _without_repeats(source, plan_text(source, name, delimiter, has_header, place, expected))
    end, below = _end(source, plan)
    if plan.is_plain and end is None:
        return source, delimiter, ()
    if plan.by_spaces:
        delimiter = TAB
    if target is None:
        out = io.BytesIO()
        with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as content:
            _copy(content, out, plan, end)
        source = out.getvalue()
    else:
        assert isinstance(source, Path)
        with open(source, "rb") as content, open(target, "wb") as copy:
            _copy(content, copy, plan, end)
        source = target
    return source, delimiter, (*plan.notes, *below)


def _without_repeats(source: Path | bytes, plan: TextPlan) -> TextPlan:
    """Return the plan with the lines that repeat the header left out, too."""
    if plan.header is None:
        return plan
    search = HeaderSearch(plan.header, plan.encoding, plan.delimiter, plan.by_spaces)
    found = search.lines(source, plan.first)
    if not found:
        return plan
    note = Note("repeated_header", line=found[0] + 1, count=len(found))
    return replace(plan, blank=plan.blank.union(found), notes=(*plan.notes, note))


def _copy(content: BinaryIO, out: BinaryIO, plan: TextPlan, end: int | None) -> None:
    """Write the lines of a file as planned, up to the byte ``end``."""
    if plan.encoding not in BYTEWISE:
        _copy_decoded(content, out, plan)
        return
    changed = max((*plan.blank, *plan.replaced), default=-1)
    number = 0
    while plan.by_spaces or number <= changed:
        if end is not None and content.tell() >= end:
            return
        raw = content.readline()
        if not raw:
            return
        out.write(_raw_line(raw, number, plan))
        number += 1
    _copy_rest(content, out, None if end is None else end - content.tell())


def _copy_decoded(content: BinaryIO, out: BinaryIO, plan: TextPlan) -> None:
    """Write all lines of a file whose lines can only be told apart after decoding."""
    text = io.TextIOWrapper(content, plan.encoding, errors="replace", newline="\n")
    writer = io.TextIOWrapper(out, plan.encoding, newline="")
    for number, line in enumerate(text):
        writer.write(_line(line, number, plan))
    # A wrapper that is garbage collected closes the stream below it, which the caller still needs.
    writer.flush()
    writer.detach()
    text.detach()


def _copy_rest(content: BinaryIO, out: BinaryIO, left: int | None) -> None:
    """Copy the next ``left`` bytes unchanged, or all."""
    while piece := content.read(COPIED_BYTES if left is None else min(COPIED_BYTES, left)):
        out.write(piece)
        left = None if left is None else left - len(piece)


def _raw_line(raw: bytes, number: int, plan: TextPlan) -> bytes:
    if not (number in plan.blank or number in plan.replaced or plan.by_spaces):
        return raw
    # Bytes that are not valid in the encoding of the head are kept: the whole file is decoded
    # later, possibly in another encoding.
    line = raw.decode(plan.encoding, errors="surrogateescape")
    line = line.removeprefix("\ufeff") if not number else line
    return _line(line, number, plan).encode(plan.encoding, errors="surrogateescape")


def _line(line: str, number: int, plan: TextPlan) -> str:
    if number in plan.blank:
        return "\n"
    delimiter = TAB if plan.by_spaces else plan.delimiter
    if number in plan.replaced:
        return _written(plan.replaced[number], delimiter)
    if not plan.by_spaces:
        return line
    if '"' in line:
        return _written(split_fields(line, SPACE, by_spaces=True), delimiter)
    return TAB.join(line.split()) + "\n"


def _written(fields: Sequence[str], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow(fields)
    return out.getvalue()


def _end(source: Path | bytes, plan: TextPlan) -> tuple[int | None, tuple[Note, ...]]:
    """Return the byte at which notes below the table begin, if there are any, and a note."""
    # The places of lines are counted in bytes. In a table of one column a note looks like a cell.
    if plan.encoding not in BYTEWISE or plan.width < 2:
        return None, ()
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    start = max(0, size - TAIL_BYTES)
    tail = _bytes(source, start, size)
    lines = list(_lines(tail, start, plan))
    cut = _note_lines(lines, plan)
    if not cut or len(lines) - len(cut) < 3:
        return None, ()
    first, text = cut[0]
    line = _bytes(source, 0, first).count(b"\n") + 1
    return first, (Note("rows_below", line=line, count=len(cut), value=shortened(text)),)


def _note_lines(lines: Sequence[tuple[int, str]], plan: TextPlan) -> list[tuple[int, str]]:
    """Return the last lines that are notes, with their places in the file.

    Short lines of text also belong to the notes if an empty line or a note with a mark, such as
    ``Source: ...``, is above them. For a text with the delimiters of a row, an empty line may have
    these, too.
    """
    cut: list[tuple[int, str]] = []
    short: list[tuple[int, str]] = []
    below_empty, below_blank = _below_empty(lines), _below_empty(lines, f" {plan.delimiter}")
    for place in range(len(lines) - 1, max(0, len(lines) - EXAMINED_LINES), -1):
        offset, text = lines[place]
        if not text.strip(f" {plan.delimiter}"):
            continue
        is_padded = is_padded_text(text, plan.delimiter, plan.width)
        is_short = is_padded or is_short_line(text, plan.delimiter, plan.width)
        is_first = place in (below_blank if is_padded else below_empty)
        is_note = _is_note_at(lines, place, plan)
        if (is_note and (not short or is_first or has_note_mark(text))) or (is_short and is_first):
            cut = [(offset, text), *short, *cut]
            short = []
        elif is_short:
            short.insert(0, (offset, text))
        else:
            break
    return cut


def _below_empty(lines: Sequence[tuple[int, str]], blank: str | None = None) -> frozenset[int]:
    """Return which lines are below an empty one. If many lines are empty they say nothing.

    ``blank`` are the characters that an empty line may have, by default all kinds of space.
    """
    empty = [place for place, (_, text) in enumerate(lines) if not text.strip(blank)]
    is_dense = 4 * len(empty) < len(lines)
    return frozenset(place + 1 for place in empty) if is_dense else frozenset()


def _is_note_at(lines: Sequence[tuple[int, str]], place: int, plan: TextPlan) -> bool:
    """Whether a line is a note, judged by its text and the lines above it."""
    above = [split_fields(line, plan.delimiter, False)[:1] for _, line in lines[:place][-40:]]
    longest = max((len(first[0]) for first in above if first), default=0)
    is_apart = not lines[place - 1][1].strip(f" {plan.delimiter}")
    return is_note_line(lines[place][1], plan.delimiter, plan.width, is_apart, longest)


def _lines(tail: bytes, start: int, plan: TextPlan) -> Iterator[tuple[int, str]]:
    """Yield the complete lines with their places in the file."""
    offset = 0
    if start:
        # The tail begins somewhere in a line.
        offset = tail.find(b"\n") + 1
    for raw in tail[offset:].split(b"\n"):
        # As in ``dialect.rows_of``: the csv module refuses carriage returns inside a line.
        text = raw.decode(plan.encoding, errors="replace").rstrip("\r").replace("\r", " ")
        yield start + offset, text
        offset += len(raw) + 1


def _bytes(source: Path | bytes, start: int, end: int) -> bytes:
    if isinstance(source, bytes):
        return source[start:end]
    with open(source, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def in_column(notes: Sequence[Note], names: Sequence[str]) -> list[Note]:
    """Return notes that quote a row with the column it begins in, which may be hidden."""
    first = next(iter(names), None)
    return [replace(note, column=first) if note.kind == "rows_below" else note for note in notes]
