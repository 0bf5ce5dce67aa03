"""Rows of the table that a detection holds, their names, and what may be shown of them.

In memory a detection holds every row. Of a larger table it holds the rows with the highest scores
and a random sample, while scores, flags and agreement of all rows are in files. "Rows" are
positions among the held rows, "numbers" are positions in the table; both count from 0.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy as np

from odefs._row_selection import frame_index, index_labels
from odefs.inspection.explanation import Reason
from odefs.kernels.row_reductions import counts_above, row_chunks
from odefs.tables import messages
from odefs.tables.checks.rows import rows_of
from odefs.tables.error_messages import named_as_arguments
from odefs.tables.frames.convert import column_cells
from odefs.tables.records.checks import ValueCheck
from odefs.tables.records.drift import ColumnDrift
from odefs.tables.records.notes import Note
from odefs.tables.table import HeldTable, Table

if TYPE_CHECKING:
    from odefs.tables.results.detection import TableDetection

NOTES_ON_VALUES = ("text_format", "limits", "unreadable_cells", "leading_zeros")
"""Notes that say how the values of a column are used, and nothing if it is left out."""
LOST_CELLS = (
    *("infinite_cells", "error_cells", "unreadable_cells", "few_numbers", "mixed_cells"),
    "missing_code",
)
"""Notes on cells that are not used as the table has them."""


@dataclass(frozen=True, eq=False)
class Extent:
    """All rows of the table, and which of them are held."""

    scores: np.ndarray
    is_outlier: np.ndarray
    agreement: np.ndarray | None
    numbers: np.ndarray
    """Numbers of the held rows, ascending."""
    order: np.ndarray
    """The top-ranked rows without gaps, highest score first; ties in table order."""
    drawn: np.ndarray
    """Rows that are a random sample of the table."""
    drawn_flagged: np.ndarray
    """Rows that are a random sample of the flagged ones."""
    judged_by: int | None = None
    """Number of rows the column types were inferred from, if not all rows were in memory.

    ``None`` also for columns of a saved model.
    """

    @property
    def n_rows(self) -> int:
        return int(self.scores.size)

    @cached_property
    def n_flagged(self) -> int:
        return sum(int(np.count_nonzero(self.is_outlier[part])) for part in row_chunks(self.n_rows))

    def ranks(self, rows: np.ndarray) -> np.ndarray:
        """Return ranks, 1 for the highest score of the table; ties share the best rank."""
        return counts_above(self.scores, np.asarray(self.scores[self.numbers[rows]])) + 1

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Return positions in the table sorted by descending score; exact for rows in ``order``.

        Other rows come after these, at the first position that their score may have.
        """
        known = np.full(self.numbers.size, -1, dtype=np.int64)
        known[self.order] = np.arange(self.order.size)
        found = known[rows]
        behind = found < 0
        if behind.any():
            found[behind] = np.maximum(self.ranks(rows[behind]) - 1, self.order.size)
        return found


def extent_of(found: object) -> Extent:
    """Return the extent of a detection; one without an extent holds all rows."""
    known: Extent | None = getattr(found, "extent", None) or getattr(found, "part", None)
    return all_rows(found) if known is None else known


def all_rows(found: Any) -> Extent:
    """Return the extent of a detection that holds its whole table."""
    every = np.arange(found.scores.size)
    order = np.argsort(-found.scores, kind="stable")
    agreement = getattr(found, "agreement", None)
    return Extent(
        found.scores,
        found.is_outlier,
        agreement,
        every,
        order,
        every,
        np.flatnonzero(found.is_outlier),
    )


def name_rows(
    table: Table, id: str | None, numbers: np.ndarray | None = None
) -> tuple[str, Sequence[object]]:
    """Return the source of the names and the names; ``numbers`` selects rows, default all."""
    if id is not None:
        frame = (
            table.frame
            if isinstance(table, HeldTable) and numbers is None
            else _take(table, id, numbers)
        )
        return id, [plain_cell(cell) for cell in column_cells(frame, id)]
    if numbers is not None:
        return "row", (numbers + 1).tolist()
    index = index_labels(table_index(table))
    if index is None:
        return "row", range(1, table.n_rows + 1)
    return str(index.name or "index"), [plain_cell(cell) for cell in index]


def _take(table: Table, id: str, numbers: np.ndarray | None) -> object:
    return table.take(np.arange(table.n_rows) if numbers is None else numbers, [id])


def table_index(table: Table) -> Any:
    """Return the index of a pandas frame; ``None`` for other tables."""
    return frame_index(table.frame) if isinstance(table, HeldTable) else None


def row_labels(named: bool, row_names: Sequence[object], index: object) -> Sequence[object] | None:
    """Return names by which rows can be selected: ids or index labels, but not row numbers."""
    return row_names if named or index_labels(index) is not None else None


def plain_cell(cell: object) -> Any:
    """Return numbers and text unchanged, dates and other types as text."""
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


class Hiding(Protocol):
    """The part of a detection that redaction needs."""

    @property
    def scores(self) -> np.ndarray: ...
    @property
    def is_outlier(self) -> np.ndarray: ...
    @property
    def identifier(self) -> str: ...
    @property
    def named(self) -> bool: ...
    @property
    def row_names(self) -> Sequence[object]: ...
    @property
    def notes(self) -> Sequence[Note]: ...
    @property
    def hidden(self) -> frozenset[str]: ...


def shown_id(found: Hiding) -> str | None:
    """Return the id column; ``None`` if the table has none or it is hidden."""
    return found.identifier if found.named and found.identifier not in found.hidden else None


def _are_numbered(found: Hiding) -> bool:
    """Whether rows go by their numbers: they have no names, or hidden ones."""
    has_names = found.named or index_labels(getattr(found, "index", None)) is not None
    return not has_names or found.identifier in found.hidden


def shown_names(found: Hiding, first: int = 1) -> tuple[str, Sequence[object]]:
    """Return the identifying column and the row names; without names, row numbers from ``first``.

    Files and the command line count from 1, as spreadsheets do, Python from 0.
    """
    if _are_numbered(found):
        return "row", _row_numbers(found, first)
    return found.identifier, found.row_names


class RowTexts(Sequence[object]):
    """Names of the held rows in texts, as :func:`odefs.tables.messages.row_name` makes them."""

    def __init__(self, found: Hiding, first: int = 1) -> None:
        self.identifier, self._names = shown_names(found, first)
        self._numbers = _row_numbers(found, first)

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, row: int) -> object: ...
    @overload
    def __getitem__(self, row: slice) -> list[object]: ...
    def __getitem__(self, row: int | slice) -> object:
        if isinstance(row, slice):
            return [self[k] for k in range(len(self))[row]]
        return messages.row_name(self._names[row], self._numbers[row])


def _row_numbers(found: Hiding, first: int) -> Sequence[int]:
    """Return the numbers of the held rows in the table; those of a whole table are not listed."""
    part: Extent | None = getattr(found, "part", None)
    if part is None:
        return range(first, found.scores.size + first)
    numbers: list[int] = (part.numbers + first).tolist()
    return numbers


def shown_notes(found: Hiding, first: Literal[0, 1] = 1) -> list[Note]:
    """Return notes that do not concern hidden columns, because notes may quote cells.

    Rows count from ``first``, as in :func:`shown_names`.
    """
    # By the column of the note, never by searching its text, which may name other columns.
    return [note.numbered(first) for note in found.notes if not note.names(found.hidden)]


def reading_lines(
    found: "TableDetection", first: Literal[0, 1] = 1, most: int | None = None
) -> list[str]:
    """Return lines on columns that are left out, then lines on notes that no check repeats.

    There are at most ``most`` of each; notes on lost cells then come first, and the last line
    counts the others.
    """
    checks = shown_checks(found, first)
    notes = [note for note in shown_notes(found, first) if not _is_repeated(note, found, checks)]
    if most is not None:
        notes.sort(key=lambda note: note.kind not in LOST_CELLS)
    left_out = _first_lines(messages.left_out_lines(found.left_out), most, ".left_out")
    # Python, which counts from 0, has arguments and the command line options.
    with named_as_arguments() if first == 0 else nullcontext():
        noted = _first_lines(messages.note_lines(notes), most, ".notes")
    return [*(f"Left out: {line}" for line in left_out), *(f"Note: {line}" for line in noted)]


def _is_repeated(note: Note, found: "TableDetection", checks: Sequence[ValueCheck]) -> bool:
    """Whether a check shows the same as a note, or the column of the note is left out."""
    is_left_out = note.column in found.left_out and note.kind in NOTES_ON_VALUES
    return is_left_out or any(check.replaces(note) for check in checks)


def _first_lines(lines: list[str], most: int | None, attribute: str) -> list[str]:
    """Return at most ``most`` lines; the last one names the attribute that has the others."""
    if most is None or len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{len(lines) - most + 1} more, see {attribute}"]


def with_names(
    checks: Sequence[ValueCheck], found: "TableDetection", table: Table
) -> list[ValueCheck]:
    """Add the ids of the rows, as the detection of the table names them."""
    if not checks:
        return []
    numbers = rows_of(checks)
    if found.part is None:
        names = {row: found.row_names[row] for row in numbers.tolist()}
    else:
        _, read = name_rows(table, found.identifier if found.named else None, numbers)
        names = dict(zip(numbers.tolist(), read, strict=True))
    return [replace(check, names=tuple(names[row] for row in check.rows)) for check in checks]


def numbered_checks(found: Hiding, first: Literal[0, 1] = 1) -> list[ValueCheck]:
    """Return values to check with names as in :func:`shown_names`."""
    given: Sequence[ValueCheck] = getattr(found, "checks", ())
    checks = [replace(check, first_row=first) for check in given]
    if not _are_numbered(found):
        return checks
    return [replace(check, names=tuple(row + first for row in check.rows)) for check in checks]


def shown_checks(found: Hiding, first: Literal[0, 1] = 1) -> list[ValueCheck]:
    """Return values to check outside of hidden columns, with names as in :func:`shown_names`."""
    return [check for check in numbered_checks(found, first) if not check.concerns(found.hidden)]


def shown_drift(found: Hiding, drift: Sequence[ColumnDrift]) -> list[ColumnDrift]:
    """Return the drift from training, without categories and numbers of hidden columns."""
    return [
        entry._replace(unseen=[], cut=None, unit="") if entry.column in found.hidden else entry
        for entry in drift
    ]


def shown_reason(found: Hiding, reason: Reason) -> Reason:
    """Keep only name and weight of a hidden column: percentiles would reveal its values."""
    if reason.group is not None:
        shown = tuple((name, value) for name, value in reason.group if name not in found.hidden)
        reason = replace(reason, group=shown)
    if reason.column not in found.hidden:
        return reason
    return replace(reason, value=None, usual=None, percentile=None, frequency=None, equal=None)
