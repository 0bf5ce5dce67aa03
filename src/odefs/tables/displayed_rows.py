"""Rows of the table that a detection holds, and what is known about all rows.

In memory a detection holds every row. Of a larger table it holds the rows with the highest scores
and a random sample, while scores, flags and agreement of all rows are in files. "Rows" are
positions among the held rows, "numbers" are positions in the table; both count from 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from odefs.kernels.row_reductions import counts_above, row_chunks


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


def extent_of(found: Any) -> Extent:
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
