"""Drift of a table from the training table, counted over all rows, which may come in batches."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from odefs.tables.columns import Column
from odefs.tables.encoder.encode import ColumnSpec

NOTABLE = 0.05
"""Change in the share of missing cells that is worth reporting."""
MOST_NAMES = 20_000
"""Maximum number of unseen categories to name, in alphabetical order; all their rows count."""


class ColumnDrift(NamedTuple):
    """Drift of one column: shares of all cells, before and now.

    Cells outside the training range, categories not seen in training, and missing cells.
    """

    column: str
    out_of_range: float
    unseen: list[str]
    unseen_share: float
    missing_before: float
    missing_now: float

    @property
    def largest(self) -> float:
        """The largest of the three differences, as a share of the rows."""
        change = abs(self.missing_now - self.missing_before)
        return max(self.out_of_range, self.unseen_share, change)

    @property
    def is_notable(self) -> bool:
        return (
            self.out_of_range > 0
            or self.unseen_share > 0
            or abs(self.missing_now - self.missing_before) > NOTABLE
        )


@dataclass
class DriftCounts:
    """Counts of one column, added batch by batch."""

    n_rows: int = 0
    outside: int = 0
    unseen_rows: int = 0
    missing: int = 0
    unseen: set[str] = field(default_factory=set)

    def add(self, spec: ColumnSpec, column: Column) -> None:
        """Count the cells of a batch. Grouped rare categories count as seen: they have no names."""
        self.n_rows += len(column)
        self.missing += int(column.missing.sum())
        if spec.kind != "category":
            with np.errstate(invalid="ignore"):
                self.outside += int(
                    ((column.values < spec.low) | (column.values > spec.high)).sum()
                )
        elif not spec.grouped:
            known = set(spec.levels)
            codes = [i for i, level in enumerate(column.levels) if level not in known]
            hit = column.category_codes[np.isin(column.category_codes, codes)]
            self.unseen_rows += hit.size
            self.unseen.update(column.levels[i] for i in np.unique(hit))
            if len(self.unseen) > MOST_NAMES:
                self.unseen = set(sorted(self.unseen)[:MOST_NAMES])

    def drift(self, spec: ColumnSpec) -> ColumnDrift:
        n = max(1, self.n_rows)
        shares = self.outside / n, sorted(self.unseen), self.unseen_rows / n
        return ColumnDrift(spec.name, *shares, spec.missing_share, self.missing / n)


def as_plain(drift: list[ColumnDrift]) -> list[dict[str, object]]:
    """Return notable entries for JSON."""
    return [entry._asdict() for entry in drift if entry.is_notable]
