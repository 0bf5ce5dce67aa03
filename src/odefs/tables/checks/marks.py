"""All cells and rows of a table that checks name, found again in some of its rows.

A check lists the first of its rows. The others are not stored, which for a large table would take
memory: its cells are described by their values, and are found wherever the rows are read.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from odefs.tables.checks.rows import as_checked, matches, quoted_cells
from odefs.tables.frames.columns import Columns
from odefs.tables.records.checks import Cell, ValueCheck


@dataclass(frozen=True, eq=False)
class Marks:
    """Cells or rows of a check among some rows of a table."""

    check: ValueCheck
    places: np.ndarray
    """Positions of the marked rows among these rows."""
    cells: Sequence[Cell] = ()
    """The cells; empty for kinds that concern whole rows."""
    originals: Sequence[int] = ()
    """Numbers of the rows that these rows repeat; empty for kinds other than copies."""


def columns_to_read(checks: Collection[ValueCheck]) -> list[str]:
    """Return the columns whose cells tell which rows the checks name."""
    return list(dict.fromkeys(one.suspect.column for one in checks if one.suspect is not None))


def find_marks(
    checks: Collection[ValueCheck],
    columns: Columns,
    numbers: np.ndarray,
    na: Collection[str] = (),
    dates: Collection[str] = (),
) -> Iterator[Marks]:
    """Yield the marks of each check in rows with the given ``numbers``, in the order of the checks.

    Checks of a whole column mark no rows.

    ``columns`` are the :func:`columns_to_read` in these rows. Cells with a value in ``na`` are
    missing; numbers in ``dates`` are dates.
    """
    read = {name: as_checked(columns[name], na, dates) for name in columns_to_read(checks)}
    for check in checks:
        if check.kind == "early_column":
            continue  # the rows do not differ from each other
        if check.suspect is not None:
            column = read[check.suspect.column]
            places = np.flatnonzero(matches(column, check.suspect))
            yield Marks(check, places, quoted_cells(column, places, check.suspect))
        elif check.copies is not None:
            places, found = _common(numbers, check.copies.rows)
            yield Marks(check, places, originals=check.copies.originals[found].tolist())
        else:
            places, found = _common(numbers, np.array(check.rows, dtype=np.int64))
            cells = [check.values[k] for k in found.tolist()] if check.values else ()
            yield Marks(check, places, cells)


def _common(numbers: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions in ``numbers`` and in ascending ``rows`` of what both contain."""
    at = np.searchsorted(rows, numbers)
    inside = np.flatnonzero(at < rows.size)
    places = inside[rows[at[inside]] == numbers[inside]]
    return places, at[places]
