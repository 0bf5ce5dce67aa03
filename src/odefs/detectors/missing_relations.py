"""Correlations of columns with missing cells, by expectation maximisation.

A missing cell that counts as the mean weakens every relation of its column: with 2 % of such cells,
columns that determine each other exactly seem to explain 96 % of each other, and a broken relation
no longer stands out. Here a missing cell has the value that the other cells of its row lead one to
expect, with the variance that is left (Dempster, Laird and Rubin, 1977).

``P`` is the inverse of the correlations. Where the cells ``m`` of a row are missing, they have the
mean ``-inv(P_mm) (P z)_m``, with 0 for missing cells in ``z``, and the covariance ``inv(P_mm)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefs.kernels.chunking import row_blocks

MAX_SOLVED = 2**22
"""Cells, times columns, of the matrices that are inverted in each step.

One matrix for each pattern of missing cells: 4,000 patterns of 10 columns, four of 100. The most
frequent ones are taken, of these the ones with the fewest missing cells. Rows with further patterns
do not take part.
"""

ROWS_PER_COLUMN = 20
"""So much weight for each column is enough, or half of that of all rows.

Of fewer rows the relations are noise: a row would be far from all others because its pattern of
missing cells is rare.
"""

MAX_GATHERED = 2**22
"""Cells of the matrices of some rows, which bound the memory."""

FREQUENT_CELLS = 2**12
"""Cells of the matrices of a pattern's rows from which one product for all of them is faster.

Gathering a matrix for each row made a fit with 200 columns, of which one had missing cells in 1,500
of 2,000 rows, about three times as slow.
"""

N_STEPS = 20
"""Steps of expectation maximisation: a fixed number, so that rounding does not decide when to stop.

Each leaves about the share of missing cells of what is still missing of a relation.
"""


def expected_precision(
    z: np.ndarray,
    missing: np.ndarray,
    weights: np.ndarray,
    inverse: Callable[[np.ndarray, float], np.ndarray],
) -> np.ndarray | None:
    """``P`` of standardised columns, or ``None`` if too few rows take part.

    Parameters
    ----------
    z : ndarray of shape (n_rows, n_columns)
        0 where a cell is missing.
    inverse : callable
        ``P`` of correlations and of the weight of the rows that they were computed from.
    """
    n_columns, weight_of_all = z.shape[1], float(weights.sum())
    patterns, pattern_of, counts = np.unique(
        missing, axis=0, return_inverse=True, return_counts=True
    )
    most = max(1, MAX_SOLVED // n_columns**3)
    chosen = np.lexsort((patterns.sum(axis=1), -counts))[:most]
    place = np.full(len(patterns), -1)
    place[chosen] = np.arange(chosen.size)
    place_of = place[pattern_of.ravel()]
    takes_part = place_of >= 0
    z, weights, place_of = z[takes_part], weights[takes_part], place_of[takes_part]
    total = float(weights.sum())
    if total < max(2 * n_columns, min(ROWS_PER_COLUMN * n_columns, weight_of_all / 2)):
        return None
    holes = patterns[chosen]
    has_holes = np.flatnonzero(holes[place_of].any(axis=1))
    weight_of = np.bincount(place_of, weights, minlength=chosen.size) / total
    of_complete = np.delete(np.arange(len(z)), has_holes)
    fixed = (z[of_complete] * weights[of_complete, None]).T @ z[of_complete] / total
    observed, own, own_weights = z[has_holes], place_of[has_holes], weights[has_holes] / total
    together = _frequent_patterns(own, holes)
    found = as_correlations(fixed + (observed * own_weights[:, None]).T @ observed)
    for _ in range(N_STEPS if has_holes.size else 0):
        precision = inverse(found, total)
        left = _inverse_blocks(precision, holes)
        filled = observed - _pulled(observed @ precision, left, own, together)
        moments = fixed + (filled * own_weights[:, None]).T @ filled
        found = as_correlations(moments + np.einsum("p,pij->ij", weight_of, left))
    return inverse(found, total)


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Rows with the same missing cells, which are filled in one product."""

    number: int
    rows: np.ndarray
    cells: np.ndarray
    """The missing ones."""


def _frequent_patterns(own: np.ndarray, holes: np.ndarray) -> list[_Pattern]:
    """Return the patterns whose matrices, one for each row, would be large."""
    order = np.argsort(own, kind="stable")
    counts = np.bincount(own, minlength=len(holes))
    ends = np.cumsum(counts)
    return [
        _Pattern(k, order[ends[k] - counts[k] : ends[k]], np.flatnonzero(holes[k]))
        for k in np.flatnonzero(counts * holes.shape[1] ** 2 >= FREQUENT_CELLS).tolist()
    ]


def _pulled(
    pull: np.ndarray, left: np.ndarray, own: np.ndarray, together: list[_Pattern]
) -> np.ndarray:
    """Return ``inv(P_mm) (P z)_m`` of each row, 0 for the cells that it has."""
    found, is_alone = np.zeros_like(pull), np.ones(len(pull), dtype=bool)
    for pattern in together:
        rows, cells = pattern.rows[:, None], pattern.cells
        found[rows, cells] = pull[rows, cells] @ left[pattern.number][np.ix_(cells, cells)].T
        is_alone[pattern.rows] = False
    alone = np.flatnonzero(is_alone)
    for part in row_blocks(alone.size, max(1, MAX_GATHERED // pull.shape[1] ** 2)):
        rows = alone[part]
        found[rows] = np.einsum("rij,rj->ri", left[own[rows]], pull[rows])
    return found


def as_correlations(moments: np.ndarray) -> np.ndarray:
    """Second moments divided by standard deviations; those of constant columns stay 0."""
    std = np.sqrt(np.diag(moments))
    scale = np.divide(1.0, std, out=np.zeros_like(std), where=std > 0)
    return np.asarray(moments * scale[:, None] * scale)


def _inverse_blocks(precision: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """``inv(P_mm)`` for the missing cells of each pattern, 0 elsewhere."""
    both = holes[:, :, None] & holes[:, None, :]
    blocks = np.where(both, precision, np.eye(precision.shape[0]))
    return np.where(both, np.linalg.inv(blocks), 0.0)
