"""Distribution of a column of numbers: how many values lie at or below some cut points.

The cut points are near the 5 %, 10 %, ..., 95 % quantiles of the training column, each half-way
between two values that occur, so that ties never depend on the last digit of a number. Counts of
batches are added, so a table in parts has those of the table in memory.
"""

import numpy as np

LEVELS = np.arange(1, 20) / 20


def cut_points(known: np.ndarray) -> tuple[float, ...]:
    """Ascending cut points that divide the values; none if all are equal."""
    ordered = np.sort(known)
    at = ordered[(LEVELS * ordered.size).astype(np.int64)]
    ends = np.unique(np.searchsorted(ordered, at, side="right"))
    ends = ends[ends < ordered.size]
    # Halves, because the sum of two huge values may overflow.
    return tuple((ordered[ends - 1] / 2 + ordered[ends] / 2).tolist())


def counts_below(cuts: tuple[float, ...], known: np.ndarray) -> np.ndarray:
    """Number of values at or below each cut point, and last the number of all values."""
    places = np.searchsorted(cuts, known, side="left")
    return np.cumsum(np.bincount(places, minlength=len(cuts) + 1))
