"""Why a row stands out, in the user's columns: the value, where it lies in its column, and what ordinary rows like this one have there."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from odefs.tables.columns import Column, Table
from odefs.tables.encoder import TableEncoder

ENOUGH = 0.15
"""A column is named if its excess is at least this share of the foremost column's."""

ORDINARY_SAMPLE = 2000
LIKE_IT = 50
"""How many of the sampled ordinary rows count as being like a row."""

BLOCK = 4096
FAR = 1e6
"""Where columns are cut off, in their own spread: far is far, and squares stay finite."""


class Reason(NamedTuple):
    """A column that gave a row away. Numbers only: how it is said is up to whoever shows it."""

    column: str
    kind: str
    value: Any
    contribution: float
    excess: float
    share: float
    """Share of the row's score that comes from this column."""
    percentile: float | None
    """Share of the column's values that are lower, and half of those that are equal, in percent; numbers and times."""
    frequency: float | None
    """Share of the rows that have this value; categories, truth values and missing cells."""
    usual: tuple[Any, Any] | None
    """Quartiles among ordinary rows like this one; for categories the most common value there and its share."""


class ReasonFinder:
    """Reasons for rows of one table under one model. Keeps what is needed more than once."""

    def __init__(
        self, model: Any, encoder: TableEncoder, table: Table, X: np.ndarray, scores: np.ndarray, is_outlier: np.ndarray
    ) -> None:
        self.model, self.encoder, self.table, self.X, self.scores = model, encoder, table, X, scores
        ordinary = np.flatnonzero(~is_outlier & ~np.isnan(scores))
        if ordinary.size == 0:
            ordinary = np.arange(len(scores))
        if ordinary.size > ORDINARY_SAMPLE:
            ordinary = np.sort(np.random.default_rng(0).choice(ordinary, size=ORDINARY_SAMPLE, replace=False))
        self.ordinary = ordinary
        columns = X[ordinary].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.nan_to_num(columns.std(axis=0), nan=0.0, posinf=0.0)
        self._scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        self._ordinary = np.clip(columns * self._scale, -FAR, FAR)
        self._sorted = lru_cache(maxsize=None)(self._sorted_values)

    def reasons(self, rows: Sequence[int], k: int = 3) -> list[list[Reason]]:
        """At most ``k`` reasons for each row, foremost first."""
        wanted = np.asarray(rows, dtype=np.intp)
        found: list[list[Reason]] = []
        for start in range(0, wanted.size, BLOCK):
            found += self._of_block(wanted[start : start + BLOCK], k)
        return found

    def _of_block(self, rows: np.ndarray, k: int) -> list[list[Reason]]:
        explanation = self.model.explain(self.X[rows])
        values = self.encoder.by_column(np.asarray(explanation))
        excess = values - self.encoder.by_column(explanation.baseline)
        order = np.argsort(-excess, axis=1, kind="stable")[:, :k]
        distances = self._distances(rows)
        found = []
        for i, row in enumerate(rows):
            foremost = excess[i, order[i, 0]]
            named = [c for c in order[i] if excess[i, c] > 0 and excess[i, c] >= ENOUGH * foremost]
            found.append([self._reason(int(row), int(c), values[i, c], excess[i, c], distances[i]) for c in named])
        return found

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        """Squared distances to the sampled ordinary rows, columns divided by their spread there."""
        x = np.clip(self.X[rows].astype(np.float64) * self._scale, -FAR, FAR)
        cross = x @ self._ordinary.T
        return np.asarray((x * x).sum(axis=1)[:, None] - 2 * cross + (self._ordinary**2).sum(axis=1))

    def _reason(self, row: int, index: int, value: float, excess: float, distances: np.ndarray) -> Reason:
        column = self.table[self.encoder.columns[index]]
        cell, score = column.at(row), self.scores[row]
        as_number = column.kind in ("number", "time") and cell is not None
        return Reason(
            column.name,
            column.kind,
            cell,
            float(value),
            float(excess),
            float(value / score) if score > 0 else 0.0,
            self._percentile(column.name, float(cell)) if as_number and cell is not None else None,
            None if as_number else self._frequency(column, row),
            self._usual(column, row, index, distances),
        )

    def _sorted_values(self, name: str) -> np.ndarray:
        column = self.table[name]
        return np.sort(column.values[~column.missing])

    def _percentile(self, name: str, value: float) -> float:
        values = self._sorted(name)
        below, upto = np.searchsorted(values, value), np.searchsorted(values, value, side="right")
        return 50.0 * float(below + upto) / max(1, values.size)

    def _frequency(self, column: Column, row: int) -> float:
        if column.missing[row]:
            return float(column.missing.mean())
        data = column.category_codes if column.kind == "category" else column.values
        return float((data == data[row]).mean())

    def _usual(self, column: Column, row: int, index: int, distances: np.ndarray) -> tuple[Any, Any] | None:
        """What the ordinary rows have that are most like this one in all other columns."""
        own = self.encoder.sources == index
        difference = np.clip(self.X[row, own] * self._scale[own], -FAR, FAR) - self._ordinary[:, own]
        others = distances - (difference**2).sum(axis=1)
        near = self.ordinary[np.argsort(others, kind="stable")[:LIKE_IT]]
        near = near[~column.missing[near]]
        if not near.size:
            return None
        if column.kind in ("number", "time"):
            low, high = np.quantile(column.values[near], [0.25, 0.75])
            return float(low), float(high)
        data = column.category_codes if column.kind == "category" else column.values
        kept, counts = np.unique(data[near], return_counts=True)
        most = int(np.argmax(counts))
        name = column.levels[int(kept[most])] if column.kind == "category" else float(kept[most])
        return name, float(counts[most] / near.size)
