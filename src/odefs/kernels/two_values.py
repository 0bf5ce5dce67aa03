"""Columns of two values."""

import numpy as np

FIRST_ROWS = 64
"""Rows that are compared first: they show that most columns of numbers have more values."""


def two_valued_columns(
    X: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> np.ndarray:
    """Return which columns have no values but their lowest and their highest.

    These are ``low`` and ``high`` where ``X`` is a sample of the rows. Missing cells do not count.
    """
    low = np.fmin.reduce(X, axis=0) if low is None else low
    high = np.fmax.reduce(X, axis=0) if high is None else high
    found = np.zeros(X.shape[1], dtype=bool)
    few = np.ones(X.shape[1], dtype=bool)
    for rows in (slice(0, FIRST_ROWS), slice(None)):
        part = X[rows][:, few]
        found[few] = ((part == low[few]) | (part == high[few]) | np.isnan(part)).all(axis=0)
        few = found.copy()
    return found
