"""Lines on how a table was read: columns left out, and notes, both grouped by what they tell.

A wide table has dozens of empty columns, and a table of text dozens of columns of numbers: one line
each would hide the rest of the screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from odefs.tables.error_messages import list_option
from odefs.tables.messages.notes import ONE_VALUE, exclusion_message, note_message
from odefs.tables.messages.values import first_of, percent, without_controls
from odefs.tables.records.notes import Exclusion, Note, NoteKind

NAMED_IN_GROUP = 8
LONGEST_NAME = 60
LONGEST_LIST = 160
"""Characters of the names in a line, of which there is always one."""
GROUPED_NOTES: tuple[NoteKind, ...] = ("text_format", "leading_zeros", "identifier_as_category")
"""Kinds of notes that name one column and hold for several in the same words."""


def table_title(source: Mapping[str, object]) -> str:
    """Return the name of a table, with its sheet if one was given."""
    name, sheet = source.get("name", "table"), source.get("sheet")
    return f"{name}" if sheet is None else f"{name}, sheet {sheet}"


def left_out_lines(left_out: Mapping[str, Exclusion]) -> list[str]:
    """Return the columns that are left out, one line per reason: ``a, b and 5 more (empty)``."""
    groups: dict[str, list[str]] = {}
    for column, exclusion in left_out.items():
        groups.setdefault(exclusion.kind, []).append(column)
    return [
        without_controls(f"{_names(columns)} ({_reason([left_out[c] for c in columns])})")
        for columns in groups.values()
    ]


def _names(columns: Sequence[str]) -> str:
    """Return the first names; where a line of prose was read as the header, they are long."""
    names = [name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..." for name in columns]
    return first_of(names, NAMED_IN_GROUP, LONGEST_LIST)


def _reason(exclusions: Sequence[Exclusion]) -> str:
    shares = sorted(one.share for one in exclusions if one.share is not None)
    low, high = (percent(share) for share in (shares[0], shares[-1])) if shares else ("", "")
    if low != high:
        more = ONE_VALUE if exclusions[0].kind == "one_value_or_missing" else ""
        return f"missing in {low} to {high} of the rows{more}"
    return exclusion_message(exclusions[0])


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Return the sentences of notes; those that differ in the column only share a line."""
    groups: dict[Note, list[str]] = {}
    for note in notes:
        is_grouped = note.kind in GROUPED_NOTES and note.column is not None
        key = replace(note, column=None) if is_grouped else note
        groups.setdefault(key, []).extend([note.column] if is_grouped and note.column else [])
    return [
        note_message(replace(note, column=_names(columns)) if columns else note)
        for note, columns in groups.items()
    ]


def no_columns(
    left_out: Mapping[str, Exclusion],
    other_sheets: Sequence[str] = (),
    delimiter: str | None = None,
) -> str:
    """Return that every column is left out, and why; ``other_sheets`` may be chosen instead.

    A ``delimiter`` that was given, and leaves a single column, is probably wrong.
    """
    if delimiter is not None and len(left_out) == 1:
        return (
            f"no column is left to look at: with the delimiter {delimiter!r}, the table has one "
            f"column ({without_controls(next(iter(left_out)))}); without --delimiter, it is "
            "detected."
        )
    if not left_out:
        return (
            f"no column is left to look at: give a table with more columns{_sheets(other_sheets)}."
        )
    return (
        f"no column is left to look at: {'; '.join(left_out_lines(left_out))}; "
        f"{list_option('keep', 'COL')} uses a column nevertheless{_sheets(other_sheets)}."
    )


def _sheets(names: Sequence[str]) -> str:
    return f"; other sheets: {first_of(names, NAMED_IN_GROUP)} (--sheet NAME)" if names else ""
