"""Sentences for values to check, one entry for each kind."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from odefs.tables.error_messages import has_option, missing_option
from odefs.tables.frames.columns import DURATION
from odefs.tables.messages.row_names import ROW, numbered_row, row_name
from odefs.tables.messages.values import (
    count,
    duration,
    first_of,
    shortened,
    span,
    value,
    without_controls,
    year,
)
from odefs.tables.records.notes import COMPACT_DATES

if TYPE_CHECKING:
    from odefs.tables.records.checks import Cell, CheckKind, ValueCheck

SHOWN_VALUES = 3
SHOWN_ROWS = 3
LONGEST_CELL = 100
"""Characters of a cell in the text of its row; the middle of a longer one is left out."""

CHECKS_TITLE = "Values to check"
CHECKS_HINT = (
    "Cells and rows that are probably wrong, or need an explanation. "
    "Scores and ranks do not depend on this list."
)


def check_message(check: "ValueCheck") -> str:
    """Return a sentence without a full stop."""
    where = "" if check.column is None else f"{check.column}: "
    return without_controls(where + SENTENCES[check.kind](check))


def check_rows(check: "ValueCheck", identifier: str = ROW) -> str:
    """Return the first rows of a check, as :func:`first_rows` does."""
    numbers = [row + 1 for row in check.rows[:SHOWN_ROWS]]
    return first_rows(check.column, numbers, check.names, check.count, identifier)


def first_rows(
    column: str | None,
    numbers: Sequence[int],
    names: Sequence[object],
    total: int,
    identifier: str = ROW,
    shown: int = SHOWN_ROWS,
) -> str:
    """Return the first of ``total`` rows: ``rows 3, 17, 20 and 5 more`` or ``order 1011, 1055``.

    ``identifier`` is the column of the names, or ``row``. Of a check of that ``column`` itself,
    such as one of repeated ids, rows go by their numbers, which count from 1; so do rows without an
    id, which come last: ``order 1011, row 17``.
    """
    texts = [
        without_controls(str(row_name(name, number)))
        for name, number in zip(names[:shown], numbers[:shown], strict=False)
    ]
    are_numbered = [numbered_row(text) is not None for text in texts]
    if identifier == ROW or column == identifier or all(are_numbered):
        what = "row" if total == 1 else "rows"
        listed = [str(number) for number in numbers[:shown]]
    else:
        what = without_controls(identifier)
        listed = [texts[k] for k in sorted(range(len(texts)), key=are_numbered.__getitem__)]
    more = f" and {count(total - len(listed))} more" if total > len(listed) else ""
    return f"{what} {', '.join(listed)}{more}"


def more_checks(n_more: int, in_python: bool = False) -> str:
    """Return how many checks are left out, and where they are."""
    return f"{count(n_more)} more; {'.checks' if in_python else '--checks-out FILE.csv'} lists all"


def check_cell(check: "ValueCheck", k: int) -> str | None:
    """Return one of the values with all its digits; ``None`` if the check has no values."""
    return _cell(check, check.values[k]) if check.values else None


def checked_cell(check: "ValueCheck", cell: "Cell") -> str:
    """Return a cell of a check and what is wrong with it: ``age = -1 (negative)``."""
    text = shortened(_cell(check, cell) or "", LONGEST_CELL)
    # Spaces at the ends would not be seen.
    text = repr(text) if check.kind == "case_or_spaces" else text
    return without_controls(f"{check.column} = {text} ({_cell_label(check)})")


def checked_row(check: "ValueCheck", original: object = None) -> str:
    """Return what is wrong with a row of a check; ``original`` names the row that it repeats."""
    if check.kind == "sum_row":
        return without_controls(f"sum of all other rows in {_summed(check)}")
    if check.kind == "repeated_header":
        return without_controls(f"repeats the header in {_text_columns(check)}")
    if check.kind == "text_row":
        return without_controls(f"text in {_text_columns(check)}")
    return without_controls(
        "copy of an earlier row" if original is None else f"copy of row {original}"
    )


def to_check(text: str) -> str:
    """Return the values to check of a row as a sentence."""
    return f"To check: {text}."


def _cell_label(check: "ValueCheck") -> str:
    """Return what is wrong with a cell in a few words."""
    if check.kind == "spelling":
        return f"one letter away from {check.usual[0]!r}"
    if check.kind == "case_or_spaces":
        return f"differs from {check.usual[0]!r} only in letter case or spaces"
    if check.kind == "text_in_numbers":
        return "not a date" if check.usual[0] == COMPACT_DATES else f"text among {check.usual[0]}"
    return LABELS[check.kind]


def _cell(check: "ValueCheck", cell: "Cell") -> str | None:
    if isinstance(cell, float) and check.of == "time":
        # A time before 1970 in the context: values of 1 January 1970 are dates here, as columns of
        # times of day are not checked.
        return value(cell, "time", context=(-1.0,), unit=check.unit)
    if isinstance(cell, float) and check.unit == DURATION:
        return duration(cell)
    return _plain(cell) if isinstance(cell, float) else cell


def _plain(number: float) -> str:
    """Return a number with all its digits; whole ones, which may be ids, without an exponent."""
    is_exact = number.is_integer() and abs(number) < 2**53
    return f"{number:.0f}" if is_exact else f"{number:.15g}"


def _quoted(check: "ValueCheck") -> str:
    """Return the distinct values; text in quotation marks."""
    return _listed(check, check.values, check.n_distinct)


def _listed(check: "ValueCheck", cells: "Sequence[Cell]", n_distinct: int) -> str:
    shown = dict.fromkeys(cells)
    # Units of numbers are part of the text that is quoted, or follow the range of the others.
    unit = check.unit if check.of == "time" or check.unit == DURATION else ""
    texts = [
        repr(cell)
        if isinstance(cell, str)
        else value(cell, check.of, context=(cell, -1.0), unit=unit)
        for cell in shown
    ]
    return first_of(texts, SHOWN_VALUES, total=n_distinct)


def _others(check: "ValueCheck") -> str:
    kind = "number" if check.of == "category" else check.of
    low, high = check.usual
    if kind == "time":
        others = span((low, high), "time", context=(-1.0,), unit=check.unit)
    else:
        others = span((low, high), kind, unit=check.unit)
    if not check.apart_count:
        return others
    cells = count(check.apart_count, "cell")
    return f"{others}, apart from {cells} of {_listed(check, check.apart, check.apart_distinct)}"


def _cells(check: "ValueCheck", one: str, several: str) -> str:
    return count(check.count, one, several)


def _zero(check: "ValueCheck") -> str:
    cells = _cells(check, "cell is", "cells are")
    return f"{cells} 0, but all others are positive ({_others(check)})"


def _negative(check: "ValueCheck") -> str:
    cells = _cells(check, "number is", "numbers are")
    return f"{cells} negative ({_quoted(check)}); all others are {_others(check)}"


def _code(check: "ValueCheck") -> str:
    cells = _cells(check, "cell is", "cells are")
    # Cells of text may write one number in several ways; the option takes the number.
    code = f"{check.code:g}"
    unit = f" {check.unit}" if check.unit not in ("", "%", DURATION) else ""
    advice = f" ({missing_option(code)} treats it as missing)" if has_option("na") else ""
    return (
        f"{cells} {code}{unit}, possibly a code for missing; the others are {_others(check)}"
        f"{advice}"
    )


def _impossible(check: "ValueCheck") -> str:
    lie = _cells(check, "value lies", "values lie")
    return f"{lie} outside {_others(check)} ({_quoted(check)})"


def _future(check: "ValueCheck") -> str:
    # Of a column of numbers, these are calendar years.
    noun = ("date is", "dates are") if check.of == "time" else ("year is", "years are")
    return f"{_cells(check, *noun)} in the future ({_quoted(check)})"


def _infinite(check: "ValueCheck") -> str:
    counts = "counts" if check.count == 1 else "count"
    cells = _cells(check, "cell is infinite", "cells are infinite")
    return f"{cells} and {counts} as missing ({_quoted(check)})"


def _early(check: "ValueCheck") -> str:
    return f"{_cells(check, 'date is', 'dates are')} before 1900 ({_quoted(check)})"


def _early_column(check: "ValueCheck") -> str:
    first, last = (year(end) for end in check.usual)
    years = f"the year {first}" if first == last else f"the years {first} to {last}"
    return f"all {count(check.count, 'date lies', 'dates lie')} in {years}"


def _far(check: "ValueCheck") -> str:
    noun = ("date is", "dates are") if check.of == "time" else ("number is", "numbers are")
    return (
        f"{_cells(check, *noun)} far from all others ({_quoted(check)}; "
        f"the others are {_others(check)})"
    )


def _spelling(check: "ValueCheck") -> str:
    rare = f"{check.values[0]!r} ({count(check.count, 'row')})"
    return f"{rare} is one letter away from {check.usual[0]!r} ({count(check.usual_count, 'row')})"


def _case_or_spaces(check: "ValueCheck") -> str:
    rare = f"{check.values[0]!r} ({count(check.count, 'row')})"
    frequent = f"{check.usual[0]!r} ({count(check.usual_count, 'row')})"
    return f"{rare} differs from {frequent} only in letter case or spaces"


def _number_in_text(check: "ValueCheck") -> str:
    return f"{_cells(check, 'number', 'numbers')} among text ({_quoted(check)})"


def _text_in_numbers(check: "ValueCheck") -> str:
    # Cells of compact dates may be numbers, such as 0.
    what = "not a date" if check.usual[0] == COMPACT_DATES else "text"
    cells = _cells(check, f"cell is {what}", f"cells are {what}")
    counts = "counts" if check.count == 1 else "count"
    return f"{cells} among {check.usual[0]} and {counts} as missing ({_quoted(check)})"


def _repeated_id(check: "ValueCheck") -> str:
    if check.usual_count > 1:
        return f"{count(check.usual_count)} ids occur more than once ({_ids(check)})"
    times = "twice" if check.count == 2 else f"{check.count:,} times"
    return f"1 id occurs {times} ({_ids(check)})"


def _ids(check: "ValueCheck") -> str:
    """Numbers without separators, as the table has them."""
    ids = [_id(check, cell) for cell in dict.fromkeys(check.values)]
    return first_of(ids, SHOWN_VALUES, total=check.usual_count)


def _id(check: "ValueCheck", cell: "Cell") -> str:
    if isinstance(cell, str):
        # Of numbers, those with more digits than a float has.
        return cell if check.of == "number" else repr(cell)
    if check.of == "time" or check.unit or cell is None:
        return value(cell, check.of, context=(cell, -1.0), unit=check.unit)
    return f"{cell:.0f}" if cell.is_integer() else f"{cell:.15g}"


def _copied_row(check: "ValueCheck") -> str:
    return _cells(check, "row repeats an earlier row", "rows repeat an earlier row")


def _total_row(check: "ValueCheck") -> str:
    rows = _cells(check, "row is", "rows are")
    return f"{rows} labelled {_quoted(check)} among the data"


def _sum_row(check: "ValueCheck") -> str:
    return f"1 row is the sum of all other rows in {_summed(check)}"


def _repeated_header(check: "ValueCheck") -> str:
    rows = _cells(check, "row repeats", "rows repeat")
    return f"{rows} the header in {_text_columns(check)}; these cells count as missing"


def _text_row(check: "ValueCheck") -> str:
    rows = _cells(check, "row has", "rows have")
    return f"{rows} text in {_text_columns(check)}; these cells count as missing"


def _text_columns(check: "ValueCheck") -> str:
    columns = count(len(check.columns), "column")
    return f"{columns} of numbers or dates ({first_of(check.columns, SHOWN_VALUES)})"


def _summed(check: "ValueCheck") -> str:
    return first_of(check.summed, SHOWN_VALUES)


SENTENCES: "dict[CheckKind, Callable[[ValueCheck], str]]" = {
    "zero": _zero,
    "negative": _negative,
    "code": _code,
    "impossible_value": _impossible,
    "infinite_value": _infinite,
    "future_date": _future,
    "early_date": _early,
    "early_column": _early_column,
    "extreme_value": _far,
    "spelling": _spelling,
    "case_or_spaces": _case_or_spaces,
    "number_in_text": _number_in_text,
    "text_in_numbers": _text_in_numbers,
    "repeated_id": _repeated_id,
    "copied_row": _copied_row,
    "total_row": _total_row,
    "sum_row": _sum_row,
    "repeated_header": _repeated_header,
    "text_row": _text_row,
}

LABELS: "dict[CheckKind, str]" = {
    "zero": "zero among positive numbers",
    "negative": "negative",
    "code": "possibly a code for missing",
    "impossible_value": "outside the possible range",
    "infinite_value": "infinite",
    "future_date": "in the future",
    "early_date": "before 1900",
    "early_column": "before 1500",
    "extreme_value": "far from all others",
    "number_in_text": "number among text",
    "repeated_id": "repeated id",
    "total_row": "label of a total",
}
"""What is wrong with a cell, for kinds of checks whose label depends on nothing else."""
