"""Cells: random draws of reference rows divide the space, one cell around each reference.

This is how LeSiNN's subsets see a table. Two rows resemble each other by the share of draws in
which they have the same nearest reference.

A draw of few rows has large cells, a draw of many rows small ones. Draws that look at some columns
only find rows alike that differ in the others, as the leaves of a tree do. Half of the references
are drawn evenly from all rows, half from the top of the ranking, where the rows in question are:
the logarithm of their rank is uniform.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from odefs.kernels.chunking import row_blocks
from odefs.kernels.distances_with_missing import masked_squared
from odefs.kernels.nearest_members import nearest_members

ROWS_PER_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of one size, scaled: row ``p * n_draws + d`` is member ``p`` of draw ``d``.

    A draw that looks at some columns only has 0 in all others, which then add the same to the
    distances of all its members.
    """

    rows: np.ndarray
    n_draws: int

    @property
    def size(self) -> int:
        """Number of references of a draw, at most 256: cells are stored in a byte."""
        return len(self.rows) // self.n_draws

    @cached_property
    def _is_complete(self) -> bool:
        return not np.isnan(self.rows).any()

    @cached_property
    def _references(self) -> np.ndarray:
        return self.rows.astype(np.float64)

    @cached_property
    def _seen_references(self) -> np.ndarray:
        """References without the columns that their draw does not look at.

        Distances with missing cells depend on the number of columns in common.
        """
        members = self._references.reshape(self.size, self.n_draws, -1).copy()
        members[:, (members == 0).all(axis=0)] = np.nan
        return members.reshape(self._references.shape)

    def of_block(self, X: np.ndarray) -> np.ndarray:
        """The cell of each scaled row in each draw."""
        if self._is_complete and not np.isnan(X).any():
            # References are member-major: number // n_draws is the member, which is the cell.
            return nearest_members(X, self._references, self.n_draws) // self.n_draws
        squares = masked_squared(X, self._seen_references, None)
        # A row that shares no column with any reference is in the first cell.
        squares = np.where(np.isnan(squares), np.inf, squares)
        return squares.reshape(self.size, self.n_draws, X.shape[0]).argmin(axis=0)


@dataclass(frozen=True, eq=False)
class Cells:
    """Draws of several sizes, which divide the space into cells."""

    groups: tuple[Draws, ...]

    @property
    def n_draws(self) -> int:
        return sum(group.n_draws for group in self.groups)

    @property
    def n_references(self) -> int:
        return sum(len(group.rows) for group in self.groups)

    @property
    def size(self) -> int:
        """Number of references of the largest draw."""
        return max(group.size for group in self.groups)

    def of(self, X: np.ndarray) -> np.ndarray:
        """The cell of each scaled row in each draw, ``(n_draws, n_rows)`` bytes."""
        found = np.empty((self.n_draws, X.shape[0]), dtype=np.uint8)
        for rows in row_blocks(X.shape[0], ROWS_PER_BLOCK):
            block = X[rows].astype(np.float64)
            found[:, rows] = np.concatenate([group.of_block(block) for group in self.groups])
        return found


def resemblance(cells: np.ndarray, one: np.ndarray) -> np.ndarray:
    """The kernel: share of the draws in which rows are in the cell of another row."""
    # The smallest type that can count all draws: fast, and no file can make it overflow.
    same = np.zeros(cells.shape[1], dtype=np.min_scalar_type(len(cells)))
    for of_draw, cell in zip(cells, one, strict=True):
        same += of_draw == cell
    return same / len(cells)


def amounts_of_cells(cells: np.ndarray, amounts: np.ndarray, size: int) -> np.ndarray:
    """Amounts of the answers in each cell of each draw, divided by the number of draws."""
    return np.stack([np.bincount(of, weights=amounts, minlength=size) for of in cells]) / len(cells)


def shifts_of_cells(cells: np.ndarray, of_cells: np.ndarray) -> np.ndarray:
    """Sum over the draws of the amounts of the cells that rows are in."""
    out = np.zeros(cells.shape[1])
    for of_draw, amounts in zip(cells, of_cells, strict=True):
        if amounts.any():
            out += amounts.take(of_draw)
    return out


SIZES = (8, 32)
N_DRAWS = 50
"""Draws of each size that look at all columns, half of them, and the root of their number.

With 100 draws of each, reviews found fewer outliers on the eleven datasets and more on the fourteen
(research log, "Learning from answers").
"""


def draw_cells(
    scores: np.ndarray, take: Callable[[np.ndarray], np.ndarray], n_columns: int, seed: int
) -> Cells:
    """Draw references; ``take`` returns scaled rows by their numbers in ascending order."""
    rng = np.random.default_rng(seed)
    ranking = np.argsort(-scores, kind="stable")
    widths = [n_columns, -(-n_columns // 2), int(np.ceil(np.sqrt(n_columns)))]
    plan = [(size, max(min(2, n_columns), width)) for width, size in product(widths, SIZES)]
    numbers = [_draw_numbers(ranking, (size, N_DRAWS), rng) for size, _ in plan]
    # One request for all rows, ascending: engines may have to read them from a file.
    rows = np.unique(np.concatenate([drawn.ravel() for drawn in numbers]))
    scaled = take(rows)
    return Cells(
        tuple(
            Draws(_on_columns(scaled[np.searchsorted(rows, drawn)], width, rng), N_DRAWS)
            for drawn, (_, width) in zip(numbers, plan, strict=True)
        )
    )


def _draw_numbers(
    ranking: np.ndarray, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Row numbers; one that is drawn twice counts once, as its cell is that of the first."""
    n_rows = ranking.size
    # (n + 1)^u - 1 with uniform u has a uniform logarithm of the rank. Drawn evenly, the references
    # would leave the outlying region of a table in one cell, and a review would learn nothing about
    # it.
    from_top = np.minimum(n_rows - 1, (n_rows + 1.0) ** rng.random(shape) - 1).astype(np.intp)
    evenly = rng.integers(0, n_rows, shape)
    return ranking[np.where(rng.random(shape) < 0.5, from_top, evenly)]


def _on_columns(members: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """References, member-major, with 0 in the columns that a draw does not look at."""
    _, n_draws, n_columns = members.shape
    for draw in range(n_draws):
        members[:, draw, rng.permutation(n_columns)[width:]] = 0.0
    return np.asarray(members.reshape(-1, n_columns))
