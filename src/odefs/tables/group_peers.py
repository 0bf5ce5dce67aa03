"""A row compared with the rows of its group: where its value lies there, and what is usual."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odefs.tables.columns import Column, Columns
from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.encoder import ColumnEncoder


def group_of(encoder: ColumnEncoder, table: Columns, row: int) -> int | None:
    """Number of the row's group; None if it is unknown or values are not compared within groups."""
    if encoder.groups_ is None or table.groups is None:
        return None
    code = int(table.groups[row])
    return None if code == encoder.groups_.unknown else code


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
