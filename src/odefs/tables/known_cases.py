"""Known cases: a column with 1 for outliers, 0 for normal rows, and empty cells otherwise."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.encoder.text_formats import is_missing_word
from odefs.tables.frames import column_cells
from odefs.tables.notes import Note
from odefs.tables.table import Table

WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
CODES = {True: 1, False: 0, None: -1}


def known_cases(table: Table, column: str) -> tuple[dict[str, np.ndarray], Note]:
    """Return the numbers of known outliers and known normal rows, and a note on them."""
    table.require_columns([column])
    none = np.empty(0, dtype=np.intp)
    found = [(none, none)]
    for start, frame in table.batches([column]):
        found.append(known_rows(column_cells(frame, column), column, start))
    outliers, normal = (np.concatenate(kind) for kind in zip(*found, strict=True))
    note = Note("known_cases", column, count=int(outliers.size), n_normal=int(normal.size))
    return {"known_outliers": outliers, "known_normal": normal}, note


def known_rows(cells: Iterable[Any], name: str, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers, counted from ``start``, of known outliers and known normal rows.

    Raise for a cell with any other value.
    """
    # One byte per row instead of a list: all rows of a large table may be known.
    kinds = np.fromiter(
        (CODES[_kind(cell, name, row)] for row, cell in enumerate(cells, start + 1)), dtype=np.int8
    )
    return np.flatnonzero(kinds == CODES[True]) + start, np.flatnonzero(
        kinds == CODES[False]
    ) + start


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
        f"column {name!r} contains {str(cell)!r} in row {row}: allowed values are 1, true or yes "
        "(outlier), 0, false or no (normal), and empty cells (unknown)."
    )
