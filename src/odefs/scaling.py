"""Column scaling: columns get comparable units, and noise columns shrink within their range.

The paper does not describe its scaling; min-max to [0, 1] reproduces its bare-detector column on
every dataset. ``"rootstd"`` lies half-way between min-max and z-scores; ``"damped"`` additionally
keeps rare values from dominating. ``"robust"`` is ``"damped"`` after extreme values have been drawn
in logarithmically (:class:`Tails`), so that one huge value does not squeeze its column. Ranges are
float64; scaled values are clipped to +-1e6, so that a new row far outside the training range stays
finite in float32.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import numpy as np

from odefs.kernels.two_values import two_valued_columns

KINDS: tuple[str, ...] = ("robust", "damped", "rootstd", "minmax", "none")

SMALLEST_STD = 0.2
"""``"damped"`` treats a two-valued column as no rarer than one of this standard deviation (4 % of
the rows). Chosen on 14 datasets that are not the paper's.
"""

RARE_ROWS = 20
"""``"damped"`` also treats a two-valued column as no rarer than one whose rarer value is in this
many rows: in a small table, rarer values are chance. With this limit and that for rows per value
of companions, ``ODEFS()`` has an average precision of 0.87 instead of 0.80 on the digits of
scikit-learn (research log, "Companions of the distances").
"""

TAIL_SIGMAS = 3.0
"""``"robust"`` draws in values that are farther from the median, in robust standard deviations."""

BEYOND_RANGE = 4.0
"""Unit of the tails of noise columns, relative to that of other columns.

Values beyond the range of a noise column count in full at first and are drawn in later than others.
"""

LINEAR = 1e12
"""Unit of a tail that is not drawn in: values beyond the limit stay linear."""

CLIP = 1e6
CLIP_UNSCALED = 1e15
"""Without scaling the values are the user's own; this bound only keeps their squares within
float32.
"""
_SAFE_IN_FLOAT32 = (1e-30, 1e30)


@dataclass(frozen=True, eq=False)
class ColumnRanges:
    """Number, minimum and maximum of the observed cells of each column; float64."""

    count: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def merge(self, other: "ColumnRanges") -> "ColumnRanges":
        """Return the ranges of both parts together."""
        return ColumnRanges(
            self.count + other.count,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def constant(self) -> np.ndarray:
        """Columns that cannot distinguish rows: those with at most one value."""
        return np.flatnonzero((self.count == 0) | (self.low == self.high))


def column_ranges(X: np.ndarray) -> ColumnRanges:
    """Return the ranges of one dense block."""
    # NaN propagates through minimum: tables without missing cells need no mask.
    low, high = np.minimum.reduce(X, axis=0), np.maximum.reduce(X, axis=0)
    count = np.full(X.shape[1], float(X.shape[0]))
    if np.isnan(low).any():
        seen = ~np.isnan(X)
        count = seen.sum(axis=0).astype(np.float64)
        low = np.where(seen, X, np.inf).min(axis=0)
        high = np.where(seen, X, -np.inf).max(axis=0)
    return ColumnRanges(count, low.astype(np.float64), high.astype(np.float64))


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Number, mean and sum of squared deviations of the observed cells of each column."""

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def merge(self, other: "ColumnMoments") -> "ColumnMoments":
        """Return the moments of both parts together (update of Chan, Golub and LeVeque)."""
        count = self.count + other.count
        share = other.count / np.maximum(1, count)
        delta = other.mean - self.mean
        squares = self.squares + other.squares + delta * delta * self.count * share
        return ColumnMoments(count, self.mean + delta * share, squares)

    @property
    def std(self) -> np.ndarray:
        return np.sqrt(self.squares / np.maximum(1, self.count))

    @property
    def farthest(self) -> np.ndarray:
        """Distance from the mean to the farther end of the column (0 or 1), in standard deviations.

        0 for a constant column.
        """
        std = self.std
        return np.divide(
            np.maximum(self.mean, 1 - self.mean), std, out=np.zeros_like(std), where=std > 0
        )


def column_moments(X: np.ndarray) -> ColumnMoments:
    """Return the moments of one dense block of values between 0 and 1.

    Squares of unscaled values might overflow.
    """
    values = X.astype(np.float64)
    total = np.add.reduce(values, axis=0)
    count = np.full(X.shape[1], float(X.shape[0]))
    if not np.isnan(total).any():
        mean = total / X.shape[0]
        # Centred first: the difference of mean squares and squared means would cancel.
        values -= mean
    else:
        seen = ~np.isnan(X)
        count = seen.sum(axis=0).astype(np.float64)
        values[~seen] = 0.0
        mean = values.sum(axis=0) / np.maximum(1, count)
        values = (values - mean) * seen
    return ColumnMoments(count, mean, np.einsum("ij,ij->j", values, values))


Statistics = TypeVar("Statistics", ColumnRanges, ColumnMoments)


def merged(parts: Iterable[Statistics]) -> Statistics:
    """Return the statistics of all parts, merged in their order: another one changes the bits."""
    return reduce(lambda total, part: total.merge(part), parts)


@dataclass(frozen=True, eq=False)
class Tails:
    """Values that scaled values outside limits become: ``limit +- slope unit log(1 + t / unit)``.

    ``t`` is the distance from the limit. With slope 1 a tail is drawn in from the limit on. With
    the unit :data:`LINEAR` it is ``limit +- slope t``: a slope above 1 makes values count more
    beyond the limit than within. Limits are infinite for columns without tails. All arrays are
    float64.
    """

    low: np.ndarray
    high: np.ndarray
    unit: np.ndarray
    slope: np.ndarray

    @classmethod
    def none(cls, n_columns: int) -> "Tails":
        """No column has tails."""
        far, one = np.full(n_columns, np.inf), np.ones(n_columns)
        return cls(-far, far, one, one)

    def shifted(self, by: np.ndarray) -> "Tails":
        """Return the same for scaled values that are smaller by the given amounts."""
        return replace(self, low=self.low - by, high=self.high - by)

    def shrunk(self, by: np.ndarray) -> "Tails":
        """Return the same for scaled values that are divided by the given factors."""
        return replace(self, low=self.low / by, high=self.high / by, unit=self.unit / by)

    def apply(self, scaled: np.ndarray) -> np.ndarray:
        """Change scaled values in place; only the few cells beyond a limit are computed."""
        low, high = self.low.astype(scaled.dtype), self.high.astype(scaled.dtype)
        for limits, exact, sign, is_far in (
            (high, self.high, 1.0, scaled > high),
            (low, self.low, -1.0, scaled < low),
        ):
            # Places in the flattened array: pairs of indices take several times as long to find.
            places = np.flatnonzero(is_far)
            if not places.size:
                continue
            columns = places % scaled.shape[1]
            unit = self.unit[columns]
            # From the rounded limit that was compared with, so that distances begin at 0; then in
            # float64.
            beyond = np.abs(scaled.take(places) - limits[columns].astype(np.float64))
            drawn_in = np.where(unit < LINEAR, unit * np.log1p(beyond / unit), beyond)
            scaled.put(places, exact[columns] + sign * self.slope[columns] * drawn_in)
        return scaled


@dataclass(frozen=True, eq=False)
class Scaling:
    """Column scaling ``(x * factor - low) / width``, with tails beyond limits."""

    low: np.ndarray
    """Value mapped to 0: the minimum, or after :meth:`centred` one in the middle of the column."""
    width: np.ndarray
    factor: float
    clip: float = CLIP
    tails: Tails | None = None

    def centred(self, sample: np.ndarray) -> "Scaling":
        """Return the same scaling with the origin at the mean of some scaled rows.

        This changes no distance and preserves digits of products. Columns with two values keep them
        at 0 and 1 (or 0 and any unit): their products are exact, and moving the origin would make
        equal distances differ in the last bit.
        """
        seen = ~np.isnan(sample)
        values = np.where(seen, sample, 0.0).astype(np.float64)
        middle = values.sum(axis=0) / np.maximum(1, seen.sum(axis=0))
        top = values.max(axis=0)
        two_valued = np.all((values == 0) | (values == top), axis=0)
        middle = np.where(two_valued, 0.0, middle)
        tails = None if self.tails is None else self.tails.shifted(middle)
        return replace(self, low=self.low + middle * self.width, tails=tails)

    def widened(self, by: np.ndarray) -> "Scaling":
        """Return the same scaling with scaled values divided by the given factors."""
        tails = None if self.tails is None else self.tails.shrunk(by)
        return replace(self, width=self.width * by, tails=tails)

    def shrunk_within_range(
        self, columns: np.ndarray, share: float, ranges: ColumnRanges
    ) -> "Scaling":
        """Return the same scaling with noise columns shrunk to ``share`` of their size.

        Only within the range of the training rows: beyond it, a value counts in full, and only
        extreme values are drawn in.
        """
        if not columns.size:
            return self
        by = np.ones_like(self.width)
        by[columns] = 1 / share
        found = self.widened(by)
        tails = Tails.none(self.width.size) if found.tails is None else found.tails
        low, high, unit, slope = (
            one.copy() for one in (tails.low, tails.high, tails.unit, tails.slope)
        )
        ends = np.stack([ranges.low[columns], ranges.high[columns]]) * found.factor
        ends = (ends - found.low[columns]) / found.width[columns]
        # The ends of the training range must not count as beyond it after rounding to float32.
        room = 1e-5 * np.maximum(1.0, np.abs(ends).max(axis=0))
        has_tails = np.isfinite(high[columns])
        low[columns], high[columns] = ends[0] - room, ends[1] + room
        unit[columns] = np.where(has_tails, BEYOND_RANGE * unit[columns], LINEAR)
        slope[columns] = 1 / share
        return replace(found, tails=Tails(low, high, unit, slope))

    @property
    def safe_in_float32(self) -> bool:
        """Whether no intermediate value can exceed the range of float32."""
        small, large = _SAFE_IN_FLOAT32
        return bool(
            self.factor == 1.0
            and (self.width > small).all()
            and (self.width < large).all()
            and (abs(self.low) < large).all()
        )

    def apply(self, X: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Scale a dense block into ``out``, whose dtype is used in all later arithmetic.

        Rows are first converted to that dtype: equal values give equal results, whatever type they
        arrive in.
        """
        if X.dtype != out.dtype:
            largest = np.finfo(out.dtype).max
            X = (
                np.clip(X, -largest, largest).astype(out.dtype, copy=False)
                if X.dtype.kind == "f"
                else X.astype(out.dtype)
            )
        with np.errstate(over="ignore"):
            # float32 throughout where no intermediate value overflows; otherwise through float64.
            if out.dtype == np.float32 and self.safe_in_float32:
                np.subtract(X, self.low.astype(np.float32), out=out)
                np.divide(out, self.width.astype(np.float32), out=out)
                if self.tails is not None:
                    self.tails.apply(out)
                return np.clip(out, -self.clip, self.clip, out=out)
            wide = out if out.dtype == np.float64 else np.empty(X.shape)
            if self.factor != 1.0:
                X = np.multiply(X, self.factor, out=wide, dtype=np.float64)
            np.subtract(X, self.low, out=wide)
            wide /= self.width
            if self.tails is not None:
                self.tails.apply(wide)
            np.clip(wide, -self.clip, self.clip, out=wide)
            if wide is not out:
                out[...] = wide
        return out


def fit_scaling(ranges: ColumnRanges, kind: str) -> Scaling:
    """Choose origin and unit of each column: its minimum and its range.

    Constant and empty columns get unit 1. ``"rootstd"`` and ``"damped"`` also need the moments of
    the table scaled this way, see :func:`scale_by_moments`.
    """
    seen = ranges.count > 0
    low, high = np.where(seen, ranges.low, 0.0), np.where(seen, ranges.high, 0.0)
    if kind == "none":
        peak = float(max(np.abs(low).max(initial=0.0), np.abs(high).max(initial=0.0)))
        # One power of two for all columns keeps squares finite and all ratios of distances.
        factor = 1.0 if peak <= CLIP_UNSCALED else 2.0 ** -np.ceil(np.log2(peak / CLIP_UNSCALED))
        return Scaling(np.zeros_like(low), np.ones_like(low), float(factor), CLIP_UNSCALED)
    with np.errstate(over="ignore"):
        # Columns that span more than the largest float are halved first.
        factor = 1.0 if np.isfinite(high - low).all() else 0.5
    low, high = low * factor, high * factor
    return Scaling(low, np.where(high > low, high - low, 1.0), factor)


def scale_by_moments(minmax: Scaling, moments: ColumnMoments, kind: str) -> Scaling:
    """Apply ``"rootstd"`` and ``"damped"``: divide each column by the root of its standard
    deviation.

    This is half-way from min-max to z-scores. The standard deviation of a numeric column is small
    if a few extreme values stretch the range; dividing by it restores the distances of the other
    values. That of a two-valued column is small if one value is rare, and dividing by its root lets
    a value in a thousand rows outweigh thirty balanced columns. ``"damped"`` therefore bounds the
    standard deviation from below, in proportion to how similar the column is to a two-valued one:
    ``variance / (mean (1 - mean))`` is 1 for those and smaller for all others.
    """
    if kind not in ("robust", "rootstd", "damped"):
        return minmax
    std, mean = moments.std, np.clip(moments.mean, 0.0, 1.0)
    if kind != "rootstd":
        two_valued = std**2 / np.maximum(mean * (1 - mean), np.finfo(np.float64).tiny)
        # Standard deviation of a two-valued column whose rarer value is in RARE_ROWS rows.
        rarest = np.minimum(0.5, RARE_ROWS / np.maximum(1, moments.count))
        smallest = np.maximum(SMALLEST_STD, np.sqrt(rarest * (1 - rarest)))
        std = np.where(std > 0, np.maximum(std, smallest * np.minimum(two_valued, 1.0)), 0.0)
    return minmax.widened(np.sqrt(np.where(std > 0, std, 1.0)))


def draw_in_tails(minmax: Scaling, ranges: ColumnRanges, sample: np.ndarray) -> Scaling:
    """Begin ``"robust"``: min-max scaling of columns whose extreme values are drawn in.

    A value is extreme if it lies more than :data:`TAIL_SIGMAS` robust standard deviations from the
    median, both taken from a ``sample`` of the unscaled rows. Beyond, ``k`` deviations become
    ``TAIL_SIGMAS (1 + log(k / TAIL_SIGMAS))``. Columns with two values have no tails.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        sample = sample.astype(np.float64)
        if minmax.factor != 1.0:
            sample *= minmax.factor
        return _drawn_in(minmax, ranges, sample)


def _drawn_in(minmax: Scaling, ranges: ColumnRanges, sample: np.ndarray) -> Scaling:
    low, high = ranges.low * minmax.factor, ranges.high * minmax.factor
    middle, sigma = middle_and_sigma(sample)
    reach = TAIL_SIGMAS * sigma
    bends = ~two_valued_columns(sample, low, high) & (reach > 0)
    reach = np.where(bends, reach, 1.0)
    limit_low, limit_high = middle - reach, middle + reach

    def drawn_in(x: np.ndarray) -> np.ndarray:
        within = np.clip(x, limit_low, limit_high)
        return within + np.sign(x - within) * reach * np.log1p(np.abs(x - within) / reach)

    new_low, new_high = np.where(bends, drawn_in(low), low), np.where(bends, drawn_in(high), high)
    # Differences of extreme values may overflow or be rounded to nothing.
    bends &= (
        np.isfinite(new_high - new_low) & (new_high > new_low) & (reach / (new_high - new_low) > 0)
    )
    origin = np.where(bends, new_low, minmax.low)
    width = np.where(bends, new_high - new_low, minmax.width)
    tails = Tails(
        np.where(bends, (limit_low - origin) / width, -np.inf),
        np.where(bends, (limit_high - origin) / width, np.inf),
        np.where(bends, reach / width, 1.0),
        np.ones_like(width),
    )
    return replace(minmax, low=origin, width=width, tails=tails if bends.any() else None)


def sample_moments(scaling: Scaling, ranges: ColumnRanges, sample: np.ndarray) -> ColumnMoments:
    """Moments of scaled columns from a sample of the unscaled rows.

    A column that is constant in the sample and not among all rows has a rare value, in about half
    as many rows as the sample could show.
    """
    moments = column_moments(scaling.apply(sample, np.empty(sample.shape)))
    # n p (1 - p) is about 0.5 for p = 1 / (2 n).
    is_rare = (moments.squares == 0) & (ranges.high > ranges.low)
    return replace(moments, squares=np.where(is_rare, 0.5, moments.squares))


def middle_and_sigma(sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median, and standard deviation from quantiles where these differ; 0 where nothing does."""
    q05, q25, middle, q75, q95 = _quantiles(sample)
    # Quartiles of a normal distribution are 1.349 deviations apart, the 5 and 95 % quantiles 3.29.
    sigma = (q75 - q25) / 1.349
    sigma = np.where(sigma > 0, sigma, (q95 - q05) / 3.29)
    unknown = np.flatnonzero(~(sigma > 0))
    if unknown.size:
        # NumPy sums the rows of a single column in another order than those of several.
        columns = np.resize(unknown, max(unknown.size, min(2, sample.shape[1])))
        sigma[unknown] = _spread(np.take(sample, columns, axis=1))[: unknown.size]
    return np.nan_to_num(middle), np.nan_to_num(sigma)


def _spread(sample: np.ndarray) -> np.ndarray:
    """Standard deviation of the observed cells of each column."""
    # Relative to the peaks, since squares of the largest numbers overflow.
    peak = np.maximum(
        np.fmax.reduce(np.abs(sample), axis=0, initial=0.0), np.finfo(np.float64).tiny
    )
    seen = ~np.isnan(sample)
    parts = np.where(seen, sample / peak, 0.0)
    count = np.maximum(1, seen.sum(axis=0))
    centred = np.where(seen, parts - parts.sum(axis=0) / count, 0.0)
    return np.sqrt((centred**2).sum(axis=0) / count) * peak


def _quantiles(sample: np.ndarray) -> np.ndarray:
    """The 5, 25, 50, 75 and 95 % quantiles of each column, of observed cells.

    They are those of ``np.nanquantile``, to the bit. NumPy sorts several times as fast as it
    partitions, and goes through columns with missing cells one by one.
    """
    shares = np.array([0.05, 0.25, 0.5, 0.75, 0.95])[:, None]
    ordered = np.array(sample.T, order="C")
    ordered.sort(axis=1)  # Missing cells come last.
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=1) - 1, 0)
    place = shares * last
    below = np.floor(place).astype(np.intp)
    columns = np.arange(len(ordered))
    low, high = ordered[columns, below], ordered[columns, np.minimum(below + 1, last)]
    part = place - below
    with np.errstate(over="ignore", invalid="ignore"):
        step = high - low
        # From the nearer end, so that rounding keeps the quantiles in order.
        return np.where(part < 0.5, low + step * part, high - step * (1 - part))
