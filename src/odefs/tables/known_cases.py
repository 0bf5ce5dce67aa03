"""A column that says what is known about some rows: 1 for an outlier, 0 for an ordinary row, nothing where nobody knows."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.encoder.text_formats import is_missing_word
from odefs.tables.notes import Note

WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
CODES = {True: 1, False: 0, None: -1}


def known_rows(cells: Iterable[Any], name: str, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the known outliers and of the known ordinary rows, from ``start`` on; a cell that says anything else is named."""
    # A byte per row and not a list of numbers: all rows of a large table may be known.
    kinds = np.fromiter((CODES[_kind(cell, name, row)] for row, cell in enumerate(cells, start + 1)), dtype=np.int8)
    return np.flatnonzero(kinds == CODES[True]) + start, np.flatnonzero(kinds == CODES[False]) + start


def known_note(name: str, outliers: np.ndarray, normal: np.ndarray) -> Note:
    """What was taken from the column."""
    return Note("known_cases", name, count=int(outliers.size), n_normal=int(normal.size))


def _kind(cell: Any, name: str, row: int) -> bool | None:
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool | int | float) and cell in (0, 1):
        return bool(cell)
    text = str(cell).strip().lower()
    if isinstance(cell, str) and (not text or is_missing_word(cell.strip())):
        return None
    if isinstance(cell, str) and text in WORDS:
        return WORDS[text]
    raise TableError(
        f"column {name!r} holds {str(cell)!r} in row {row}: known cases are 1 (outlier), 0 (ordinary) or empty; true, false, yes and no do as well."
    )
