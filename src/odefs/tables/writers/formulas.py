"""Text that a spreadsheet would run as a formula: written to csv behind an apostrophe, and restored where odefs reads its own output.

Text that begins with a formula character, or with apostrophes and then such a character, gets one apostrophe more. No two texts are written
alike, so taking one away restores them all. Signed numbers are no formulas and stay as they are. Text in the middle of a cell is not changed,
also where a spreadsheet with another list separator would begin a cell there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from odefs.tables.readers.polars_names import nameless

STARTS = "=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20"
"""What a formula begins with; in some locales the wide forms do as well, and line breaks are skipped."""
SIGNED = r"[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"
OWN_NAMES = (
    ("row", True),
    ("line", False),
    ("score", True),
    ("rank", True),
    ("agreement", False),
    ("outlier", True),
)
"""Columns of a file of scores in their order, and whether every such file has them (see :mod:`odefs.tables.writers.columns`)."""
OWN_FLAGS = ("yes", "no", "")
"""What its flags are; empty ones were cleared by hand."""


def is_own(names: Sequence[str], first_row: Sequence[str] | None) -> bool:
    """Whether a file of scores begins like this: with the results in their order, behind one column of ids at most.

    In other files an apostrophe is part of the text.
    """
    place = 0 if tuple(names[:1]) == ("row",) else 1
    for name, is_required in OWN_NAMES:
        if tuple(names[place : place + 1]) == (name,):
            place += 1
        elif is_required:
            return False
    return first_row is None or tuple(first_row[place - 1 : place]) in [
        (flag,) for flag in OWN_FLAGS
    ]


def defused_name(name: str) -> str:
    return f"'{name}" if _is_formula(name, "'*") else name


def restored_name(name: str) -> str:
    return name[1:] if _is_formula(name, "'+") else name


def defused(frame: Any) -> Any:
    """The cells and names of a frame as csv should have them."""
    frame = _text_replaced(frame, "'*", lambda cell: "'" + cell)
    frame.columns = [defused_name(name) for name in frame.columns]
    return frame


def restored(frame: Any) -> tuple[Any, int]:
    """The cells of a frame that was read from a file of scores, and how many of them changed; its names are restored by the header."""
    import polars as pl

    text = [pl.nth(k) for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
    counts = (
        frame.select(pl.sum_horizontal([_formulas(cells, "'+").sum() for cells in text]))
        if text
        else None
    )
    n_changed = 0 if counts is None else int(counts.item() or 0)
    return _text_replaced(frame, "'+", lambda cell: cell.str.slice(1)), n_changed


def formula_cells(frame: Any) -> Iterator[tuple[int, int, str]]:
    """Row, column and text of the cells that would be formulas if they were typed."""
    import polars as pl

    for column, series in enumerate(frame):
        if series.dtype == pl.String:
            for row in _formulas(nameless(series), "").fill_null(False).arg_true():
                yield row, column, series[row]


def _is_formula(text: str, apostrophes: str) -> bool:
    if not re.match(f"{apostrophes}[{STARTS}]", text):
        return False
    return not re.fullmatch(apostrophes + SIGNED, text)


def _text_replaced(frame: Any, apostrophes: str, change: Any) -> Any:
    import polars as pl

    found: Sequence[Any] = [
        pl.when(_formulas(pl.nth(k), apostrophes))
        .then(change(pl.nth(k)))
        .otherwise(pl.nth(k))
        .alias(frame.columns[k])
        for k, dtype in enumerate(frame.dtypes)
        if dtype == pl.String
    ]
    return frame.with_columns(found)


def _formulas(cells: Any, apostrophes: str) -> Any:
    return cells.str.contains(f"^{apostrophes}[{STARTS}]") & ~cells.str.contains(
        f"^{apostrophes}{SIGNED}$"
    )
