"""Text that a spreadsheet would compute as a formula: escaped in csv, marked in Excel.

In csv, text that starts with a formula character, possibly after apostrophes, gets one more
apostrophe, which is removed when odefs reads the file again. Different texts stay different, so
removing one apostrophe restores them all. Signed numbers are not formulas and stay unchanged. Text
in the middle of a cell is not changed either, even if a spreadsheet with another list separator
would start a cell there.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from odefs.tables.polars_names import nameless

if TYPE_CHECKING:
    import polars as pl

Cells = TypeVar("Cells", "pl.Series", "pl.Expr")

STARTS = "=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20"
"""First characters of formulas, in some locales also in full width; line breaks are skipped."""
SIGNED = r"[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"
OWN_NAMES = (
    ("row", True),
    ("line", False),
    ("score", True),
    ("rank", True),
    ("percentile", False),
    ("p_value", False),
    ("agreement", False),
    ("outlier", True),
)
"""Columns of a score file in order, and whether they are present in files of every version.

See :mod:`odefs.tables.writers.columns`.
"""
OWN_FLAGS = ("yes", "no", "")
"""Values of the flag column; empty ones were cleared by hand."""


def is_own(names: Sequence[str], first_row: Sequence[str] | None) -> bool:
    """Whether names and first row are those of a score file: results after at most one id column.

    In other files an apostrophe is part of the text.
    """
    place = 0 if tuple(names[:1]) == ("row",) else 1
    for name, is_required in OWN_NAMES:
        if tuple(names[place : place + 1]) == (name,):
            place += 1
        elif is_required:
            return False
    # The names alone are not enough: the first row must have a flag as odefs writes it.
    return first_row is None or tuple(first_row[place - 1 : place]) in [
        (flag,) for flag in OWN_FLAGS
    ]


def defused_name(name: str) -> str:
    return f"'{name}" if _is_formula(name, "'*") else name


def restored_name(name: str) -> str:
    return name[1:] if _is_formula(name, "'+") else name


def defused(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Escape cells and names for csv."""
    frame = _text_replaced(frame, "'*", lambda cell: "'" + cell)
    frame.columns = [defused_name(name) for name in frame.columns]
    return frame


def restored(frame: "pl.DataFrame") -> tuple["pl.DataFrame", int]:
    """Restore the cells of a score file, and count the changed ones; the header restores names."""
    import polars as pl

    text = [pl.nth(k) for k, dtype in enumerate(frame.dtypes) if dtype == pl.String]
    counts = (
        frame.select(pl.sum_horizontal([_formulas(cells, "'+").sum() for cells in text]))
        if text
        else None
    )
    n_changed = 0 if counts is None else int(counts.item() or 0)
    return _text_replaced(frame, "'+", lambda cell: cell.str.slice(1)), n_changed


def formula_cells(frame: "pl.DataFrame") -> Iterator[tuple[int, int, str]]:
    """Yield row, column and text of cells that would be formulas if typed."""
    import polars as pl

    for column, series in enumerate(frame):
        if series.dtype == pl.String:
            for row in _formulas(nameless(series), "").fill_null(False).arg_true():
                yield row, column, series[row]


def _is_formula(text: str, apostrophes: str) -> bool:
    if not re.match(f"{apostrophes}[{STARTS}]", text):
        return False
    # Not ``$``, which in Python also matches before a final line break; in polars it does not.
    return not re.fullmatch(apostrophes + SIGNED, text)


def _text_replaced(
    frame: "pl.DataFrame", apostrophes: str, change: "Callable[[pl.Expr], pl.Expr]"
) -> "pl.DataFrame":
    import polars as pl

    found = [
        pl.when(_formulas(pl.nth(k), apostrophes))
        .then(change(pl.nth(k)))
        .otherwise(pl.nth(k))
        .alias(frame.columns[k])
        for k, dtype in enumerate(frame.dtypes)
        if dtype == pl.String
    ]
    return frame.with_columns(found)


def _formulas(cells: Cells, apostrophes: str) -> Cells:
    return cells.str.contains(f"^{apostrophes}[{STARTS}]") & ~cells.str.contains(
        f"^{apostrophes}{SIGNED}$"
    )
