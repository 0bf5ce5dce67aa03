"""Where cells lie among the values of their column: percentile, equal values, frequency.

Positions are found for all cells of a column at once. In tables with groups, they are positions
among the rows of the group.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np

from odefs.tables.encoder.encode import ColumnSpec
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.frames.columns import Column, Columns, Kind

MIN_GROUP_ROWS = 5
"""In a smaller group nothing is usual: its values are mostly those of the row itself."""
COMMON, FEWEST_ALIKE = 0.1, 3
"""A value is not unusual if this share of the rows, and so many others, have it or one as rare."""


class Position(NamedTuple):
    """Where a cell lies in its column; the fields are those of a reason."""

    percentile: float | None
    equal: float | None
    frequency: float | None
    is_common: bool
    """Whether many other rows have the value, or one that is as rare."""


def kept_places(n_known: int, n_kept: int) -> np.ndarray:
    """Places of the numbers that are kept of ``n_known`` ordered ones, first and last included."""
    return np.linspace(0, n_known - 1, min(n_known, n_kept)).round().astype(np.intp)


def is_common(share: Any, n_rows: int) -> Any:
    """Whether a value that ``share`` of the rows have is too frequent; for arrays one by one."""
    return share * n_rows - 1 >= max(COMMON * n_rows, FEWEST_ALIKE)


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values of a column, as far as positions depend on them."""

    kind: Kind
    n_rows: int
    ordered: np.ndarray
    """Known numbers or times in ascending order, all or those at ``kept_places``; empty for other
    kinds."""
    counts: Mapping[Any, int]
    """Number of rows with each other value; ``None`` is a missing cell."""
    uncounted: int = 0
    """Rows with further values, which are rarer than those counted."""

    @classmethod
    def of(cls, column: Column) -> Self:
        """All values of a column."""
        missing, n_rows = int(np.count_nonzero(column.missing)), len(column)
        known = _data(column)[~column.missing]
        if column.kind in ("number", "time"):
            return cls(column.kind, n_rows, np.sort(known), {None: missing})
        kept, counts = np.unique(known, return_counts=True)
        cells = (
            [column.levels[code] for code in kept] if column.kind == "category" else kept.tolist()
        )
        counted = {None: missing, **dict(zip(cells, counts.tolist(), strict=True))}
        return cls(column.kind, n_rows, np.empty(0), counted)

    def positions(self, cells: Sequence[Any], least: float = 0.0) -> list[Position]:
        """Positions of cells; ``None`` is a missing cell, ``least`` the lowest frequency."""
        if self.kind not in ("number", "time"):
            by_value = {cell: self._among_values(cell, least) for cell in set(cells)}
            return [by_value[cell] for cell in cells]
        known = np.array([cell for cell in cells if cell is not None], dtype=np.float64)
        found = self._among_numbers(known)
        if known.size == len(cells):
            return found
        among_numbers, missing = iter(found), self._among_values(None, least)
        return [missing if cell is None else next(among_numbers) for cell in cells]

    def _among_numbers(self, cells: np.ndarray) -> list[Position]:
        below, upto = (
            np.searchsorted(self.ordered, cells, side=side) for side in ("left", "right")
        )
        equal = 100.0 * (upto - below) / max(1, self.ordered.size)
        common = is_common(equal / 100, self.n_rows)
        below, upto, known = self._bounds(below, upto)
        percentiles = 50.0 * (below + upto) / known
        equal = 100.0 * (upto - below) / known
        fields = zip(percentiles.tolist(), equal.tolist(), repeat(None), common.tolist())
        return list(map(Position._make, fields))

    def _bounds(self, below: np.ndarray, upto: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Numbers of values lower for certain, and possibly not higher, of a number of values.

        Of many values only some are kept: of 257, the highest is above 256, but of 20,000 it may be
        above all others. Both numbers are certain, so that no message claims more.
        """
        n_kept, n_known = self.ordered.size, self.n_rows - self.counts[None]
        if n_kept >= n_known:
            return below, upto, max(1, n_kept)
        places = kept_places(n_known, n_kept)
        lower = np.where(below > 0, places[below - 1] + 1, 0)
        not_higher = np.where(upto < n_kept, places[np.minimum(upto, n_kept - 1)], n_known)
        return lower, not_higher, n_known

    def _among_values(self, cell: Any, least: float) -> Position:
        if cell is not None and cell not in self.counts and self.uncounted:
            # One of the rarest values, or a new one.
            return Position(None, None, None, is_common(self.uncounted / self.n_rows, self.n_rows))
        share = self.counts.get(cell, 0) / self.n_rows
        alike = share if cell is None else self._rarities.get(cell, 0.0)
        return Position(None, None, max(share, least), is_common(alike, self.n_rows))

    @cached_property
    def _rarities(self) -> dict[Any, float]:
        """For each value the share of rows with it, or with one that is about as rare.

        Up to twice as frequent: frequencies in a sample are not exact.
        """
        ordered = np.sort(list(self.counts.values()))
        upto = np.concatenate([[0], np.cumsum(ordered)]) + self.uncounted
        places = np.searchsorted(ordered, 2 * np.array(list(self.counts.values())), side="right")
        shares = (upto[places] / max(1, self.n_rows)).tolist()
        return dict(zip(self.counts, shares, strict=True))


class ValuePositions:
    """Positions of cells among reference rows, which represent ``n_rows`` rows."""

    def __init__(self, table: Columns, n_rows: int) -> None:
        self.table, self.n_rows = table, n_rows
        self._values: dict[str, ColumnValues] = {}

    def positions(self, name: str, cells: Sequence[Any]) -> list[Position]:
        """Positions of cells of a column; ``None`` is a missing cell."""
        if name not in self._values:
            self._values[name] = ColumnValues.of(self.table[name])
        # The row itself always counts.
        return self._values[name].positions(cells, least=1 / self.n_rows)


def _data(column: Column) -> np.ndarray:
    return column.category_codes if column.kind == "category" else column.values


@dataclass(frozen=True, eq=False)
class GroupPeers:
    """The reference rows of one group."""

    group: tuple[tuple[str, str | None], ...]
    """Names and values of the group columns."""
    code: int
    rows: np.ndarray
    """Numbers of the reference rows."""
    is_alone: bool = False
    """Whether the table has but one row of the group, of which nothing is usual."""
    _seen: dict[str, np.ndarray | Counter[Any]] = field(default_factory=dict)
    """By column: sorted numbers, or how often each other value occurs."""

    def usual(self, spec: ColumnSpec) -> tuple[Any, Any] | None:
        """Quartiles of the group in training, or its most frequent value and the share of that.

        ``None`` for a small group. For rows of another table, the size of the group is unknown.
        """
        if 0 < self.rows.size < MIN_GROUP_ROWS:
            return None
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
    """The reference rows of each group, if values are compared within groups.

    ``is_whole`` if they are all rows of the table, so that the size of a group is known.
    """

    def __init__(self, encoder: ColumnEncoder, table: Columns, is_whole: bool) -> None:
        self._groups = encoder.groups_
        self._is_whole = is_whole
        self._found: dict[int, GroupPeers] = {}
        if self._groups is not None:
            groups = np.empty(0, dtype=np.int64) if table.groups is None else table.groups
            self._order = np.argsort(groups, kind="stable")
            codes = np.arange(self._groups.unknown + 1)
            self._starts = np.searchsorted(groups[self._order], codes)

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
            self._found[code] = GroupPeers(
                groups.described(code), code, rows, self._is_whole and rows.size == 1
            )
        return self._found[code]
