"""Reasons why a row is outlying, in terms of the user's columns.

A reason gives the value, its position in the column, and the usual values of similar normal rows.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from odefs.inspection.explanation import Reason
from odefs.tables.columns import Columns
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.group_peers import GroupPeers, group_of

MIN_SHARE_OF_LARGEST = 0.15
"""A column is named if its excess is at least this share of the top-ranked column's."""

COMMON, FEWEST_ALIKE = 0.1, 3
"""A value is not unusual if this share of the rows, and so many others, have it or one as rare."""

SPARE = 3
"""Further columns that are considered where the first ones have common values."""

ORDINARY_SAMPLE = 2000
LIKE_IT = 50
"""Number of sampled normal rows that count as similar to a row."""

ROWS_PER_BLOCK = 4096
MAX_DISTANCE = 1e6
"""Values are clipped here, in units of the column's spread, so that squares stay finite."""


class ReasonFinder:
    """Finds reasons for rows under one model, relative to reference rows of a table.

    ``table`` and ``X`` are the reference rows, of which ``ordinary`` are not outliers; they
    represent ``n_rows`` rows.
    """

    def __init__(
        self,
        model: Any,
        encoder: ColumnEncoder,
        table: Columns,
        X: np.ndarray,
        ordinary: np.ndarray,
        n_rows: int,
    ) -> None:
        self.model, self.encoder, self.table, self.n_rows = model, encoder, table, n_rows
        ordinary = np.flatnonzero(ordinary)
        if ordinary.size == 0:
            ordinary = np.arange(table.n_rows)
        if ordinary.size > ORDINARY_SAMPLE:
            ordinary = np.sort(
                np.random.default_rng(0).choice(ordinary, size=ORDINARY_SAMPLE, replace=False)
            )
        self.ordinary = ordinary
        columns = X[ordinary].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.nan_to_num(columns.std(axis=0), nan=0.0, posinf=0.0)
        self._scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        self._ordinary = np.clip(columns * self._scale, -MAX_DISTANCE, MAX_DISTANCE)
        self._sorted = lru_cache(maxsize=None)(self._sorted_values)
        self._counted = lru_cache(maxsize=None)(self._counted_values)
        self._rarity = lru_cache(maxsize=None)(self._rarities)
        self._peers = lru_cache(maxsize=None)(self._peers_of)

    def reasons(
        self,
        table: Columns,
        X: np.ndarray,
        scores: np.ndarray,
        rows: Sequence[int] | np.ndarray,
        k: int = 3,
    ) -> list[list[Reason]]:
        """Return at most ``k`` reasons for each of ``rows`` of any table, top-ranked first."""
        wanted = np.asarray(rows, dtype=np.intp)
        found: list[list[Reason]] = []
        for start in range(0, wanted.size, ROWS_PER_BLOCK):
            found += self._of_block(table, X, scores, wanted[start : start + ROWS_PER_BLOCK], k)
        return found

    def _of_block(
        self, table: Columns, X: np.ndarray, scores: np.ndarray, rows: np.ndarray, k: int
    ) -> list[list[Reason]]:
        explanation = self.model.explain(X[rows])
        values = self.encoder.by_column(np.asarray(explanation))
        excess = values - self.encoder.by_column(explanation.baseline)
        order = np.argsort(-excess, axis=1, kind="stable")[:, : k + SPARE]
        scaled = np.clip(X[rows].astype(np.float64) * self._scale, -MAX_DISTANCE, MAX_DISTANCE)
        distances = self._distances(scaled)
        found = []
        for i, row in enumerate(rows):
            largest = excess[i, order[i, 0]]
            named = [
                int(c)
                for c in order[i]
                if excess[i, c] > 0 and excess[i, c] >= MIN_SHARE_OF_LARGEST * largest
            ]
            peers = self._peers(group_of(self.encoder, table, int(row)))
            named = self._unusual(table, int(row), named, peers)[:k]
            usual = [
                self._usual(c, scaled[i], distances[i])
                if peers is None
                else peers.usual(self.encoder.specs_[c])
                for c in named
            ]
            cells = [table[self.encoder.columns[c]].at(int(row)) for c in named]
            score = float(scores[row])
            found.append(
                [
                    self._reason(
                        c, cell, score, float(values[i, c]), float(excess[i, c]), what, peers
                    )
                    for c, cell, what in zip(named, cells, usual, strict=True)
                ]
            )
        return found

    def _unusual(
        self, table: Columns, row: int, named: list[int], peers: GroupPeers | None
    ) -> list[int]:
        """Return the columns whose value is rare by itself; all of them if none is."""
        rare = [c for c in named if not self._is_common(table, row, c, peers)]
        return rare or named

    def _is_common(self, table: Columns, row: int, index: int, peers: GroupPeers | None) -> bool:
        """Whether many other rows have the value of a row, or one that is as rare."""
        column = self.table[self.encoder.columns[index]]
        cell = table[column.name].at(row)
        n_rows = self.table.n_rows if peers is None else peers.rows.size
        if peers is not None:
            _, equal, frequency = peers.place(column, cell)
            share = (equal or 0.0) / 100 if frequency is None else frequency
        elif cell is None:
            share = float(column.missing.mean())
        elif column.kind in ("number", "time"):
            share = self._place(column.name, float(cell))[1] / 100
        else:
            share = self._rarity(column.name).get(cell, 0.0)
        return share * n_rows - 1 >= max(COMMON * n_rows, FEWEST_ALIKE)

    def _rarities(self, name: str) -> dict[Any, float]:
        """Return for each value the share of rows with it, or with one that is about as rare.

        Up to twice as frequent: frequencies in a sample are not exact.
        """
        counts = self._counted(name)
        ordered = np.sort(list(counts.values()))
        upto = np.concatenate([[0], np.cumsum(ordered)])
        places = np.searchsorted(ordered, 2 * np.array(list(counts.values())), side="right")
        return dict(zip(counts, (upto[places] / max(1, self.table.n_rows)).tolist(), strict=True))

    def _distances(self, scaled: np.ndarray) -> np.ndarray:
        """Return squared distances to the sampled normal rows, columns divided by their spread."""
        cross = scaled @ self._ordinary.T
        return np.asarray(
            (scaled * scaled).sum(axis=1)[:, None] - 2 * cross + (self._ordinary**2).sum(axis=1)
        )

    def _reason(
        self,
        index: int,
        cell: Any,
        score: float,
        value: float,
        excess: float,
        usual: tuple[Any, Any] | None,
        peers: GroupPeers | None = None,
    ) -> Reason:
        column = self.table[self.encoder.columns[index]]
        as_number = column.kind in ("number", "time") and cell is not None
        frequency: float | None
        percentile: float | None
        equal: float | None
        if peers is not None:
            percentile, equal, frequency = peers.place(column, cell)
        elif as_number:
            (percentile, equal), frequency = self._place(column.name, float(cell)), None
        else:
            percentile, equal, frequency = None, None, self._frequency(column.name, cell)
        return Reason(
            column.name,
            cell,
            contribution=value,
            excess=excess,
            kind=column.kind,
            share=value / score if score > 0 else 0.0,
            percentile=percentile,
            frequency=frequency,
            usual=usual,
            equal=equal,
            group=None if peers is None else peers.group,
        )

    def _peers_of(self, code: int | None) -> GroupPeers | None:
        groups, codes = self.encoder.groups_, self.table.groups
        if code is None or groups is None or codes is None:
            return None
        return GroupPeers(groups.described(code), code, np.flatnonzero(codes == code))

    def _sorted_values(self, name: str) -> np.ndarray:
        column = self.table[name]
        return np.sort(column.values[~column.missing])

    def _place(self, name: str, value: float) -> tuple[float, float]:
        """Return the percentile, and the share of equal values."""
        values = self._sorted(name)
        below, upto = np.searchsorted(values, value), np.searchsorted(values, value, side="right")
        known = max(1, values.size)
        return 50.0 * float(below + upto) / known, 100.0 * float(upto - below) / known

    def _counted_values(self, name: str) -> dict[Any, int]:
        """Count each value; ``None`` is a missing cell."""
        column = self.table[name]
        data = column.category_codes if column.kind == "category" else column.values
        kept, counts = np.unique(data[~column.missing], return_counts=True)
        cells = (
            [column.levels[code] for code in kept] if column.kind == "category" else kept.tolist()
        )
        return {None: int(column.missing.sum()), **dict(zip(cells, counts.tolist(), strict=True))}

    def _frequency(self, name: str, cell: Any) -> float:
        """Return the share of rows with this value; the row itself always counts."""
        return max(self._counted(name).get(cell, 0) / self.table.n_rows, 1 / self.n_rows)

    def _usual(
        self, index: int, scaled: np.ndarray, distances: np.ndarray
    ) -> tuple[Any, Any] | None:
        """Return usual values: those of the normal rows most similar in all other columns."""
        column = self.table[self.encoder.columns[index]]
        own = self.encoder.sources == index
        others = distances - ((scaled[own] - self._ordinary[:, own]) ** 2).sum(axis=1)
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
