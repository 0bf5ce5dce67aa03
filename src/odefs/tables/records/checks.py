"""Records of the checks: a suspect is described by values, a check also by its rows."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from odefs.tables.frames.columns import Kind
from odefs.tables.records.notes import Note

CheckKind = Literal[
    "zero",
    "negative",
    "code",
    "future_date",
    "early_date",
    "early_column",
    "extreme_value",
    "impossible_value",
    "infinite_value",
    "spelling",
    "case_or_spaces",
    "number_in_text",
    "text_in_numbers",
    "repeated_id",
    "copied_row",
    "total_row",
    "sum_row",
    "repeated_header",
    "text_row",
]
"""Kinds of values to check; stable keywords."""

Cell = str | float | None
REPLACED_NOTES = (
    ("code", "missing_code"),
    ("text_in_numbers", "unreadable_cells"),
    ("infinite_value", "infinite_cells"),
)


@dataclass(frozen=True)
class ValueCheck:
    """Cells of a column, or rows, that are probably wrong. ``str`` gives a sentence."""

    kind: CheckKind
    column: str | None
    """Column of the cells; ``None`` for kinds that concern whole rows."""
    count: int
    """Number of cells, or of rows."""
    rows: tuple[int, ...] = ()
    """Numbers of the first rows, from 0, as :meth:`odefs.Detection.reasons` takes them."""
    names: tuple[Any, ...] = ()
    """Ids of these rows, or their numbers from 1."""
    values: tuple[Cell, ...] = ()
    """Cells of these rows; times are seconds since 1970, ids beyond 2**53 text. Empty for copies of
    rows."""
    usual: tuple[Cell, ...] = ()
    """What to compare with: lowest and highest other value, or the frequent spelling."""
    apart: tuple[Cell, ...] = ()
    """Distinct values of the first cells outside ``usual`` that other checks name."""
    apart_count: int = 0
    """Number of these cells."""
    usual_count: int = 0
    """Number of rows with the frequent spelling, or of distinct ids that are repeated."""
    summed: tuple[str, ...] = ()
    """Columns in which a row is the sum of the others."""
    columns: tuple[str, ...] = ()
    """Columns of numbers or dates in which a row has text."""
    of: Kind = "number"
    """Kind of the values."""
    unit: str = ""
    """Unit of numbers that are read from text, such as kg; fractions are shown as %. The time
    zone of times."""
    certainty: float = 0.5
    """Order of the list: how rarely such a value is right."""
    suspect: "Suspect | None" = field(default=None, repr=False, compare=False)
    """Finds all cells of the check in some rows; ``None`` for kinds that concern whole rows."""
    copies: "CopiedRows | None" = field(default=None, repr=False, compare=False)
    """All rows of the check if it is about copies."""
    code: float | None = None
    """The number of a code, which cells of text may write in several ways."""
    first_row: Literal[0, 1] = 0
    """Number of the first row: 0 in Python, 1 in files and on the command line."""
    n_distinct: int = 0
    """Number of distinct values of all cells, estimated beyond 65,535 numbers."""
    apart_distinct: int = 0
    """Number of distinct values of the cells that ``apart_count`` counts."""

    def __str__(self) -> str:
        from odefs.tables.error_messages import named_as_arguments
        from odefs.tables.messages import check_message

        if self.first_row == 1:
            return check_message(self)
        with named_as_arguments():
            return check_message(self)

    def concerns(self, columns: frozenset[str]) -> bool:
        """Whether the check is about one of these columns, or names one."""
        return self.column in columns or not columns.isdisjoint((*self.summed, *self.columns))

    def replaces(self, note: Note) -> bool:
        """Whether the check repeats a note on the same cells."""
        if note.kind == "unreadable_cells" and note.column in self.columns:
            return True
        return note.column == self.column and (self.kind, note.kind) in REPLACED_NOTES


@dataclass(frozen=True)
class Suspect:
    """Cells of one column that a check names, described by their values."""

    kind: CheckKind
    column: str
    certainty: float
    numbers: tuple[float, ...] = ()
    excluded: tuple[float, ...] = ()
    """Numbers beyond ``below`` and ``above`` that another check names."""
    below: float = -float("inf")
    above: float = float("inf")
    texts: frozenset[str] | None = None
    """The cells as text, for columns of text; the other fields then do not select cells."""
    usual: tuple[Cell, ...] = ()
    usual_count: int = 0
    of: Kind = "number"
    unit: str = ""
    exact: frozenset[str] = frozenset()
    """Integers that float64 would round, of columns of numbers."""


@dataclass(frozen=True, eq=False)
class CopiedRows:
    """Rows that repeat an earlier row, by their numbers in the table."""

    rows: np.ndarray
    """In ascending order."""
    originals: np.ndarray
    """The first row that each of them repeats."""
