"""Range and standard deviation of numbers that come in parts: as exact as of all of them at once, and finite where squares would not be."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Of values so far. Means and deviations are of halves of the values: ``mean`` is counted from half of ``low``, ``squares`` in units of ``scale``."""

    n: int = 0
    low: float = np.inf
    high: float = -np.inf
    mean: float = 0.0
    squares: float = 0.0
    scale: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray) -> "Spread":
        """Of finite values, all at once."""
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
        """Of the values of both."""
        if not self.n or not other.n:
            return self if self.n else other
        n, low = self.n + other.n, min(self.low, other.low)
        # From the lowest value: far from zero, means themselves would have lost the digits by which they differ.
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
        """The root of half the range times the standard deviation; 1 for one value."""
        if self.n == 0 or self.low == self.high:
            return 1.0
        half_range, half_std = (
            self.high / 2 - self.low / 2,
            self.scale * float(np.sqrt(self.squares / self.n)),
        )
        # Twice the half range may be beyond the largest float, twice its root is not.
        return float(2 * np.sqrt(half_range / 2) * np.sqrt(half_std)) or 1.0
