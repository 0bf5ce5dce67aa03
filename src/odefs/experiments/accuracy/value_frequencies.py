"""Two baselines that only count values: "frequencies" of single columns, and of "pairs" of columns.

A row's score is the sum of -log(share of rows with the same value). Numbers of more than ten
values are divided into ten bins of equal width, and missing is a value like any other.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from odefs.tables.frames.columns import Column

N_BINS = 10
MAX_PAIR_VALUES = 500
"""Pairs of columns with more values than this are left out: nearly every row would be rare."""
DECIMALS = 8
"""Sums are rounded, because the order of their terms would decide between equal ones."""

Codes = Sequence[np.ndarray]


def matrix_codes(X: np.ndarray) -> list[np.ndarray]:
    """Return the values of each column of a matrix as small integers."""
    return [_number_codes(column) for column in X.T]


def table_codes(columns: Iterable[Column]) -> list[np.ndarray]:
    """Return the values of each column of a table as small integers."""
    return [
        _narrow(column.category_codes + 1)
        if column.kind == "category"
        else _number_codes(column.values)
        for column in columns
    ]


def _number_codes(values: np.ndarray) -> np.ndarray:
    """Return 0 if missing, otherwise the number of the value or bin, from 1."""
    numbers = np.asarray(values, dtype=np.float64)
    known = np.isfinite(numbers)
    distinct, places = np.unique(numbers[known], return_inverse=True)
    if distinct.size > N_BINS:
        shares = (numbers[known] - distinct[0]) / (distinct[-1] - distinct[0])
        # The largest value belongs to the last bin.
        places = np.minimum((shares * N_BINS).astype(np.intp), N_BINS - 1)
    codes = np.zeros(numbers.size, dtype=np.intp)
    codes[known] = places + 1
    return _narrow(codes)


def _narrow(codes: np.ndarray) -> np.ndarray:
    """Return the codes in few bytes: census has 150 million cells."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def frequencies(codes: Codes) -> np.ndarray:
    """Return the scores by the values of single columns."""
    return np.round(sum(_rarity(one, np.bincount(one)) for one in codes), DECIMALS)


def pairs(codes: Codes) -> np.ndarray:
    """Return the scores by the values of all pairs of columns."""
    total = np.zeros(codes[0].size)
    for one, other in combinations(codes, 2):
        both = one.astype(np.intp) * (int(other.max()) + 1) + other
        counts = np.bincount(both)
        if np.count_nonzero(counts) <= MAX_PAIR_VALUES:
            total += _rarity(both, counts)
    return np.round(total, DECIMALS)


def _rarity(codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    # Values that do not occur have no logarithm, and no row looks them up.
    return (np.log(codes.size) - np.log(np.maximum(counts, 1)))[codes]


BASELINES: dict[str, Callable[[Codes], np.ndarray]] = {"frequencies": frequencies, "pairs": pairs}
