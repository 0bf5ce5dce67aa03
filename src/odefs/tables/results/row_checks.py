"""Values to check by row: a text for each row that names its cells to check, and why."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from odefs.tables import messages
from odefs.tables.checks.find import dates_in_numbers
from odefs.tables.checks.marks import Marks, columns_to_read, find_marks
from odefs.tables.frames.columns import Columns
from odefs.tables.frames.convert import columns_of
from odefs.tables.records.checks import ValueCheck
from odefs.tables.table import HeldTable, Table

if TYPE_CHECKING:
    from odefs.tables.results.detection import TableDetection

RowName = Callable[[int], object]
"""Names a row, given by its number from 0, in texts about copies of it."""


@dataclass(frozen=True, eq=False)
class RowChecks:
    """The checks of a table without those of hidden columns, and how its cells are read."""

    checks: tuple[ValueCheck, ...]
    na: frozenset[str]
    dates: frozenset[str]

    @classmethod
    def of(cls, found: "TableDetection") -> "RowChecks | None":
        """Return the checks of a detection; ``None`` if its table was not searched."""
        if not found.checked:
            return None
        shown = tuple(check for check in found.checks if not check.concerns(found.hidden))
        return cls(shown, found.encoder.na_words, dates_in_numbers(found.encoder))

    @cached_property
    def columns(self) -> list[str]:
        """Columns that have to be read."""
        return columns_to_read(self.checks)

    def of_batch(
        self, table: Table, frame: object, numbers: np.ndarray, name: RowName
    ) -> list[str | None]:
        """Return the text of each row of a batch of the table, ``None`` for most of them."""
        if not self.checks:
            return [None] * numbers.size
        if isinstance(table, HeldTable):
            return self._texts(table.columns(self.columns), numbers, name)
        return self._texts(columns_of(frame, self.columns.__contains__), numbers, name)

    def of_rows(self, table: Table, numbers: np.ndarray, name: RowName) -> list[str | None]:
        """Return the texts of rows of the table with the given numbers, in any order."""
        ascending, places = np.unique(numbers, return_inverse=True)
        if not self.checks or not ascending.size:
            return [None] * numbers.size
        columns = (
            table.column_rows(ascending, self.columns)
            if self.columns
            else Columns((), ascending.size)
        )
        texts = self._texts(columns, ascending, name)
        return [texts[place] for place in places.tolist()]

    def _texts(self, columns: Columns, numbers: np.ndarray, name: RowName) -> list[str | None]:
        texts: list[str | None] = [None] * numbers.size
        for marks in find_marks(self.checks, columns, numbers, self.na, self.dates):
            for place, text in zip(marks.places.tolist(), _texts_of(marks, name), strict=True):
                before = texts[place]
                texts[place] = text if before is None else f"{before}; {text}"
        return texts


def _texts_of(marks: Marks, name: RowName) -> Iterable[str]:
    """Return the text of each mark; equal ones are made only once."""
    if marks.cells:
        cells = {
            cell: messages.checked_cell(marks.check, cell) for cell in dict.fromkeys(marks.cells)
        }
        return [cells[cell] for cell in marks.cells]
    if marks.originals:
        return [messages.checked_row(marks.check, name(row)) for row in marks.originals]
    return [messages.checked_row(marks.check)] * marks.places.size
