"""Number of distinct numbers in a column of any length, in bounded memory.

Numbers are hashed, and the smallest hashes are kept. Fewer than ``KEPT`` distinct numbers are
counted; more are estimated from the largest hash that is kept, with an error of about 0.4 %. The
result does not depend on how the rows are divided into batches.
"""

import numpy as np

KEPT = 65_536


class DistinctValues:
    """Counts the distinct values of batches."""

    def __init__(self) -> None:
        self._hashes = np.empty(0, dtype=np.uint64)

    def add(self, values: np.ndarray) -> None:
        """Count the values of a batch, without missing ones."""
        hashes = _hashed(values)
        # Larger hashes cannot be among the smallest any more.
        if self._hashes.size == KEPT:
            hashes = hashes[hashes < self._hashes[-1]]
        if hashes.size:
            self._hashes = np.union1d(self._hashes, hashes)[:KEPT]

    @property
    def count(self) -> float:
        """Number of distinct values, estimated if there are many."""
        if self._hashes.size < KEPT:
            return float(self._hashes.size)
        return (KEPT - 1) / (float(self._hashes[-1]) / 2.0**64)


def _hashed(values: np.ndarray) -> np.ndarray:
    """Map float64 to uniform 64-bit integers, one to one (the finaliser of SplitMix64)."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
