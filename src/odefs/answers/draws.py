"""The draws that decide which rows resemble each other.

A draw of few rows has large cells, a draw of many rows small ones. Draws that look at some columns
only find rows alike that differ in the others, as the leaves of a tree do. Half of the references
are drawn evenly from all rows, half from the top of the ranking, where the rows in question are:
the logarithm of their rank is uniform.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from odefs.answers.cells import Cells, Draws

SIZES = (8, 32)
N_DRAWS = 50
"""Draws of each size that look at all columns, half of them, and the root of their number."""


def draw_cells(
    scores: np.ndarray, take: Callable[[np.ndarray], np.ndarray], n_columns: int, seed: int
) -> Cells:
    """Draw references; ``take`` returns scaled rows by their numbers in ascending order."""
    rng = np.random.default_rng(seed)
    ranking = np.argsort(-scores, kind="stable")
    widths = [n_columns, -(-n_columns // 2), int(np.ceil(np.sqrt(n_columns)))]
    plan = [(size, max(min(2, n_columns), width)) for width, size in product(widths, SIZES)]
    numbers = [_draw_numbers(ranking, (size, N_DRAWS), rng) for size, _ in plan]
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
    from_top = np.minimum(n_rows - 1, (n_rows + 1.0) ** rng.random(shape) - 1).astype(np.intp)
    evenly = rng.integers(0, n_rows, shape)
    return ranking[np.where(rng.random(shape) < 0.5, from_top, evenly)]


def _on_columns(members: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """References, member-major, with 0 in the columns that a draw does not look at."""
    _, n_draws, n_columns = members.shape
    for draw in range(n_draws):
        members[:, draw, rng.permutation(n_columns)[width:]] = 0.0
    return np.asarray(members.reshape(-1, n_columns))
