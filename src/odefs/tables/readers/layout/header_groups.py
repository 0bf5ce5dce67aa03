"""Two lines of a header: groups of columns, from merged cells, above the names of the columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from odefs.tables.readers.layout.cells import is_name, is_year


@dataclass(frozen=True)
class HeaderLines:
    """Two rows that may be a header, with a cell for each column; blank cells are ``None``."""

    above: Sequence[str | None]
    below: Sequence[str | None]

    @cached_property
    def groups(self) -> list[list[int]]:
        """The groups of two or more columns whose first column has a name."""
        return [
            group
            for group in _groups(self.above)
            if len(group) > 1 and self.below[group[0]] is not None
        ]

    @cached_property
    def grouped(self) -> list[int]:
        """The columns with a name that are in a group."""
        return [k for group in self.groups for k in group if self.below[k] is not None]

    @property
    def may_be_header(self) -> bool:
        """Whether the cells are names, in groups that are not titles."""
        return (
            _are_names(self.above)
            and _are_names(self.below)
            and bool(self.groups)
            and (self._covers_gaps() or _repeated(self.above, self.below) is not None)
            and not self._is_title()
            and not self._is_title_with_date()
        )

    @property
    def has_ungrouped_columns(self) -> bool:
        """Whether there are several groups, and columns that are named in the upper row alone."""
        pairs = zip(self.above, self.below, strict=True)
        return len(self.groups) > 1 and any(
            upper is not None and lower is None for upper, lower in pairs
        )

    @property
    def has_grouped_years(self) -> bool:
        return any(is_year(self.below[k]) for k in self.grouped)

    @cached_property
    def _first(self) -> int:
        """The first column with a name in the lower row."""
        return next((k for k, cell in enumerate(self.below) if cell is not None), 0)

    def _covers_gaps(self) -> bool:
        """Whether all named columns without a cell above, but for the first, are in a group."""
        # The first column often has no cell above, as the item in a table of north and south.
        gaps = (k for k, cell in enumerate(self.above) if cell is None)
        return all(k in self.grouped for k in gaps if k > self._first and self.below[k] is not None)

    def _is_title(self) -> bool:
        """Whether the upper row is a title above the first column."""
        has_one_cell = self.above.count(None) == len(self.above) - 1
        return len(self.groups) == 1 and self.groups[0][0] <= self._first and has_one_cell

    def _is_title_with_date(self) -> bool:
        """Whether the upper row is a title and its date above the first columns."""
        return (
            len(self.groups) == 1
            and self.groups[0][0] > self._first
            and self.above[self._first] is not None
            and bool(self.below[self._first])
        )


def end_of_groups(above: Sequence[str | None], below: Sequence[str | None]) -> int:
    """Return the column behind the last group.

    It has as many columns as the other groups if it has their names: in ``2024``, blank, ``2025``
    above ``units``, ``price``, ``units``, ``price``, ``growth``, the last one belongs to no group.
    Cells do not show where merged ones end.
    """
    n_names = _repeated(above, below)
    if n_names is None:
        return len(above)
    return max(k for k, cell in enumerate(above) if cell is not None) + n_names


def _repeated(above: Sequence[str | None], below: Sequence[str | None]) -> int | None:
    """Return how many names the groups repeat; ``None`` if they have names of their own.

    The last group may be followed by further columns.
    """
    named = [[below[k] for k in group] for group in _groups(above)]
    if len(named) < 2 or len(named[0]) < 2 or None in named[0]:
        return None
    first, last, n_names = named[0], named[-1], len(named[0])
    is_repeated = all(one == first for one in named[:-1]) and last[:n_names] == first
    return n_names if is_repeated else None


def _are_names(cells: Sequence[str | None]) -> bool:
    return all(map(is_name, filter(None, cells)))


def _groups(above: Sequence[str | None]) -> Iterator[list[int]]:
    """Yield each cell that is not empty with the empty cells that follow it."""
    group: list[int] = []
    for k, cell in enumerate(above):
        if cell is not None:
            if group:
                yield group
            group = [k]
        elif group:
            group.append(k)
    if group:
        yield group
