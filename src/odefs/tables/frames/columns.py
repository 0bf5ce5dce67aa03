"""Columns of numbers, booleans, times or categories: the input of the table encoder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

Kind = Literal["number", "boolean", "time", "category"]
LARGE = 2.0**53
"""From here on float64 does not represent every integer."""
SECONDS_PER_DAY = 86_400
DURATION = "duration"
"""The unit of seconds that are displayed as days and a time."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column.

    Numbers, booleans (0 and 1) and times (seconds since 1970, UTC) are float64 in ``numbers``, NaN
    if missing. Categories are ``codes`` into the sorted ``levels``, -1 if missing.
    """

    name: str
    kind: Kind
    numbers: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: tuple[str, ...] = ()
    whole: bool = False
    """Whether the numbers were stored as integers."""
    n_infinite: int = 0
    """Number of infinite cells, which count as missing."""
    infinite: np.ndarray | None = None
    """The infinite cells, and NaN for all others; ``None`` for columns without any, and for
    integers that are too large for float64."""
    opaque: bool = False
    """Whether the cells are neither numbers nor text, e.g. lists."""
    exact: "Column | None" = None
    """The same cells as categories with all digits, if some integers exceed float64."""
    zone: str = ""
    """Time zone in which times are displayed (:mod:`odefs.tables.frames.time_zones`)."""
    is_duration: bool = False
    """Whether the numbers are seconds of durations."""

    def __len__(self) -> int:
        return len(self._data)

    @property
    def _data(self) -> np.ndarray:
        data = self.codes if self.kind == "category" else self.numbers
        assert data is not None
        return data

    @property
    def unit(self) -> str:
        """How values are displayed: as durations, or times in their zone; empty for others."""
        return DURATION if self.is_duration else self.zone

    @property
    def category_codes(self) -> np.ndarray:
        assert self.codes is not None
        return self.codes

    @cached_property
    def values(self) -> np.ndarray:
        """Numbers, or an object array of the categories with ``None`` if missing."""
        if self.kind != "category":
            return self._data
        return np.array([*self.levels, None], dtype=object)[self._data]

    @cached_property
    def missing(self) -> np.ndarray:
        return self._data < 0 if self.kind == "category" else np.isnan(self._data)

    @property
    def is_constant(self) -> bool:
        """Whether all cells that are not missing have the same value."""
        known = self._data[~self.missing]
        return bool(known.size == 0 or known.min() == known.max())

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct values, without missing ones."""
        known = self._data[~self.missing]
        # Counting codes is faster than sorting them.
        return int(
            np.count_nonzero(np.bincount(known))
            if self.kind == "category"
            else np.unique(known).size
        )

    def at(self, row: int) -> float | str | None:
        """Return one cell; ``None`` if missing."""
        cell = self._data[row]
        if self.kind == "category":
            return None if cell < 0 else self.levels[int(cell)]
        return None if np.isnan(cell) else float(cell)

    def cells(self, rows: np.ndarray) -> list[float | str | None]:
        """Return the cells of some rows, as :meth:`at` returns one."""
        data = self._data[rows].tolist()
        if self.kind == "category":
            return [None if code < 0 else self.levels[code] for code in data]
        return [None if cell != cell else cell for cell in data]  # only NaN differs from itself

    def take(self, rows: np.ndarray) -> "Column":
        data = self._data[rows]
        if self.kind == "category":
            return replace(self, codes=data)
        return replace(
            self,
            numbers=data,
            infinite=None if self.infinite is None else self.infinite[rows],
            exact=None if self.exact is None else self.exact.take(rows),
        )

    def compact(self) -> "Column":
        """Drop categories that do not occur."""
        if self.kind != "category":
            return replace(self, exact=self.exact and self.exact.compact())
        used, codes = np.unique(self.category_codes, return_inverse=True)
        # If cells are missing, -1 is the first of the used codes and stays -1.
        known = used[used >= 0]
        places = codes.astype(np.int32) - (used.size - known.size)
        return replace(self, codes=places, levels=tuple(self.levels[k] for k in known))


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of equal length, accessible by name."""

    columns: tuple[Column, ...]
    n_rows: int
    groups: np.ndarray | None = None
    """Number of the group of each row, if values are compared within groups."""

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def without(self, names: Sequence[str]) -> "Columns":
        return Columns(
            tuple(column for column in self.columns if column.name not in names),
            self.n_rows,
            self.groups,
        )

    def take(self, rows: np.ndarray) -> "Columns":
        groups = None if self.groups is None else self.groups[rows]
        return Columns(tuple(column.take(rows) for column in self.columns), len(rows), groups)

    def in_zones(self, zones: Mapping[str, str]) -> "Columns":
        """Display times of some columns in these zones: part of a table in those of the whole."""
        columns = (
            replace(column, zone=zones.get(column.name, column.zone)) for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    @property
    def zones(self) -> dict[str, str]:
        return {column.name: column.zone for column in self.columns}

    def compact(self) -> "Columns":
        """Drop categories that do not occur."""
        columns = tuple(column.compact() for column in self.columns)
        return Columns(columns, self.n_rows, self.groups)
