"""Range and standard deviation of values that come in batches.

The result is as accurate as for all values at once, and finite where squares would overflow.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Statistics of the values so far.

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
