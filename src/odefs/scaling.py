"""Column scaling: from the units of the user's columns to comparable ones.

The paper does not describe its scaling; min-max to [0, 1] reproduces its bare-detector column on
every dataset. ``"rootstd"`` lies half-way between min-max and z-scores; ``"damped"`` additionally
keeps rare values from dominating. Ranges are float64; scaled values are clipped to +-1e6, so that a
new row far outside the training range stays finite in float32.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Kind = Literal["damped", "rootstd", "minmax", "none"]
KINDS: tuple[str, ...] = ("damped", "rootstd", "minmax", "none")

SMALLEST_STD = 0.2
"""``"damped"`` treats a two-valued column as no rarer than one of this standard deviation (4 % of
the rows). Chosen on 14 datasets that are not the paper's.
"""

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
        values -= mean
    else:
        seen = ~np.isnan(X)
        count = seen.sum(axis=0).astype(np.float64)
        values[~seen] = 0.0
        mean = values.sum(axis=0) / np.maximum(1, count)
        values = (values - mean) * seen
    return ColumnMoments(count, mean, np.einsum("ij,ij->j", values, values))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Column scaling ``(x * factor - low) / width``."""

    low: np.ndarray
    """Value mapped to 0: the minimum, or after :meth:`centred` one in the middle of the column."""
    width: np.ndarray
    factor: float
    clip: float = CLIP

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
        return replace(self, low=self.low + np.where(two_valued, 0.0, middle) * self.width)

    def damped(self, columns: np.ndarray, share: float) -> "Scaling":
        """Return the same scaling with some columns shrunk to ``share`` of their size."""
        width = self.width.copy()
        width[columns] /= share
        return replace(self, width=width)

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
                np.clip(X, -largest, largest).astype(out.dtype)
                if X.dtype.kind == "f"
                else X.astype(out.dtype)
            )
        with np.errstate(over="ignore"):
            if out.dtype == np.float32 and self.safe_in_float32:
                np.subtract(X, self.low.astype(np.float32), out=out)
                np.divide(out, self.width.astype(np.float32), out=out)
                return np.clip(out, -self.clip, self.clip, out=out)
            wide = X.astype(np.float64)
            if self.factor != 1.0:
                wide *= self.factor
            wide -= self.low
            wide /= self.width
            np.clip(wide, -self.clip, self.clip, out=wide)
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
    if kind not in ("rootstd", "damped"):
        return minmax
    std, mean = moments.std, np.clip(moments.mean, 0.0, 1.0)
    if kind == "damped":
        two_valued = std**2 / np.maximum(mean * (1 - mean), np.finfo(np.float64).tiny)
        std = np.where(std > 0, np.maximum(std, SMALLEST_STD * np.minimum(two_valued, 1.0)), 0.0)
    return replace(minmax, width=minmax.width * np.sqrt(np.where(std > 0, std, 1.0)))
