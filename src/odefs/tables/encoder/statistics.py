"""Column statistics over all cells, in memory or in batches, and the resulting specification.

All kinds of columns get a common scale, so that equally unusual values count equally. A number is
divided by the square root of half its range times its standard deviation, much like
``scaling="rootstd"``: a normal column then has a standard deviation of ``sqrt(2 / NORMAL_RANGE)``.
Before that, values far from the median are drawn in logarithmically
(:func:`odefs.tables.encoder.encode.drawn_in`), so that one huge value does not hide the next large
one. A category is placed at a distance that depends on its rarity: with ``P`` the share of rows
whose value is at least as rare, the distance is ``ln(1 / P)``, the quantile of an exponential
distribution, but at least one, divided by ``sqrt(NORMAL_RANGE)``. Numbers in real tables have such
tails rather than normal ones, and there is nothing between a common and a rare category. A value
that many rows have is a group and no error: its distance is the geometric mean of ``ln(1 / P)`` and
of the deviation of a normal number that is as rare. If all
categories are equally frequent, none is unusual (``P = 1``), and two different rows are 0.7 times
as far apart as two typical numbers, however many categories there are; the value of a single row
of a thousand counts like a number 4.9 standard deviations from the mean. Where all columns are
categories there are no numbers to compare them with, and all values have the distance one
(:func:`equal_where_nominal`): the rarity of values is then left to the detector of coupled values.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from odefs.scaling import middle_and_sigma
from odefs.tables.encoder.distribution import counts_below, cut_points
from odefs.tables.encoder.encode import ColumnSpec, drawn_in
from odefs.tables.frames.columns import SECONDS_PER_DAY, Column, Kind

_normal_quantile = NormalDist().inv_cdf

FEW_AND_MANY_ROWS = (5, 20)
"""Rows of a value up to which it may be an error, and from which on it is a group of its own.

With 20 planted errors next to an ordinary category of 0.5 % of 4,000 rows, 60 rows were flagged
without this difference, and 25 with it; misspelled values of one to three rows rank first in both
cases (research log, "Rare categories").
"""

NORMAL_RANGE = 7.0
"""Range of some thousand values of a normal column, in standard deviations."""


def median_of(values: np.ndarray) -> float:
    """Return the median, also if the sum of the two middle values overflows."""
    with np.errstate(over="ignore"):
        found = float(np.median(values))
    return found if np.isfinite(found) else 2 * float(np.median(values / 2))


@dataclass(frozen=True)
class Centre:
    """Median of a column of numbers, robust standard deviation for its tails, and distribution.

    ``sigma`` is 0 for columns of at most two values, which have no tails.
    """

    median: float = 0.0
    sigma: float = 0.0
    cuts: tuple[float, ...] = ()
    below: tuple[int, ...] = ()


def centre_of(column: Column) -> Centre:
    """Median, robust standard deviation and distribution of the known cells of a column.

    Times have no distribution: those of another table are expected to be later.
    """
    if column.kind == "category":
        return Centre()
    known = column.values[~column.missing]
    median = median_of(known)
    cuts = () if column.kind == "time" else cut_points(known)
    below = tuple(counts_below(cuts, known).tolist()) if cuts else ()
    if column.kind == "boolean" or ((known == known.min()) | (known == known.max())).all():
        return Centre(median, 0.0, cuts, below)
    # Halved, so that differences of the largest floats are finite.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        sigma = 2 * float(middle_and_sigma(known[:, None] / 2)[1][0])
    return Centre(median, sigma if np.isfinite(sigma) else 0.0, cuts, below)


def equal_where_nominal(specs: Sequence[ColumnSpec]) -> list[ColumnSpec]:
    """The columns with equal distances of all their values, if none of them holds numbers."""
    # Plain one-hot columns rank better where there are no numbers.
    if any(spec.kind not in ("category", "boolean") for spec in specs):
        return list(specs)
    one = float(1 / np.sqrt(NORMAL_RANGE))
    return [replace(spec, units=tuple(one for _ in spec.units)) for spec in specs]


def distances_out(counts: Sequence[float] | np.ndarray, rarer: float = 0.0) -> tuple[float, ...]:
    """Return the distance of each category, given how often each occurs.

    ``rarer`` is the total count of all rarer categories; if it is positive, their common distance
    is appended.
    """
    occurring = np.asarray(counts, dtype=np.float64)
    own = np.append(occurring, rarer) if rarer else occurring
    total = own.sum()
    if total == 0:
        return tuple(0.0 for _ in counts)
    # The count is zero for a value that a boolean column does not have.
    as_rare = [occurring[occurring <= count].sum() + rarer for count in occurring]
    share = np.maximum([*as_rare, *([rarer] if rarer else [])], 1e-300) / total
    rarity = np.log(1 / share)
    deviation = np.array([-_normal_quantile(min(one, 1.0) / 2) for one in share.tolist()])
    few, many = np.log(FEW_AND_MANY_ROWS)
    weight = np.clip((np.log(np.maximum(own, 1.0)) - few) / (many - few), 0.0, 1.0) / 2
    z = deviation**weight * rarity ** (1 - weight)
    return tuple(float(v) for v in np.sqrt(np.maximum(1.0, z * z) / NORMAL_RANGE))


@dataclass(frozen=True)
class Spread:
    """Range and standard deviation of the values so far, which come in batches.

    They are as accurate as for all values at once, and finite where squares would overflow.

    Mean and deviations refer to half the values, so that differences do not overflow: ``mean`` is
    relative to half of ``low``, ``squares`` is in units of ``scale``.
    """

    n: int = 0
    low: float = np.inf
    high: float = -np.inf
    mean: float = 0.0
    squares: float = 0.0
    scale: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray) -> "Spread":
        """Return the statistics of finite values."""
        if not values.size:
            return cls()
        low, high = float(values.min()), float(values.max())
        scale = high / 2 - low / 2
        if scale == 0:
            return cls(values.size, low, high)
        shares = (values / 2 - low / 2) / scale
        mean = float(shares.mean())
        return cls(values.size, low, high, scale * mean, float(np.sum((shares - mean) ** 2)), scale)

    def merge(self, other: "Spread") -> "Spread":
        """Return the statistics of the values of both."""
        if not self.n or not other.n:
            return self if self.n else other
        n, low = self.n + other.n, min(self.low, other.low)
        # Relative to the lowest value: means far from zero would lose the digits that differ.
        mine, others = (part.low / 2 - low / 2 + part.mean for part in (self, other))
        between = others - mine
        scale = max(self.scale, other.scale, abs(between))
        squares = 0.0
        if scale > 0:
            squares = sum(part.squares * (part.scale / scale) ** 2 for part in (self, other))
            squares += (between / scale) ** 2 * self.n * (other.n / n)
        return Spread(
            n, low, max(self.high, other.high), mine + between * (other.n / n), squares, scale
        )

    @property
    def unit(self) -> float:
        """The square root of half the range times the standard deviation; 1 for one value."""
        if self.n == 0 or self.low == self.high:
            return 1.0
        half_range, half_std = (
            self.high / 2 - self.low / 2,
            self.scale * float(np.sqrt(self.squares / self.n)),
        )
        # Twice the half range may overflow, twice its root does not.
        return float(2 * np.sqrt(half_range / 2) * np.sqrt(half_std)) or 1.0


@dataclass
class ColumnSummary:
    """Statistics of a column as it is used. Batches are added one by one, all of the same kind.

    Numbers are merged in chunks of fixed length, so that the result does not depend on where
    batches start.
    """

    stretch: int = 2**62
    centre: Centre = Centre()
    n_rows: int = 0
    n_missing: int = 0
    n_true: int = 0
    low: float = np.inf
    high: float = -np.inf
    values: Spread = field(default_factory=Spread)
    """Of values relative to the median, those far from it drawn in."""
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
            self.low = min(self.low, float(part.min()))
            self.high = max(self.high, float(part.max()))
            self.values = self.values.merge(
                Spread.of(drawn_in(part, self.centre.median, self.centre.sigma))
            )
            if self._kind == "time":
                self.times_of_day = self.times_of_day.merge(Spread.of(part % SECONDS_PER_DAY))
        # A copy: a view would keep all values of the merged chunks in memory.
        self._pending, self._n_pending = [known[done:].copy()], known.size - done

    @property
    def varies_by_hour(self) -> bool:
        """Whether times span more than a day and are not all at midnight."""
        return self.high - self.low > SECONDS_PER_DAY and (
            self.times_of_day.low,
            self.times_of_day.high,
        ) != (0, 0)


def learn_spec(column: Column, style: str, max_categories: int, mark_missing: bool) -> ColumnSpec:
    """Return the specification of a column of which all rows are given."""
    summary = ColumnSummary(centre=centre_of(column))
    summary.add(column)
    return spec_of(column.name, column.kind, style, summary, max_categories, mark_missing)


def spec_of(
    name: str,
    kind: Kind,
    style: str,
    summary: ColumnSummary,
    max_categories: int,
    mark_missing: bool,
) -> ColumnSpec:
    """Return the specification of a column that is not empty."""
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
        fill, low, high = summary.centre.median, summary.low, summary.high
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
        summary.centre.sigma,
        cuts=summary.centre.cuts,
        below=summary.centre.below,
    )


def _most_frequent(counts: Mapping[str, int], room: int) -> tuple[tuple[str, ...], str, float]:
    """Return the categories with their own column, the most frequent one, and the count of others.

    Categories are in alphabetical order; among equally frequent ones the first are kept.
    """
    # Ties by name: the order of the counter depends on how the rows come in batches.
    order = sorted(counts, key=lambda level: (-counts[level], level))
    kept = order if len(order) <= room else order[: max(1, room - 1)]
    return tuple(sorted(kept)), order[0], float(sum(counts[level] for level in order[len(kept) :]))
