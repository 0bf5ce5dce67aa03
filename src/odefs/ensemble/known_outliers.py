"""Known outliers, which every component learns from, and known normal rows, never candidates."""

from dataclasses import dataclass, field

import numpy as np


def _none() -> np.ndarray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class KnownCases:
    """Row numbers in ascending order; no row is in both."""

    outliers: np.ndarray = field(default_factory=_none)
    normal: np.ndarray = field(default_factory=_none)

    def joined(self, candidates: np.ndarray) -> np.ndarray:
        """The candidates and the known outliers, ascending."""
        return np.union1d(candidates, self.outliers) if self.outliers.size else candidates

    def never(self, numbers: np.ndarray) -> np.ndarray:
        """Places of the known normal rows among the given row numbers."""
        return np.flatnonzero(np.isin(numbers, self.normal)) if self.normal.size else _none()


def draw_outliers(
    candidates: np.ndarray, known: np.ndarray, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Outlier examples: the known ones (a sample if too many), then candidates at random."""
    if not known.size:
        return rng.choice(candidates, size=size, replace=False)
    if known.size >= size:
        return rng.choice(known, size=size, replace=False)
    others = np.setdiff1d(candidates, known, assume_unique=True)
    return np.concatenate([known, rng.choice(others, size=size - known.size, replace=False)])
