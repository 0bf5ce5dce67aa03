"""Column statistics over all cells, in memory or in batches, and the resulting specification."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from odefs.tables.columns import SECONDS_PER_DAY, Column, Kind
from odefs.tables.encoder.column_spec import ColumnSpec
from odefs.tables.encoder.moments import Spread
from odefs.tables.encoder.scale import distances_out


@dataclass
class ColumnSummary:
    """Statistics of a column as it is used. Batches are added one by one, all of the same kind.

    Numbers are merged in chunks of fixed length, so that the result does not depend on where
    batches start.
    """

    stretch: int = 2**62
    n_rows: int = 0
    n_missing: int = 0
    n_true: int = 0
    values: Spread = field(default_factory=Spread)
    times_of_day: Spread = field(default_factory=Spread)
    counts: Counter[str] = field(default_factory=Counter)
    """Number of occurrences of each category."""
    _pending: list[np.ndarray] = field(default_factory=list)
    _n_pending: int = 0
    _kind: Kind = "number"

    def add(self, column: Column) -> None:
        self.n_rows += len(column)
        self.n_missing += int(column.missing.sum())
        if column.kind == "category":
            counts = np.bincount(
                column.category_codes[~column.missing], minlength=len(column.levels)
            )
            occurring = zip(column.levels, counts.tolist(), strict=True)
            self.counts.update({level: count for level, count in occurring if count})
            return
        known = column.values[~column.missing]
        if column.kind == "boolean":
            self.n_true += int((known == 1).sum())
        self._pending.append(known)
        self._n_pending += known.size
        self._kind = column.kind
        if self._n_pending >= self.stretch:
            self._merge_pending()

    def finish(self) -> "ColumnSummary":
        """Merge the remaining numbers, which are fewer than a chunk."""
        self._merge_pending(is_last=True)
        return self

    def _merge_pending(self, is_last: bool = False) -> None:
        known = np.concatenate([*self._pending, np.empty(0)])
        done = known.size if is_last else known.size // self.stretch * self.stretch
        for start in range(0, done, self.stretch):
            part = known[start : min(start + self.stretch, done)]
            self.values = self.values.merge(Spread.of(part))
            if self._kind == "time":
                self.times_of_day = self.times_of_day.merge(Spread.of(part % SECONDS_PER_DAY))
        self._pending, self._n_pending = [known[done:].copy()], known.size - done

    @property
    def varies_by_hour(self) -> bool:
        """Whether times span more than a day and are not all at midnight."""
        return self.values.high - self.values.low > SECONDS_PER_DAY and (
            self.times_of_day.low,
            self.times_of_day.high,
        ) != (0, 0)


def spec_of(
    name: str,
    kind: Kind,
    style: str,
    summary: ColumnSummary,
    median: float,
    max_categories: int,
    mark_missing: bool,
) -> ColumnSpec:
    """Return the specification of a column that is not empty; ``median`` is that of its numbers."""
    summary.finish()
    marks = mark_missing and summary.n_missing > 0
    missing = summary.n_missing / summary.n_rows
    levels: tuple[str, ...] = ()
    units: tuple[float, ...]
    grouped, fill, fill_level, low, high, by_hour = 0, 0.0, "", 0.0, 0.0, False
    n_known = summary.n_rows - summary.n_missing
    if kind == "category":
        levels, fill_level, rarer = _most_frequent(summary.counts, max_categories - marks)
        grouped = len(summary.counts) - len(levels)
        units = distances_out([summary.counts[level] for level in levels], rarer)
    else:
        fill, low, high = median, summary.values.low, summary.values.high
        by_hour = kind == "time" and summary.varies_by_hour
        if kind == "boolean":
            units = distances_out([n_known - summary.n_true, summary.n_true])
        else:
            units = (summary.values.unit, *((summary.times_of_day.unit,) if by_hour else ()))
    if marks:
        units = (*units, distances_out([n_known, summary.n_missing])[1])
    return ColumnSpec(
        name,
        kind,
        style,
        levels,
        grouped,
        fill,
        fill_level,
        units,
        marks,
        by_hour,
        low,
        high,
        missing,
    )


def _most_frequent(counts: Mapping[str, int], room: int) -> tuple[tuple[str, ...], str, float]:
    """Return the categories with their own column, the most frequent one, and the count of others.

    Categories are in alphabetical order; among equally frequent ones the first are kept.
    """
    order = sorted(counts, key=lambda level: (-counts[level], level))
    kept = order if len(order) <= room else order[: max(1, room - 1)]
    return tuple(sorted(kept)), order[0], float(sum(counts[level] for level in order[len(kept) :]))
