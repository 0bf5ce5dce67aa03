"""From a mixed table to a matrix of numbers, remembering which column each number came from.

Numbers stay, booleans become 0 and 1, dates seconds; text becomes one column per value, rare values grouped. Missing cells stay NaN. Columns that
cannot help (one value, or text that differs from row to row) are left out and named.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_CATEGORIES = 50
IDENTIFIER_SHARE = 0.5
"""Text with more distinct values than this share of the rows names rows and does not describe them."""


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """``X`` with the index of the source column for each of its columns."""

    X: np.ndarray
    source: np.ndarray
    columns: list[str]
    left_out: dict[str, str]

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Sum encoded columns back to the table's columns: ``(rows, encoded) -> (rows, columns)``."""
        membership = self.source[:, None] == np.arange(len(self.columns))
        return values @ membership


def encode_table(frame: Any) -> EncodedTable:
    """Encode a polars data frame."""
    parts: list[np.ndarray] = []
    columns: list[str] = []
    source: list[int] = []
    left_out: dict[str, str] = {}
    for series in frame:
        reason = _useless(series)
        if reason:
            left_out[series.name] = reason
            continue
        encoded = _encode_column(series)
        parts.append(encoded)
        source += [len(columns)] * encoded.shape[1]
        columns.append(series.name)
    X = np.hstack(parts) if parts else np.empty((frame.height, 0))
    return EncodedTable(X, np.array(source, dtype=np.intp), columns, left_out)


def _useless(series: Any) -> str | None:
    if series.dtype.is_nested():
        return "lists or records in its cells"
    distinct = series.drop_nulls().n_unique()
    if distinct == 0:
        return "empty"
    if distinct == 1 and series.null_count() == 0:
        return "one value"
    is_text = not (series.dtype.is_numeric() or series.dtype.is_temporal() or str(series.dtype) == "Boolean")
    if is_text and distinct > IDENTIFIER_SHARE * len(series):
        return "text that differs from row to row"
    return None


def _encode_column(series: Any) -> np.ndarray:
    dtype = series.dtype
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return _finite(series.cast(float).to_numpy())
    if dtype.is_temporal():
        return _finite(series.to_physical().cast(float).to_numpy())
    from sklearn.preprocessing import OneHotEncoder

    values = series.cast(str).fill_null("(missing)").to_numpy().reshape(-1, 1).astype(object)
    encoder = OneHotEncoder(max_categories=MAX_CATEGORIES, sparse_output=False)
    return np.asarray(encoder.fit_transform(values))


def _finite(values: np.ndarray) -> np.ndarray:
    """One column; what is not a finite number counts as missing."""
    return np.where(np.isfinite(values), values, np.nan).astype(np.float64).reshape(-1, 1)
