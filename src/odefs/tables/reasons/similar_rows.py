"""Values that are usual for a row: those of the ordinary rows most similar in all other columns.

Rows are compared in blocks that fit the processor's cache, column by column.
"""

from typing import Any, Literal

import numpy as np

from odefs.kernels.stable_products import slab_layout
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.frames.columns import Column, Columns

ORDINARY_SAMPLE = 2000
LIKE_IT = 50
"""Number of sampled normal rows that count as similar to a row."""

MAX_DISTANCE = 1e6
"""Values are clipped here, in units of the column's spread, so that squares stay finite."""

CELLS_PER_BLOCK = 2**17
"""Distances that are looked through at a time."""

Usual = tuple[Any, Any] | None
"""Both quartiles of numbers and times, else the most frequent value and its share."""


class SimilarRows:
    """A sample of the ordinary rows of a table, to which other rows are compared.

    ``X`` are the encoded rows of ``table``, ``ordinary`` a mask of those that are not outliers.
    """

    def __init__(
        self, encoder: ColumnEncoder, table: Columns, X: np.ndarray, ordinary: np.ndarray
    ) -> None:
        self.encoder, self.table = encoder, table
        rows = np.flatnonzero(ordinary)
        if rows.size == 0:
            rows = np.arange(table.n_rows)
        if rows.size > ORDINARY_SAMPLE:
            rows = np.sort(np.random.default_rng(0).choice(rows, ORDINARY_SAMPLE, replace=False))
        self.rows = rows
        # A missing number is compared as what is usual in its column.
        encoded = encoder.filled(X[rows])
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.nan_to_num(encoded.std(axis=0), nan=0.0, posinf=0.0)
        self._scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        self._ordinary = np.clip(encoded * self._scale, -MAX_DISTANCE, MAX_DISTANCE)
        self.names = encoder.columns
        self._starts = np.searchsorted(encoder.sources, np.arange(len(self.names) + 1))

    def compare(self, X: np.ndarray) -> "ComparedRows":
        """Compare encoded rows with the sample."""
        scaled = np.clip(self.encoder.filled(X) * self._scale, -MAX_DISTANCE, MAX_DISTANCE)
        n_ordinary, n_features = self._ordinary.shape
        layout = slab_layout(n_ordinary, n_features, self._ordinary.dtype)
        # A row's neighbours must not depend on its block.
        distances = layout.products(self._ordinary, scaled).T
        distances *= -2
        distances += (scaled * scaled).sum(axis=1)[:, None]
        distances += (self._ordinary**2).sum(axis=1)
        return ComparedRows(self, scaled, distances)

    def in_column(self, scaled: np.ndarray, index: int) -> np.ndarray:
        """Squared distances of scaled rows to the sample in one input column."""
        own = slice(self._starts[index], self._starts[index + 1])
        cells, ordinary = scaled[:, own], self._ordinary[:, own]
        if cells.shape[1] == 1:
            return _squared_distances(cells, ordinary)
        # Categories have many encoded columns, but few different rows there.
        distinct, which = np.unique(cells, axis=0, return_inverse=True)
        return _squared_distances(distinct, ordinary)[which.reshape(-1)]

    def values_of(self, name: str) -> tuple[Column, np.ndarray, np.ndarray]:
        """A column, its values or codes in the sample, and which of them are missing."""
        column = self.table[name]
        data = column.category_codes if column.kind == "category" else column.values
        return column, data[self.rows], column.missing[self.rows]


class ComparedRows:
    """A block of rows with their squared distances to the sampled rows."""

    def __init__(self, sample: SimilarRows, scaled: np.ndarray, distances: np.ndarray) -> None:
        self.sample, self.scaled, self.distances = sample, scaled, distances

    def usual(self, index: int, rows: np.ndarray) -> list[Usual]:
        """What is usual in an input column for each of ``rows``; None if nothing is known."""
        column, data, missing = self.sample.values_of(self.sample.names[index])
        summarise = _quartiles if column.kind in ("number", "time") else _most_frequent
        height = max(1, CELLS_PER_BLOCK // max(1, self.sample.rows.size))
        found: list[Usual] = []
        for start in range(0, rows.size, height):
            some = rows[start : start + height]
            others = self.distances[some] - self.sample.in_column(self.scaled[some], index)
            near = nearest(others, LIKE_IT)
            found += summarise(column, data[near], missing[near])
        return found


def _squared_distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Squared distances of all pairs, added up from the first column to the last."""
    # No matrix product, whose last bits depend on the number of rows in the block.
    total = np.zeros((rows.shape[0], others.shape[0]))
    for mine, theirs in zip(rows.T, others.T, strict=True):
        difference = mine[:, None] - theirs
        difference *= difference
        total += difference
    return total


def nearest(distances: np.ndarray, n: int) -> np.ndarray:
    """Places of the ``n`` smallest distances of each row, in ascending order of the places.

    Among equal distances the first ones count; missing distances come last.
    """
    if distances.shape[1] <= n:
        return np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    limit = np.partition(distances, n - 1, axis=1)[:, n - 1]
    within = distances <= limit[:, None]
    ambiguous = np.flatnonzero(np.count_nonzero(within, axis=1) != n)
    if ambiguous.size:
        first = np.argsort(distances[ambiguous], axis=1, kind="stable")[:, :n]
        within[ambiguous] = False
        within[ambiguous[:, None], first] = True
    return np.nonzero(within)[1].reshape(-1, n)


def _quartiles(column: Column, values: np.ndarray, missing: np.ndarray) -> list[Usual]:
    """Lower and upper quartile of the known values of each row.

    Those of times are values of the column: between two days, there might be a time of day.
    """
    method: Literal["nearest", "linear"] = "nearest" if column.kind == "time" else "linear"
    known = values.shape[1] - np.count_nonzero(missing, axis=1)
    ordered = np.sort(np.where(missing, np.nan, values), axis=1)  # missing values come last
    found: list[Usual] = [None] * known.size
    for n in np.unique(known[known > 0]).tolist():
        rows = np.flatnonzero(known == n)
        low, high = np.quantile(ordered[rows, :n], [0.25, 0.75], axis=1, method=method)
        for row, *bounds in zip(rows.tolist(), low.tolist(), high.tolist(), strict=True):
            found[row] = (bounds[0], bounds[1])
    return found


def _most_frequent(column: Column, values: np.ndarray, missing: np.ndarray) -> list[Usual]:
    """The most frequent known value of each row, the lowest among equals, and its share."""
    distinct, codes = np.unique(values, return_inverse=True)
    places = codes.reshape(values.shape) + distinct.size * np.arange(len(values))[:, None]
    counts = np.bincount(places[~missing], minlength=len(values) * distinct.size)
    counts = counts.reshape(len(values), distinct.size)
    most = np.argmax(counts, axis=1)
    total = counts.sum(axis=1)
    shares = counts[np.arange(len(values)), most] / np.maximum(total, 1)
    cells = [
        column.levels[int(value)] if column.kind == "category" else float(value)
        for value in distinct[most]
    ]
    return [
        (cell, share) if n else None
        for cell, share, n in zip(cells, shares.tolist(), total.tolist(), strict=True)
    ]
