"""Duplicate rows of a table.

Tables of categories repeat themselves: a row that was scored need not be scored again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PROBE_ROWS = 4096
"""Number of sampled rows that decide whether all rows are compared."""

WORTH_IT = 0.7
"""Duplicates are used if the distinct rows are at most this share of all rows: finding and copying
them has a cost.
"""

_MIX = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, odd: the usual multiplier of Fibonacci hashing."""


@dataclass(frozen=True, eq=False)
class Distinct:
    """First row of each group of equal rows, and the group of every row."""

    first: np.ndarray
    copy_of: np.ndarray


def repeats_likely(read: Callable[[np.ndarray], np.ndarray], n_rows: int) -> bool:
    """Return whether duplicates are frequent enough to search for them.

    They are if a random sample holds at least half the equal pairs it would hold if every row
    occurred twice.
    """
    sample = np.sort(
        np.random.default_rng(0).choice(n_rows, size=min(n_rows, PROBE_ROWS), replace=False)
    )
    # Equal hashes of different rows are so rare that the estimate need not compare the rows.
    hashes = row_hashes(read(sample))
    coincidences = sample.size - np.unique(hashes).size
    # If every row occurs twice, a sample of s of n rows has s^2 / (2 n) equal pairs on average.
    return coincidences > 0 and coincidences >= sample.size**2 / n_rows / 4


def row_hashes(rows: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of each row that depends only on its bytes."""
    n_rows = rows.shape[0]
    rows = np.ascontiguousarray(rows)
    n_bytes = rows.itemsize * rows.shape[1]
    words = np.zeros((n_rows, -(-n_bytes // 8)), dtype=np.uint64)
    words.view(np.uint8)[:, :n_bytes] = rows.view(np.uint8).reshape(n_rows, n_bytes)
    # Round numbers have zeros in their low bits, so a product alone would discard the high ones:
    # mix before multiplying.
    words = (words ^ (words >> np.uint64(32))) * _MIX
    words ^= words >> np.uint64(29)
    # Odd factors lose no bits modulo 2^64. They differ from word to word, so that rows with the
    # same values in other columns have other hashes.
    factors = np.random.default_rng(1).integers(
        0, 2**63, size=words.shape[1], dtype=np.uint64
    ) * np.uint64(2) + np.uint64(1)
    words *= factors
    return words.sum(axis=1, dtype=np.uint64)


def group_hashes(hashes: np.ndarray) -> Distinct | None:
    """Return groups of equal hashes, or ``None`` if there are too many groups to gain from them."""
    # Callers compare the bytes of each group: equal hashes alone do not prove equal rows.
    _, first, copy_of = np.unique(hashes, return_index=True, return_inverse=True)
    return Distinct(first, copy_of.ravel()) if first.size <= WORTH_IT * hashes.size else None


def equal_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two blocks hold the same bytes; unlike with ``==``, NaN equals itself."""
    return bool(
        np.array_equal(
            np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8)
        )
    )
