"""Cells of a sheet or text file as text, before it is known where its table is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from odefs.tables.readers.layout.cell_kinds import cleaned


class Rows(Protocol):
    """Rows of cells, of the same length."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> Sequence[str | None]: ...


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells as text, row by row, and which of them are not blank."""

    rows: Rows
    filled: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[str | None]]) -> "Grid":
        """Make a grid of rows, which may differ in length."""
        width = max(map(len, rows), default=0)
        cells = [[cleaned(cell) for cell in row] + [None] * (width - len(row)) for row in rows]
        filled = np.array([[cell is not None for cell in row] for row in cells], dtype=bool)
        return cls(cells, filled.reshape(len(cells), width))

    @cached_property
    def filled_rows(self) -> np.ndarray:
        """Which rows are not blank."""
        return np.asarray(self.filled.any(axis=1))

    def without_top(self, n_rows: int) -> "Grid":
        """Return the grid with its first rows blank."""
        filled = self.filled.copy()
        filled[:n_rows] = False
        return Grid(self.rows, filled) if n_rows else self

    def cell(self, row: int, column: int) -> str | None:
        return cleaned(self.rows[row][column])


@dataclass(frozen=True)
class Block:
    """A rectangle of cells; the last row and column are part of it."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int
