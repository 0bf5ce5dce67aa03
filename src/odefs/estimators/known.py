"""``known_outliers`` and ``known_normal``: from what a user hands over to row numbers, or to a sentence that says what is wrong."""

from typing import Any

import numpy as np

from odefs.ensemble.known_cases import KnownCases

ALLOWED = "row numbers from 0, or one truth value for each row"


def check_kind(name: str, rows: Any) -> np.ndarray | None:
    """Whole numbers or truth values in one dimension; what can be said before the number of rows is known."""
    if rows is None:
        return None
    if isinstance(rows, str | bytes | dict | set | frozenset):
        raise TypeError(f"{name} is of type {type(rows).__name__}; it takes {ALLOWED}.")
    try:
        found = np.asarray(rows)
    except ValueError:
        raise ValueError(f"{name} is no list of numbers; it takes {ALLOWED}.") from None
    if found.ndim != 1:
        raise ValueError(f"{name} has {found.ndim} dimensions; it takes {ALLOWED}, in one dimension.")
    if not found.size:
        return np.empty(0, dtype=np.intp)
    if found.dtype.kind not in "biu":
        raise TypeError(f"{name} holds values of type {found.dtype}; it takes {ALLOWED}.")
    return found


def known_cases(outliers: np.ndarray | None, normal: np.ndarray | None, n_rows: int) -> KnownCases:
    """The rows of a table with ``n_rows`` rows."""
    bad, good = _numbers("known_outliers", outliers, n_rows), _numbers("known_normal", normal, n_rows)
    both = np.intersect1d(bad, good)
    if both.size:
        more = f" and {both.size - 1} more" if both.size > 1 else ""
        raise ValueError(f"row {both[0]}{more} is in known_outliers and in known_normal: a row is one or the other.")
    if good.size == n_rows:
        raise ValueError("known_normal holds all rows: none is left that could be an outlier.")
    return KnownCases(bad, good)


def _numbers(name: str, rows: np.ndarray | None, n_rows: int) -> np.ndarray:
    if rows is None:
        return np.empty(0, dtype=np.intp)
    if rows.dtype.kind == "b":
        if rows.size != n_rows:
            raise ValueError(f"{name} has {rows.size} truth values for {n_rows} rows: it needs one for each row.")
        return np.flatnonzero(rows)
    wrong = rows[(rows < 0) | (rows >= n_rows)]
    if wrong.size:
        raise ValueError(f"{name} holds {wrong[0]}, and the {n_rows} rows have the numbers 0 to {n_rows - 1}.")
    return np.unique(rows.astype(np.intp))
