"""What is usual in a group: centre and scale of numbers, rarity of categories.

Statistics of small groups are shrunk towards the whole table by empirical Bayes. With ``n`` values
of spread ``s`` in a group, its centre has the sampling variance ``v = c s**2 / n``. If the centres
of the groups differ by a variance ``t`` (beyond what sampling explains), the centre of the group
counts with the weight ``t / (t + v)`` and that of the table with the rest; spreads are shrunk in
the same way, as logarithms. Groups that do not differ are thus pooled however many rows they have,
and a group far from the others keeps its level. What is uncertain about the centre widens the
scale: ``s**2 + t (1 - weight)``, which for an unknown group is about the spread of the whole table.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np

from odefs.scaling import middle_and_sigma
from odefs.tables.encoder.encode import ColumnSpec, value_places, within_group
from odefs.tables.encoder.statistics import NORMAL_RANGE, Centre, ColumnSummary, centre_of
from odefs.tables.frames.columns import Column

FEW_VALUES = 10
"""Up to so many distinct values, mean and standard deviation are used: medians would jump."""
ESTABLISHED = 5
"""Groups with at least so many values show how far groups differ, if there are any."""
MEDIAN_NOISE, MEAN_NOISE = np.pi / 2, 1.0
"""Sampling variance of the centre of normal values, in units of ``s**2 / n``."""
QUARTILE_NOISE, STD_NOISE = 1.36, 0.5
"""Sampling variance of the logarithm of the spread, in units of ``1 / n``.

Of normal values, the distance of the quartiles is 37 % as efficient as the standard deviation.
"""
ROUNDING = float(1 / np.sqrt(12))
"""Standard deviation due to rounding to whole numbers, below which a spread says nothing."""
NEVER_VARIES = 0.1
"""Scale, relative to the table's spread, of a column that is constant in every group."""
PRIOR_ROWS = 5.0
"""A group's counts of categories are joined by so many rows of the whole table."""
UNSEEN_ROWS = 0.5
"""Rows of the whole table that a category counts for which did not occur in training."""


def with_groups(spec: ColumnSpec, column: Column, codes: np.ndarray, n_groups: int) -> ColumnSpec:
    """The specification of a column whose values are compared within groups.

    ``codes`` are the groups of the training rows, ``n_groups`` for rows of no known group.
    """
    if spec.kind in ("category", "boolean"):
        return _rarities(spec, column, codes, n_groups)
    are_times = column.kind == "time"
    levels = learn_levels(column.values, codes, n_groups, are_times)
    usual = levels.low, levels.high
    if are_times:  # A little before midnight, a day would be shown as the one before.
        usual = np.round(levels.low, 3), np.round(levels.high, 3)
    found = replace(
        spec,
        centres=tuple(levels.centres.tolist()),
        scales=tuple(levels.scales.tolist()),
        group_usual=_pairs(*usual),
    )
    compared = Column(spec.name, "number", within_group(found, column.values, codes))
    centre = Centre(0.0, centre_of(compared).sigma)
    summary = ColumnSummary(centre=centre)
    summary.add(compared)
    units = (summary.finish().values.unit, *spec.units[1:])
    return replace(found, sigma=centre.sigma, units=units)


class GroupLevels(NamedTuple):
    """Centre, scale and both quartiles of each group, and last those of the whole table."""

    centres: np.ndarray
    scales: np.ndarray
    low: np.ndarray
    high: np.ndarray


def learn_levels(
    values: np.ndarray, codes: np.ndarray, n_groups: int, are_times: bool = False
) -> GroupLevels:
    """What is usual in each group; groups without values have the quartiles of the table.

    Quartiles of times are values of the group: between two days, there might be a time of day.
    """
    known = ~np.isnan(values)
    codes = codes[known]
    # Divided by the largest, since squares might overflow.
    peak = max(float(np.abs(values[known]).max(initial=0.0)), np.finfo(np.float64).tiny)
    parts = values[known] / peak
    is_whole = bool((values[known] == np.round(values[known])).all())
    few = np.unique(parts).size <= FEW_VALUES
    middle, spread = (
        (float(parts.mean()), float(parts.std()))
        if few
        else tuple(float(found[0]) for found in middle_and_sigma(parts[:, None]))
    )
    spread = spread or 1.0
    each = SortedGroups.of(parts, codes, n_groups)
    centre, own = _mean_and_std(parts, codes, n_groups) if few else _median_and_sigma(each)
    counts = each.counts
    within = _shrunk_spreads(own, counts, spread, ROUNDING / peak if is_whole else 0.0, few)
    noise = (MEAN_NOISE if few else MEDIAN_NOISE) * within**2 / np.maximum(counts, 1)
    between = _variance_between(centre - middle, noise, counts)
    weight = _weight(between, noise) * (counts > 0)
    centres = middle + weight * (centre - middle)
    scales = np.sqrt(within**2 + between * (1 - weight))
    method: Literal["nearest", "linear"] = "nearest" if are_times else "linear"
    whole = np.quantile(parts, (0.25, 0.75), method=method) if parts.size else np.zeros(2)
    low, high = (
        np.append(np.where(counts > 0, each.quantile(share, are_times), of_all), of_all)
        for share, of_all in zip((0.25, 0.75), whole, strict=True)
    )
    smallest = np.finfo(np.float64).tiny
    return GroupLevels(
        np.append(centres, middle) * peak,
        np.maximum(np.append(scales, spread) * peak, smallest),
        low * peak,
        high * peak,
    )


@dataclass(frozen=True, eq=False)
class SortedGroups:
    """The values of each group, in ascending order and one group after the other."""

    ordered: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, codes: np.ndarray, n_groups: int) -> Self:
        # Sorted once per column: with a quantile at a time, learning 19 columns of 50 groups took
        # longer than the fit.
        counts = np.bincount(codes, minlength=n_groups + 1)[:n_groups]
        ends = np.cumsum(counts)
        ordered = values[np.argsort(codes, kind="stable")][: int(counts.sum())]
        for start, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
            ordered[start:end].sort()
        return cls(np.append(ordered, 0.0), ends - counts, counts)

    def quantile(self, share: float, is_value: bool = False) -> np.ndarray:
        """The quantile of each group, or the nearest value to it; 0 for groups without values."""
        place = share * np.maximum(self.counts - 1, 0)
        place = np.rint(place) if is_value else place
        low = self.starts + place.astype(np.int64)
        part = place - np.floor(place)
        # Where the place is whole, the next value may be that of another group.
        high = np.where(part > 0, low + 1, low)
        between = (1 - part) * self.ordered[low] + part * self.ordered[high]
        return np.where(self.counts > 0, between, 0.0)


def _mean_and_std(
    values: np.ndarray, codes: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    counts = np.bincount(codes, minlength=n_groups + 1)
    mean = np.bincount(codes, values, n_groups + 1) / np.maximum(counts, 1)
    squares = np.bincount(codes, (values - mean[codes]) ** 2, n_groups + 1)
    return mean[:n_groups], np.sqrt(squares / np.maximum(counts - 1, 1))[:n_groups]


def _median_and_sigma(each: SortedGroups) -> tuple[np.ndarray, np.ndarray]:
    """Median and standard deviation from quantiles where these differ, as for a whole column."""
    codes = np.repeat(np.arange(each.counts.size), each.counts)
    _, std = _mean_and_std(each.ordered[:-1], codes, each.counts.size)
    # 1.349 and 3.29 standard deviations lie between these quantiles of a normal distribution.
    sigma = (each.quantile(0.75) - each.quantile(0.25)) / 1.349
    sigma = np.where(sigma > 0, sigma, (each.quantile(0.95) - each.quantile(0.05)) / 3.29)
    return each.quantile(0.5), np.where(sigma > 0, sigma, std)


def _shrunk_spreads(
    own: np.ndarray, counts: np.ndarray, whole: float, least: float, few: bool
) -> np.ndarray:
    """Spread within each group, shrunk towards the mean of all groups."""
    repeated = counts >= 2
    positive = own[repeated & (own > 0)]
    if not positive.size and not (least and repeated.any()):
        return np.full(own.size, NEVER_VARIES * whole)
    least = max(least, float(positive.min(initial=np.inf)) if not least else 0.0)
    logs = np.log(np.maximum(own, least))
    noise = (STD_NOISE if few else QUARTILE_NOISE) / np.maximum(counts, 1)
    shown = _established(counts, repeated)
    mean = float(np.average(logs[shown], weights=counts[shown]))
    between = _variance_between(logs - mean, noise, counts * repeated)
    weight = _weight(between, noise) * repeated
    return np.asarray(np.exp(mean + weight * (logs - mean)))


def _variance_between(differences: np.ndarray, noise: np.ndarray, counts: np.ndarray) -> float:
    """Variance of what groups differ by, without what sampling explains."""
    shown = _established(counts, counts >= 2)
    if not shown.any():
        return 0.0
    found = np.average(differences[shown] ** 2 - noise[shown], weights=counts[shown])
    return max(0.0, float(found))


def _established(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    shown = counts >= ESTABLISHED
    return shown if shown.any() else otherwise


def _weight(between: float, noise: np.ndarray) -> np.ndarray:
    return between / (between + noise) if between > 0 else np.zeros_like(noise)


def _rarities(spec: ColumnSpec, column: Column, codes: np.ndarray, n_groups: int) -> ColumnSpec:
    """The specification with the distance of each value in each group.

    The distance is the one of :mod:`odefs.tables.encoder.statistics`, but 0 for the most frequent
    value of the group. The last value of a category stands for all that have no place.
    """
    places, n_places = value_places(spec, column)
    known = places >= 0
    counts = np.zeros((n_groups + 1, n_places))
    np.add.at(counts, (codes[known], places[known]), 1.0)
    whole = counts.sum(axis=0)
    usual = _pairs(*_most_frequent(counts, whole))
    if spec.kind == "category":
        whole[-1] = max(whole[-1], UNSEEN_ROWS)
    # Rows of no known group are compared with the whole table: their line has its shares alone.
    counts[n_groups] = 0.0
    shares = counts + PRIOR_ROWS * whole / whole.sum()
    shares /= shares.sum(axis=1, keepdims=True)
    # Rounded, so that shares which are equal up to the last bits are equally rare.
    shares = np.round(shares, 12)
    as_rare = np.stack([np.where(row <= row[:, None], row, 0.0).sum(axis=1) for row in shares])
    distances = -np.log(np.clip(as_rare, 1e-300, 1.0)) / np.sqrt(NORMAL_RANGE)
    # Adding zero turns the -0.0 of the most frequent values into 0.0.
    rounded = tuple(tuple(float(f"{d:.6g}") + 0.0 for d in row) for row in distances.tolist())
    units = spec.units
    if spec.kind == "category":
        units = (1.0, *spec.units[-1:]) if spec.marks_missing else (1.0,)
    return replace(spec, group_units=rounded, units=units, group_usual=usual)


def _most_frequent(counts: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place and share of the most frequent value of each group, and last of the table."""
    filled = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, whole)
    filled[-1] = whole
    most = filled.argmax(axis=1)
    totals = np.maximum(filled.sum(axis=1), 1.0)
    return most, filled[np.arange(len(filled)), most] / totals


def _pairs(first: np.ndarray, second: np.ndarray) -> tuple[tuple[float, float], ...]:
    return tuple((float(a), float(b)) for a, b in zip(first, second, strict=True))
