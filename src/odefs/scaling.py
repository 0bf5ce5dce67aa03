"""Column scaling: from the units of the user's columns to comparable ones.

The paper does not say how it scales; min-max to [0, 1] reproduces its bare-detector column on every dataset. ``"rootstd"`` lies half-way
between min-max and z-scores. Ranges are float64; scaled values are clipped to +-1e6, so that a new row far outside the training range
stays finite in float32.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Kind = Literal["minmax", "rootstd", "none"]
KINDS: tuple[str, ...] = ("minmax", "rootstd", "none")

CLIP = 1e6
CLIP_UNSCALED = 1e15
"""Without scaling the values are the user's own; this bound only keeps their squares within float32."""
_SAFE_IN_FLOAT32 = (1e-30, 1e30)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Per column over the observed cells: smallest and largest value, mean, and sum of squared deviations; float64."""

    count: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def merge(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Statistics of both parts together (Chan, Golub and LeVeque's update)."""
        count = self.count + other.count
        share = other.count / np.maximum(1, count)
        delta = other.mean - self.mean
        return ColumnStatistics(
            count,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + delta * share,
            self.squares + other.squares + delta * delta * self.count * share,
        )


def column_statistics(X: np.ndarray, moments: bool) -> ColumnStatistics:
    """Statistics of one dense block; ``moments=False`` leaves mean and squares at zero and saves two thirds of the time."""
    X = np.asarray(X)
    zeros = np.zeros(X.shape[1])
    low, high = np.minimum.reduce(X, axis=0), np.maximum.reduce(X, axis=0)
    count = np.full(X.shape[1], float(X.shape[0]))
    if np.isnan(low).any():
        seen = ~np.isnan(X)
        count = seen.sum(axis=0).astype(np.float64)
        low = np.where(seen, X, np.inf).min(axis=0)
        high = np.where(seen, X, -np.inf).max(axis=0)
    low, high = low.astype(np.float64), high.astype(np.float64)
    if not moments:
        return ColumnStatistics(count, low, high, zeros, zeros)
    wide = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.nansum(wide, axis=0) / np.maximum(1, count)
        squares = np.nansum((wide - mean) ** 2, axis=0)
    return ColumnStatistics(count, low, high, mean, squares)


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(x * factor - low) / width`` per column."""

    low: np.ndarray
    """What is mapped to 0: the smallest value, or after :meth:`centred` one amid the column."""
    width: np.ndarray
    factor: float
    clip: float = CLIP

    def centred(self, sample: np.ndarray) -> "Scaling":
        """The same scaling with the origin at the mean of some scaled rows, which changes no distance and saves digits of products.

        Columns with two values keep them at 0 and 1 (or 0 and any unit): their products are exact as they are, and moving the origin would
        make equal distances differ in the last bit.
        """
        seen = ~np.isnan(sample)
        values = np.where(seen, sample, 0.0).astype(np.float64)
        middle = values.sum(axis=0) / np.maximum(1, seen.sum(axis=0))
        top = values.max(axis=0)
        two_valued = np.all((values == 0) | (values == top), axis=0)
        return replace(self, low=self.low + np.where(two_valued, 0.0, middle) * self.width)

    @property
    def safe_in_float32(self) -> bool:
        """Whether no intermediate value can leave the range of float32."""
        small, large = _SAFE_IN_FLOAT32
        return bool(
            self.factor == 1.0
            and (self.width > small).all()
            and (self.width < large).all()
            and (abs(self.low) < large).all()
        )

    def apply(self, X: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Scale a dense block into ``out``, whose dtype is the dtype of all later arithmetic."""
        with np.errstate(over="ignore"):
            if X.dtype == np.float32 and out.dtype == np.float32 and self.safe_in_float32:
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


def fit_scaling(statistics: ColumnStatistics, kind: str) -> Scaling:
    """Choose origin and unit of each column. Constant and empty columns get unit 1."""
    seen = statistics.count > 0
    low = np.where(seen, statistics.low, 0.0)
    high = np.where(seen, statistics.high, 0.0)
    if kind == "none":
        return Scaling(np.zeros_like(low), np.ones_like(low), 1.0, CLIP_UNSCALED)
    with np.errstate(over="ignore"):
        # Columns that span more than the largest float are halved first.
        factor = 1.0 if np.isfinite(high - low).all() else 0.5
    low, high = low * factor, high * factor
    width = np.where(high > low, high - low, 1.0)
    if kind == "rootstd":
        with np.errstate(over="ignore", invalid="ignore"):
            std = np.sqrt(statistics.squares / np.maximum(1, statistics.count)) * factor / width
        usable = np.isfinite(std) & (std > 0) & (high > low)
        width = np.where(usable, width * np.sqrt(np.where(usable, std, 1.0)), width)
    return Scaling(low, width, factor)


def constant_columns(statistics: ColumnStatistics) -> np.ndarray:
    """Columns that cannot tell rows apart: one value, or none."""
    return np.flatnonzero((statistics.count == 0) | (statistics.low == statistics.high))
