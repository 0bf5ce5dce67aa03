"""Text that a spreadsheet would run as a formula: written to csv behind an apostrophe, and restored where odefs reads its own output.

Text that begins with a formula character, or with apostrophes and then such a character, gets one apostrophe more. No two texts are written
alike, so taking one away restores them all. Signed numbers are no formulas and stay as they are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from odefs.tables.patterns import nameless

STARTS = "=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20"
"""What a formula begins with; in some locales the wide forms do as well, and line breaks are skipped."""
SIGNED = r"[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"
OWN_NAMES = frozenset(("row", "score", "rank", "outlier"))
"""Columns that every file of scores has and by which one is recognised: in others an apostrophe is part of the text."""


def is_own(names: Iterable[str]) -> bool:
    """Whether these are the columns of a file of scores."""
    return OWN_NAMES.issubset(names)


def defused_name(name: str) -> str:
    return f"'{name}" if _is_formula(name, "'*") else name


def restored_name(name: str) -> str:
    return name[1:] if _is_formula(name, "'+") else name


def defused(pl: Any, frame: Any) -> Any:
    """The cells and names of a frame as csv should have them."""
    frame = _text_replaced(pl, frame, "'*", lambda cell: "'" + cell)
    frame.columns = [defused_name(name) for name in frame.columns]
    return frame


def restored(pl: Any, frame: Any) -> Any:
    """The cells of a frame that was read from a file of scores; its names are restored by the header."""
    return _text_replaced(pl, frame, "'+", lambda cell: cell.str.slice(1))


def formula_cells(pl: Any, frame: Any) -> Iterator[tuple[int, int, str]]:
    """Row, column and text of the cells that would be formulas if they were typed."""
    for column, series in enumerate(frame):
        if series.dtype == pl.String:
            for row in _formulas(nameless(series), "").fill_null(False).arg_true():
                yield row, column, series[row]


def _is_formula(text: str, apostrophes: str) -> bool:
    if not re.match(f"{apostrophes}[{STARTS}]", text):
        return False
    return not re.fullmatch(apostrophes + SIGNED, text)


def _text_replaced(pl: Any, frame: Any, apostrophes: str, change: Any) -> Any:
    found: Sequence[Any] = [
        pl.when(_formulas(pl.nth(k), apostrophes)).then(change(pl.nth(k))).otherwise(pl.nth(k)).alias(frame.columns[k])
        for k, dtype in enumerate(frame.dtypes)
        if dtype == pl.String
    ]
    return frame.with_columns(found)


def _formulas(cells: Any, apostrophes: str) -> Any:
    return cells.str.contains(f"^{apostrophes}[{STARTS}]") & ~cells.str.contains(f"^{apostrophes}{SIGNED}$")
