"""Messages for the records of :mod:`odefs.tables.records.notes`, one entry for each kind."""

from collections.abc import Callable

from odefs.tables.error_messages import (
    list_option,
    missing_option,
    option,
    reading_advice,
)
from odefs.tables.messages.layout import LAYOUT_NOTES
from odefs.tables.messages.values import (
    NAMED,
    count,
    exact_percent,
    first_of,
    listed,
    number,
    percent,
    quoted_name,
    without_controls,
)
from odefs.tables.records.notes import (
    COMPACT_DATES,
    ConventionKind,
    Exclusion,
    ExclusionKind,
    FlagConvention,
    Note,
    NoteKind,
)

NAMED_COLUMNS = 3
ONE_VALUE = ", one value elsewhere; if empty means no, write a value such as N there"
DETAILS = {
    "some_percentages": "percentages next to plain numbers",
    "currencies": "currencies",
    "thousands_marks": "thousands separators",
}


def note_message(note: Note) -> str:
    """Return a sentence without a full stop."""
    sampled = " (counted in a sample of the rows)" if note.is_sampled else ""
    return without_controls(NOTES[note.kind](note) + sampled)


def exclusion_message(exclusion: Exclusion) -> str:
    """Return why a column is left out."""
    return EXCLUSIONS[exclusion.kind](exclusion)


def convention_message(convention: FlagConvention) -> str:
    """Return the rule by which rows were flagged, in words that fit any number of rows."""
    return CONVENTIONS[convention.kind](convention)


def _repeated_name(note: Note) -> str:
    others = note.columns
    times = "twice" if len(others) == 1 else f"{len(others) + 1} times"
    which = "the second is" if len(others) == 1 else "the others are"
    named = first_of(others, NAMED_COLUMNS)
    return f"{note.column} occurs {times} in the header; {which} called {named}"


def _short_lines(note: Note) -> str:
    lines = count(note.count or 0, "line has", "lines have")
    return (
        f"{lines} fewer than {note.limit} fields; the absent cells count as missing "
        f"(first: line {note.line}, with {note.n_fields})"
    )


def _text_format(note: Note) -> str:
    details = f" ({', '.join(DETAILS[detail] for detail in note.details)})" if note.details else ""
    what = "numbers" if note.format == COMPACT_DATES else "text"
    return f"{note.column}: {what} read as {note.format}{details}"


def _limits(note: Note) -> str:
    cells = f"{note.count or 0:,} cells such as"
    cells, counts = ("the cell", "counts") if note.count == 1 else (cells, "count")
    first = "in" if note.count == 1 else "first:"
    return (
        f"{note.column}: {cells} {note.value!r} {counts} as the number behind the sign "
        f"({first} row {note.row})"
    )


def _unreadable_cells(note: Note) -> str:
    cells = count(note.count or 0, "cell is", "cells are")
    counts = "counts" if note.count == 1 else "count"
    return (
        f"{note.column}: {cells} not in the format of the column ({note.format}) and {counts} as "
        "missing "
        f"(first: {note.value!r} in row {note.row})"
    )


def _few_numbers(note: Note) -> str:
    cells = count(note.limit or 0, "cell")
    example = f"(first: {note.value!r} in row {note.row})"
    if not note.count:
        return f"{note.column}: none of {cells} can be read as {note.format} {example}"
    return (
        f"{note.column}: only {note.count:,} of {cells} can be read as {note.format}, "
        f"the others count as missing {example}"
    )


def _mixed_cells(note: Note) -> str:
    return (
        f"{note.column}: {percent(note.share or 0.0)} of the cells are numbers, the others text "
        f"(first change in row {note.row}); "
        f"{list_option('number', note.column or '', quoted_name(note.column or ''))} treats the "
        "text as missing"
    )


def _missing_code(note: Note) -> str:
    cells = count(note.count or 0, "cell is", "cells are")
    code = f"{note.value:g}"
    return (
        f"{note.column}: {cells} {code}, possibly a code for missing; {missing_option(code)} "
        "treats it so"
    )


def _infinite_cells(note: Note) -> str:
    cells = count(note.count or 0, "infinite cell counts", "infinite cells count")
    return f"{note.column}: {cells} as missing"


def _apostrophes_removed(note: Note) -> str:
    cells = count(note.count or 0, "cell")
    return (
        "scores written by odefs: the apostrophe that keeps text from being run as a formula "
        f"was removed from {cells}"
    )


def _known_cases(note: Note) -> str:
    if not note.count and not note.n_normal:
        return f"{note.column}: no known cases"
    outliers = count(note.count or 0, "known outlier")
    return f"{note.column}: {outliers}, {note.n_normal or 0:,} known to be ordinary"


def _answers(note: Note) -> str:
    rows = count(note.count or 0, "row", "rows")
    return f"answers of a review: {rows} confirmed, {note.n_normal or 0:,} ordinary"


def _more_repeated_names(note: Note) -> str:
    names = count(note.count or 0, "more name occurs", "more names occur")
    return f"{names} several times in the header"


def _excel_names_cut(note: Note) -> str:
    names = count(note.count or 0, "column name is", "column names are")
    return f"{names} cut to the {note.limit} characters that Excel allows."


def _excel_texts_cut(note: Note) -> str:
    texts = f"text in {first_of(note.columns)}"
    return f"{texts} is cut to the {note.limit or 0:,} characters that an Excel cell holds."


def _groups(note: Note) -> str:
    return f"values are compared within {count(note.count or 0, 'group')} by {_by(note)}"


def _single_group(note: Note) -> str:
    return (
        f"all rows belong to one group by {_by(note)}, so that values are compared within the "
        "whole table"
    )


def _pooled_groups(note: Note) -> str:
    rows = count(note.count or 0, "row belongs", "rows belong")
    return (
        f"{rows} to none of the {note.limit or 0:,} largest groups by {_by(note)} and "
        f"{'is' if note.count == 1 else 'are'} compared with the whole table"
    )


def _unknown_groups(note: Note) -> str:
    rows = count(note.count or 0, "row belongs", "rows belong")
    return (
        f"{rows} to groups by {_by(note)} that the model does not know and "
        f"{'is' if note.count == 1 else 'are'} compared with the whole training table"
    )


def _unused_columns(note: Note) -> str:
    columns = count(note.count or 0, "column is", "columns are")
    was = "was" if note.count == 1 else "were"
    return f"{columns} not in the model and {was} not used: {first_of(note.columns, NAMED)}"


def _by(note: Note) -> str:
    return listed(note.columns)


def _whose_scores(convention: FlagConvention) -> str:
    whose = "the training scores" if convention.by_training else "all scores"
    return whose + _when(convention)


def _when(convention: FlagConvention) -> str:
    return " before the answers" if convention.before_answers else ""


def _auto(convention: FlagConvention) -> str:
    expected, n_rows = number(convention.expected or 0.0), convention.n_rows or 0
    rows = "training rows" if convention.by_training else "rows"
    return (
        f"score higher than the bulk of the {rows} explains{_when(convention)}; without outliers, "
        f"about {expected} of {n_rows:,} would be flagged"
    )


def _paper(convention: FlagConvention) -> str:
    rate = number(convention.rate or 0.0)
    return f"score above mean + {rate} std of {_whose_scores(convention)}"


def _reference(convention: FlagConvention) -> str:
    share = exact_percent(convention.share or 0.0)
    return (
        f"p-value against {convention.n_rows or 0:,} reference rows; if these are clean and drawn "
        f"alike, at most {share} of the flagged rows are expected to be clean"
    )


def _too_few_rows(convention: FlagConvention) -> str:
    return (
        f"fewer than {convention.n_rows} rows are ranked but not flagged, because they do not show "
        f"what is usual; {option('flag')} or {option('threshold')} flags rows"
    )


def _model_contamination(convention: FlagConvention) -> str:
    rows = "training rows" if convention.by_training else "rows"
    share = exact_percent(convention.share or 0.0)
    return f"score above the threshold that flags {share} of the {rows}{_when(convention)}"


def _contamination(convention: FlagConvention) -> str:
    share = exact_percent(convention.share or 0.0)
    return f"the {share} of the rows with the highest scores, as requested"


def _top(convention: FlagConvention) -> str:
    highest = (
        "the row with the highest score"
        if convention.count == 1
        else f"the {convention.count:,} rows with the highest scores"
    )
    return f"{highest}, as requested, including ties"


NOTES: dict[NoteKind, Callable[[Note], str]] = {
    "encoding": lambda note: f"read as {note.value} text",
    "not_utf8": lambda note: f"read as {note.value} text because it is not valid UTF-8",
    "header_like_data": lambda note: (
        "the first line looks like data but was used as column names; "
        + reading_advice("--no-header reads it as a row", "to read it as a row")
    ),
    "header_is_row": lambda note: (
        "the first line looks like data and was read as a row, so columns are named by number; "
        + reading_advice(
            f"--header-row {note.line} uses it as column names", "to use it as column names"
        )
    ),
    "unnamed_columns": lambda note: (
        f"columns without a name are named by position: {first_of(note.columns, NAMED_COLUMNS)}"
    ),
    "repeated_name": _repeated_name,
    "more_repeated_names": _more_repeated_names,
    "leading_zeros": lambda note: (
        f"{note.column}: numbers with leading zeros are read as text, not as numbers"
    ),
    "apostrophes_removed": _apostrophes_removed,
    "short_lines": _short_lines,
    "text_format": _text_format,
    "limits": _limits,
    "unreadable_cells": _unreadable_cells,
    "few_numbers": _few_numbers,
    "mixed_cells": _mixed_cells,
    "missing_code": _missing_code,
    "infinite_cells": _infinite_cells,
    "identifier_as_category": lambda note: (
        f"{note.column}: an identifier by its name, used as categories"
    ),
    "known_cases": _known_cases,
    "excel_names_cut": _excel_names_cut,
    "excel_texts_cut": _excel_texts_cut,
    "answers": _answers,
    "groups": _groups,
    "single_group": _single_group,
    "pooled_groups": _pooled_groups,
    "unknown_groups": _unknown_groups,
    "unused_columns": _unused_columns,
    **LAYOUT_NOTES,
}

EXCLUSIONS: dict[ExclusionKind, Callable[[Exclusion], str]] = {
    "opaque_cells": lambda why: "cells are neither numbers nor text",
    "empty": lambda why: "empty",
    "no_numbers": lambda why: "no cell can be read as a number",
    "constant": lambda why: "one value",
    "mostly_missing": lambda why: f"missing in {percent(why.share or 0.0)} of the rows",
    "one_value_or_missing": lambda why: (
        f"missing in {percent(why.share or 0.0)} of the rows{ONE_VALUE}"
    ),
    "unique_text": lambda why: "text that differs from row to row",
    "unique_codes": lambda why: "codes that differ from row to row",
    "mixed_dates": lambda why: (
        "dates in several formats, not clear whether the day or the month comes first; write them "
        "in one, such as 2025-04-03"
    ),
    "row_counter": lambda why: "counts the rows",
    "serial_numbers": lambda why: "increases from row to row, nearly without gaps",
    "unique_identifier": lambda why: "an identifier by its name, different in every row",
    "nearly_unique_identifier": lambda why: (
        "an identifier by its name, different in nearly every row"
    ),
    "shared_identifier": lambda why: "an identifier by its name, shared by a few rows each",
    "dropped": lambda why: "dropped as requested",
}

CONVENTIONS: dict[ConventionKind, Callable[[FlagConvention], str]] = {
    "auto": _auto,
    "paper": _paper,
    "reference": _reference,
    "too_few_rows": _too_few_rows,
    "model_contamination": _model_contamination,
    "contamination": _contamination,
    "threshold": lambda convention: "score above the given threshold",
    "top": _top,
}
