"""Rows of suspect cells, found in one pass over the columns that have any."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefs.tables.checks.record import Cell, Suspect, ValueCheck
from odefs.tables.columns import Column
from odefs.tables.encoder.missing import without_words
from odefs.tables.table import Table

ROWS_KEPT = 1_000
"""Rows that a check names; further ones are counted."""


@dataclass
class Located:
    """Number of the cells of a suspect, and the first of their rows and values."""

    suspect: Suspect
    count: int = 0
    rows: list[int] = field(default_factory=list)
    values: list[Cell] = field(default_factory=list)

    def add(self, column: Column, start: int) -> None:
        """Search a batch that starts at row ``start``."""
        found = np.flatnonzero(_matches(column, self.suspect))
        self.count += found.size
        for row in found[: ROWS_KEPT - len(self.rows)].tolist():
            self.rows.append(start + row)
            self.values.append(column.at(row))

    def check(self) -> ValueCheck:
        suspect = self.suspect
        return ValueCheck(
            suspect.kind,
            suspect.column,
            self.count,
            tuple(self.rows),
            values=tuple(self.values),
            usual=suspect.usual,
            usual_count=suspect.usual_count,
            # Cells of text are quoted as they are, also where they were read as numbers; dates
            # keep their kind, since the others are compared as dates.
            of=suspect.of if suspect.texts is None or suspect.of == "time" else "category",
            certainty=suspect.certainty,
        )


def locate(table: Table, suspects: Sequence[Suspect], na: Collection[str] = ()) -> list[Located]:
    """Find the cells of all suspects; those of text columns are compared as text.

    Cells with a value in ``na`` are missing.
    """
    located = [Located(suspect) for suspect in suspects]
    names = list(dict.fromkeys(suspect.column for suspect in suspects))
    if names:
        for start, batch in table.column_batches(names):
            read = {name: without_words(batch[name], na) for name in names}
            for one in located:
                one.add(read[one.suspect.column], start)
    return [one for one in located if one.count]


def _matches(column: Column, suspect: Suspect) -> np.ndarray:
    if suspect.texts is not None:
        is_suspect = [level in suspect.texts for level in column.levels]
        return np.array([*is_suspect, False])[column.category_codes]
    values = column.values
    with np.errstate(invalid="ignore"):
        found = (values < suspect.below) | (values > suspect.above)
    for number in suspect.excluded:
        found &= values != number
    for number in suspect.numbers:
        found |= values == number
    return found


def rows_of(checks: Collection[ValueCheck]) -> np.ndarray:
    """Numbers of all rows that some checks name, in ascending order."""
    return np.unique(np.array([row for check in checks for row in check.rows], dtype=np.int64))
