"""Which rows of its table a detection holds, and what is known of all of them.

In memory that is every row. Of a larger table a detection holds the rows with the highest scores and others drawn at random, while scores, flags and agreement of all
rows lie in files. "Rows" are places among the rows that are held, "numbers" places in the table; both count from 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from odefs.kernels.row_reductions import counts_above, row_chunks


@dataclass(frozen=True, eq=False)
class Extent:
    """All rows of the table beside those that are held."""

    scores: np.ndarray
    is_outlier: np.ndarray
    agreement: np.ndarray | None
    numbers: np.ndarray
    """Of the rows that are held, ascending."""
    order: np.ndarray
    """Rows with the highest scores, most outlying first, none left out; in the order of the table among equals."""
    drawn: np.ndarray
    """Rows that are a random sample of the table."""
    drawn_flagged: np.ndarray
    """Rows that are a random sample of the flagged ones."""
    judged_by: int | None = None
    """How many rows the columns were judged by, where these were not all in memory; ``None`` also where a saved model knows the columns."""

    @property
    def n_rows(self) -> int:
        return int(self.scores.size)

    @cached_property
    def n_flagged(self) -> int:
        return sum(int(np.count_nonzero(self.is_outlier[part])) for part in row_chunks(self.n_rows))

    def ranks(self, rows: np.ndarray) -> np.ndarray:
        """1 for the highest score of the table; equal scores share the best rank."""
        return counts_above(self.scores, np.asarray(self.scores[self.numbers[rows]])) + 1

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Where rows stand when the table is ordered by falling score; exact for rows in ``order``.

        Others stand behind these, at the first place that their score may have.
        """
        known = np.full(self.numbers.size, -1, dtype=np.int64)
        known[self.order] = np.arange(self.order.size)
        found = known[rows]
        behind = found < 0
        if behind.any():
            found[behind] = np.maximum(self.ranks(rows[behind]) - 1, self.order.size)
        return found


def extent_of(found: Any) -> Extent:
    """Of a detection: what it says of itself; one that says nothing holds all rows."""
    known: Extent | None = getattr(found, "extent", None) or getattr(found, "part", None)
    return all_rows(found) if known is None else known


def all_rows(found: Any) -> Extent:
    """The extent of a detection that holds its whole table."""
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
