"""Groups of rows, within which values are compared: the values of one or several columns.

A missing value is a value of its own. The groups with the most rows are known by name, at most
``MAX_GROUPS``; rows of all others, and of groups that did not occur in training, are compared with
the whole table. What is usual in a group is learned in
:mod:`odefs.tables.encoder.group_statistics`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from odefs._known_options import no_column
from odefs.exceptions import TableError
from odefs.tables.encoder.arguments import column_names
from odefs.tables.encoder.missing import without_words
from odefs.tables.encoder.roles import as_category
from odefs.tables.frames.columns import Column, Columns
from odefs.tables.records.notes import Note

MAX_GROUPS = 1000
BOOLEANS = {"0": "false", "1": "true"}
MIN_MEAN_ROWS = 2
"""With fewer rows per group on average, most rows would be compared with themselves."""

GroupName = tuple[str | None, ...]
"""Values of the columns that define the group; ``None`` is a missing value."""


@dataclass(frozen=True)
class Groups:
    """The columns that define the groups, and the known groups, largest first."""

    columns: tuple[str, ...]
    names: tuple[GroupName, ...]

    @property
    def unknown(self) -> int:
        """Code of the rows that belong to no known group."""
        return len(self.names)

    @cached_property
    def _code_of(self) -> dict[GroupName, int]:
        return {name: code for code, name in enumerate(self.names)}

    def codes(self, table: Columns, na: Collection[str]) -> np.ndarray:
        """Number of the group of each row; :attr:`unknown` for rows of no known group."""
        names, inverse = row_groups(table, self.columns, na)
        places = [self._code_of.get(name, self.unknown) for name in names]
        return np.array(places, dtype=np.int32)[inverse]

    def described(self, code: int) -> tuple[tuple[str, str | None], ...]:
        """Column names with the values of a known group."""
        return tuple(zip(self.columns, self.names[code], strict=True))


def group_columns(by: str | int | Sequence[str] | None) -> tuple[str, ...]:
    """The parameter ``by``, which may be one name or None."""
    return column_names("by", by)


def row_groups(
    table: Columns, names: Sequence[str], na: Collection[str]
) -> tuple[list[GroupName], np.ndarray]:
    """Distinct combinations of values in the named columns, and the index of each row's."""
    columns = [_category(table[name], na) for name in names]
    distinct: list[GroupName] = [()]
    inverse = np.zeros(table.n_rows, dtype=np.int64)
    for column in columns:
        # Combined one by one, so that the products stay far below 2**63.
        combined = inverse * (len(column.levels) + 1) + column.category_codes + 1
        found, inverse = np.unique(combined, return_inverse=True)
        before, level = np.divmod(found, len(column.levels) + 1)
        values = (None, *column.levels)
        distinct = [
            (*distinct[i], values[k]) for i, k in zip(before.tolist(), level.tolist(), strict=True)
        ]
    return distinct, inverse


def _category(column: Column, na: Collection[str]) -> Column:
    column = without_words(column, na)
    if column.kind == "boolean":
        # Named as in csv files, which a model of a data frame may score.
        names = as_category(column)
        return replace(names, levels=tuple(BOOLEANS[level] for level in names.levels))
    return column if column.kind == "category" else as_category(column)


def learn_names(
    table: Columns, columns: Sequence[str], na: Collection[str], is_sample: bool = False
) -> tuple[Groups, list[Note]]:
    """The groups of the training rows, or of a sample of them, and notes on them."""
    names, inverse = row_groups(table, columns, na)
    counts = np.bincount(inverse, minlength=len(names)).tolist()
    # Groups have fewer rows in a sample than in the table, so nothing follows from that.
    if len(names) * MIN_MEAN_ROWS > table.n_rows and not is_sample:
        raise TableError(
            f"the {table.n_rows:,} rows fall into {len(names):,} groups by {_listed(columns)}, too "
            "many to learn what is usual in each: name a column whose values repeat more often."
        )
    # Ties by name, so that the known groups do not depend on the order of the rows.
    order = sorted(range(len(names)), key=lambda k: (-counts[k], _sortable(names[k])))
    kept, others = order[:MAX_GROUPS], order[MAX_GROUPS:]
    is_single = len(names) == 1
    notes = [
        Note("single_group" if is_single else "groups", columns=tuple(columns), count=len(names))
    ]
    if others:
        rows = sum(counts[k] for k in others)
        notes.append(Note("pooled_groups", columns=tuple(columns), count=rows, limit=MAX_GROUPS))
    return Groups(tuple(columns), tuple(names[k] for k in kept)), notes


def unknown_note(groups: Groups, count: int) -> list[Note]:
    """A note on rows of another table that belong to no known group."""
    return [Note("unknown_groups", columns=groups.columns, count=count)] if count else []


def require_group_columns(by: Sequence[str], names: Sequence[str]) -> None:
    """Raise TableError for group columns that do not exist or are named twice."""
    for place, name in enumerate(by):
        if name not in names:
            raise TableError(no_column(name, names, " to group by"))
        if name in by[:place]:
            raise TableError(f"the group column {name!r} is named twice; once is enough.")


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns))


def _sortable(name: GroupName) -> tuple[tuple[bool, str], ...]:
    return tuple((value is None, value or "") for value in name)
