"""A row compared with the rows of its group: where its value lies there, and what is usual."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odefs.tables.columns import Column, Columns
from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.value_positions import Position, is_common


@dataclass(frozen=True, eq=False)
class GroupPeers:
    """The reference rows of one group."""

    group: tuple[tuple[str, str | None], ...]
    """Names and values of the group columns."""
    code: int
    rows: np.ndarray
    """Numbers of the reference rows."""
    _seen: dict[str, np.ndarray | Counter[Any]] = field(default_factory=dict)
    """By column: sorted numbers, or how often each other value occurs."""

    def usual(self, spec: ColumnSpec) -> tuple[Any, Any] | None:
        """Quartiles of the group in training, or its most frequent value and the share of that."""
        first, second = spec.group_usual[self.code]
        if spec.kind == "category":
            place = int(first)
            return (spec.levels[place], second) if place < len(spec.levels) else None
        return first, second

    def position(self, column: Column, cell: Any) -> Position:
        """Where a cell lies among the reference rows of the group."""
        percentile, equal, frequency = self.place(column, cell)
        share = (equal or 0.0) / 100 if frequency is None else frequency
        return Position(percentile, equal, frequency, is_common(share, self.rows.size))

    def place(self, column: Column, cell: Any) -> tuple[float | None, float | None, float | None]:
        """Percentile and share of equal values in percent for a number, else the frequency.

        All are None if no reference row belongs to the group.
        """
        if not self.rows.size:
            return None, None, None
        if cell is None:
            return None, None, float(column.missing[self.rows].mean())
        if column.name not in self._seen:
            values = column.values[self.rows][~column.missing[self.rows]]
            is_ordered = column.kind in ("number", "time")
            self._seen[column.name] = np.sort(values) if is_ordered else Counter(values.tolist())
        seen = self._seen[column.name]
        if isinstance(seen, Counter):
            return None, None, max(seen[cell], 1) / self.rows.size
        below = int(np.searchsorted(seen, cell))
        equal = int(np.searchsorted(seen, cell, side="right")) - below
        n_known = max(1, seen.size)
        return 100 * (below + equal / 2) / n_known, 100 * equal / n_known, None


class PeersByGroup:
    """The reference rows of each group, if values are compared within groups."""

    def __init__(self, encoder: ColumnEncoder, table: Columns) -> None:
        self._groups = encoder.groups_
        self._found: dict[int, GroupPeers] = {}
        if self._groups is not None and table.groups is not None:
            self._order = np.argsort(table.groups, kind="stable")
            codes = np.arange(self._groups.unknown + 1)
            self._starts = np.searchsorted(table.groups[self._order], codes)

    def of_rows(self, table: Columns, rows: np.ndarray) -> list[GroupPeers | None]:
        """Peers of rows of any table; None if a group is unknown or there are no groups."""
        if self._groups is None or table.groups is None:
            return [None] * rows.size
        unknown = self._groups.unknown
        return [
            None if code == unknown else self._peers(code) for code in table.groups[rows].tolist()
        ]

    def _peers(self, code: int) -> GroupPeers:
        groups = self._groups
        assert groups is not None
        if code not in self._found:
            rows = self._order[self._starts[code] : self._starts[code + 1]]
            self._found[code] = GroupPeers(groups.described(code), code, rows)
        return self._found[code]
