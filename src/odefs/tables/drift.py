"""Drift of a table from the training table, counted over all rows, which may come in batches.

A column of numbers has shifted if the two distributions differ by more than chance explains: the
largest difference between their shares of values below a cut point is compared with the bound of
Dvoretzky, Kiefer and Wolfowitz for two samples, which holds for any distribution, with ties too.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from odefs.tables.encoder.distribution import counts_below
from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.text_formats import unit_of
from odefs.tables.frames.columns import DURATION, Column
from odefs.tables.records.drift import ColumnDrift

NOTABLE_SHIFT = 0.1
"""Difference of two distributions that is worth reporting, however many rows there are."""
MANY_TIMES = 2
"""A share of flagged rows is far above that of training if it is this many times as large."""
FALSE_ALARM = 1e-5
"""Chance that a column, or the flagged rows, of a table like the training table are reported."""
MOST_NAMES = 20_000
"""Maximum number of unseen categories to name, in alphabetical order; all their rows count."""


@dataclass
class DriftCounts:
    """Counts of one column, added batch by batch."""

    n_rows: int = 0
    outside: int = 0
    unseen_rows: int = 0
    missing: int = 0
    unseen: set[str] = field(default_factory=set)
    below: np.ndarray | None = None
    unit: str = ""
    """That durations are some; times have no cut points."""

    def add(self, spec: ColumnSpec, column: Column) -> None:
        """Count the cells of a batch. Grouped rare categories count as seen: they have no names."""
        self.n_rows += len(column)
        self.unit = DURATION if column.is_duration else self.unit
        self.missing += int(column.missing.sum())
        if spec.kind != "category":
            with np.errstate(invalid="ignore"):
                self.outside += int(
                    ((column.values < spec.low) | (column.values > spec.high)).sum()
                )
            if spec.cuts:
                counted = counts_below(spec.cuts, column.values[~column.missing])
                self.below = counted if self.below is None else self.below + counted
        # With grouped categories, the encoder does not know the names of all that it has seen.
        elif not spec.grouped:
            known = set(spec.levels)
            codes = [i for i, level in enumerate(column.levels) if level not in known]
            hit = column.category_codes[np.isin(column.category_codes, codes)]
            self.unseen_rows += hit.size
            self.unseen.update(column.levels[i] for i in np.unique(hit))
            # The first ones by alphabet are the same however the rows come in batches.
            if len(self.unseen) > MOST_NAMES:
                self.unseen = set(sorted(self.unseen)[:MOST_NAMES])

    def drift(self, spec: ColumnSpec) -> ColumnDrift:
        n = max(1, self.n_rows)
        shares = self.outside / n, sorted(self.unseen), self.unseen_rows / n
        unit = unit_of(spec.style) or self.unit
        found = ColumnDrift(spec.name, *shares, spec.missing_share, self.missing / n, unit=unit)
        return found if self.below is None else self._with_shift(found, spec, self.below)

    def _with_shift(self, found: ColumnDrift, spec: ColumnSpec, below: np.ndarray) -> ColumnDrift:
        n_before, n_now = spec.below[-1], int(below[-1])
        if not n_now:
            return found
        before, now = np.array(spec.below[:-1]) / n_before, below[:-1] / n_now
        place = int(np.abs(now - before).argmax())
        shift = float(abs(now - before)[place])
        by_chance = math.sqrt(math.log(2 / FALSE_ALARM) / 2 * (1 / n_before + 1 / n_now))
        if shift <= max(by_chance, NOTABLE_SHIFT):
            return found
        return found._replace(
            shift=shift,
            cut=spec.cuts[place],
            above_before=float(1 - before[place]),
            above_now=float(1 - now[place]),
        )


def flags_many_more(n_flagged: int, n_rows: int, share_before: float, n_before: int) -> bool:
    """Whether the share of flagged rows is far above that of training, and not by chance.

    The likelihood ratio of two shares against a common one bounds the chance.
    """
    if not n_rows or n_flagged / n_rows <= MANY_TIMES * share_before:
        return False
    common = (n_flagged + share_before * n_before) / (n_rows + n_before)
    pairs = ((n_flagged / n_rows, n_rows), (share_before, n_before))
    ratio = sum(n * _divergence(share, common) for share, n in pairs)
    return ratio > math.log(1 / FALSE_ALARM)


def _divergence(share: float, other: float) -> float:
    """Kullback-Leibler divergence of two Bernoulli distributions."""
    parts = ((share, other), (1 - share, 1 - other))
    return sum(p * math.log(p / q) for p, q in parts if p > 0 and q > 0)


def as_plain(drift: list[ColumnDrift]) -> list[dict[str, object]]:
    """Return notable entries for JSON; the unit only where there is one."""
    found = [entry._asdict() for entry in drift if entry.is_notable]
    return [
        {name: value for name, value in entry.items() if name != "unit" or value} for entry in found
    ]
