"""``known_outliers`` and ``known_normal``: from what a user names to the row numbers of both."""

from typing import Any

import numpy as np

from odefs._row_selection import RowSelection, frame_index, index_labels, read_rows
from odefs.ensemble.known_outliers import KnownCases


class NamedCases:
    """Both selections, checked as far as it goes without the number of rows; ``X`` may have labels for its rows."""

    def __init__(self, X: Any, outliers: Any, normal: Any) -> None:
        self.outliers = None if outliers is None else read_rows(outliers, "known_outliers")
        self.normal = None if normal is None else read_rows(normal, "known_normal")
        self.index = frame_index(X)

    def __call__(self, n_rows: int) -> KnownCases:
        """The rows of a table with ``n_rows`` rows."""
        bad, good = self._numbers(self.outliers, n_rows), self._numbers(self.normal, n_rows)
        both = np.intersect1d(bad, good)
        if both.size:
            more = f" and {both.size - 1} more" if both.size > 1 else ""
            raise ValueError(
                f"row {both[0]}{more} is in known_outliers and in known_normal: a row is one or the other."
            )
        if good.size == n_rows:
            raise ValueError("known_normal holds all rows: none is left that could be an outlier.")
        return KnownCases(bad, good)

    def _numbers(self, rows: RowSelection | None, n_rows: int) -> np.ndarray:
        if rows is None:
            return np.empty(0, dtype=np.intp)
        return np.unique(rows.numbers(n_rows, index_labels(self.index), self.index))
