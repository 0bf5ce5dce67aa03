"""Serial numbers: whole numbers that increase from row to row, nearly without gaps.

Their size says where a row is in the table, not what it is. A few numbers may be left out, repeated
or out of order, and a few cells may be missing, such as those of lines below the table. Years are
not serial: other columns may change with them.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

LEAST_NUMBERS = 20
"""Fewer numbers in a row may be in order by chance, or because someone sorted them."""
HIGHEST_SHARE = 0.98
"""Least share of numbers that are higher than all before them."""
COVERED_SHARE = 0.95
"""Least share of their range that the numbers cover."""
FIRST_YEAR, LAST_YEAR = 1500, 2100
"""Numbers in this range may be years."""
MISSING_CELLS, MISSING_SHARE = 2, 0.02
"""Most missing cells: so many, or this share of the rows."""


@dataclass
class SerialTally:
    """What tells whether a column has serial numbers, after some batches in table order."""

    n_rows: int = 0
    n_known: int = 0
    n_highest: int = 0
    """Numbers that are higher than all before them."""
    lowest: float = np.inf
    highest: float = -np.inf

    def add(self, values: np.ndarray) -> Self:
        """Add the next cells, of which missing ones are NaN, and return the tally."""
        known = values[~np.isnan(values)]
        self.n_rows += values.size
        self.n_known += known.size
        if not known.size:
            return self
        before = np.maximum.accumulate(np.concatenate([[self.highest], known]))
        self.n_highest += int(np.count_nonzero(known > before[:-1]))
        self.lowest = min(self.lowest, float(known.min()))
        self.highest = float(before[-1])
        return self

    @property
    def is_serial(self) -> bool:
        """Whether whole numbers are serial."""
        if self.lowest >= FIRST_YEAR and self.highest <= LAST_YEAR:
            return False
        n_missing = self.n_rows - self.n_known
        return (
            self.n_known >= LEAST_NUMBERS
            and n_missing <= max(MISSING_CELLS, MISSING_SHARE * self.n_rows)
            and self.n_highest >= HIGHEST_SHARE * self.n_known
            # Halves, because the range may overflow.
            and COVERED_SHARE * (self.highest / 2 - self.lowest / 2) <= self.n_known / 2
        )
