"""``ColumnEncoder``: encodes a table of mixed types as a numeric matrix.

The encoder records which column each encoded column came from. All columns are brought to one
scale, so that no column outweighs the others because of its type
(:mod:`odefs.tables.encoder.statistics`). Numbers, booleans and times become one column, with a
second one for the time of day where it matters; categories become one column per value, with rare
values grouped. A missing cell is not evidence of an outlier: a category is replaced by the most
common one, a number by the median unless the model takes missing cells, and both are marked in a
separate column only on request. What is learned about a column is a :class:`ColumnSpec`, plain
values that a model file can hold.
"""

import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from odefs._known_options import lacks_columns, names_its_parameters, no_column
from odefs.exceptions import TableError
from odefs.models.constraints import Parameters
from odefs.system.threads import available_threads, run_tasks
from odefs.tables.encoder.arguments import as_texts, require_lists, require_words
from odefs.tables.encoder.column_uses import require_one_use
from odefs.tables.encoder.encode import encoded, usual_cells
from odefs.tables.encoder.group_statistics import with_groups
from odefs.tables.encoder.groups import (
    Groups,
    group_columns,
    learn_names,
    require_group_columns,
)
from odefs.tables.encoder.missing import without_words
from odefs.tables.encoder.roles import Overrides, Role, apply_style, assign_role, guessed_format
from odefs.tables.encoder.state import EncoderState, read_state, write_state
from odefs.tables.encoder.statistics import equal_where_nominal, learn_spec
from odefs.tables.frames.columns import Columns
from odefs.tables.records.notes import Note

COLUMN_PARAMETERS = ("number", "category", "drop", "keep")
"""Parameters that are names of columns."""


def _require_rows(n_rows: int) -> None:
    if n_rows < 2:
        # "1 sample" is what scikit-learn's estimator checks look for.
        rows = "1 row (1 sample)" if n_rows == 1 else "none"
        raise TableError(f"a table needs at least two rows, this one has {rows}.")


class ColumnEncoder(Parameters):
    """Encodes columns of any type; see :class:`odefs.TableEncoder` for the parameters."""

    groups_: Groups | None = None  # the groups within which values are compared

    @names_its_parameters
    def __init__(
        self,
        number: Sequence[str | int] = (),
        category: Sequence[str | int] = (),
        drop: Sequence[str | int] = (),
        keep: Sequence[str | int] = (),
        na: Sequence[str | float] = (),
        max_categories: int = 50,
        mark_missing: bool = False,
        keep_missing: bool | None = None,
        by: str | Sequence[str] = (),
    ) -> None:
        self.number = number
        self.category = category
        self.drop = drop
        self.keep = keep
        self.na = na
        self.max_categories = max_categories
        self.mark_missing = mark_missing
        self.keep_missing = keep_missing
        self.by = by

    def _require_fitted(self) -> None:
        if not hasattr(self, "specs_"):
            raise ValueError(f"This {type(self).__name__} is not fitted yet: call fit first.")

    def require_lists(self) -> None:
        """Raise TableError for parameters that are not lists of names, or of words and numbers."""
        require_lists({name: getattr(self, name) for name in (*COLUMN_PARAMETERS, "na")})
        require_words("na", self.na)

    def named(self, parameter: str) -> tuple[str, ...]:
        """Return the column names in a parameter as text: pandas has integers among names too."""
        return tuple(map(str, getattr(self, parameter)))

    @property
    def na_words(self) -> frozenset[str]:
        """Texts of the cells that mean "missing", also those of numbers in ``na``."""
        return as_texts(self.na)

    def is_read(self, name: str) -> bool:
        """Whether a column of the training table is read."""
        return name not in self.named("drop")

    @property
    def is_used(self) -> Callable[[str], bool]:
        """Predicate: whether the column of that name in another table is read."""
        self._require_fitted()
        return frozenset(self.input_columns).__contains__

    def recognised(
        self, table: Columns, formats: Mapping[str, str] = MappingProxyType({})
    ) -> Columns:
        """The used columns of another table, with each cell parsed as in training.

        ``formats`` are text formats of columns that were not text in training.
        """
        self._require_fitted()
        self.require_columns(table.names)
        na = self.na_words
        read = (
            apply_style(
                table[spec.name],
                spec.kind,
                spec.style or formats.get(spec.name, ""),
                na,
                spec.levels,
            )
            for spec in self.specs_
        )
        groups = None if self.groups_ is None else self.groups_.codes(table, na)
        return Columns(tuple(read), table.n_rows, groups)

    def formats_of(self, sample: Columns) -> dict[str, str]:
        """Text formats, detected in a sample, of columns that were not text in training."""
        self.require_columns(sample.names)
        na = self.na_words
        return {
            spec.name: guessed_format(without_words(sample[spec.name], na), spec.kind)
            for spec in self.specs_
            if not spec.style
        }

    def require_columns(self, names: Collection[str]) -> None:
        """Raise TableError if a used column is not among the names of another table."""
        absent = [name for name in self.input_columns if name not in names]
        if absent:
            known = {*self.columns, *self.input_columns}
            raise TableError(lacks_columns(absent, [name for name in names if name not in known]))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        self._require_fitted()
        names: dict[str, None] = {}
        for name in (name for spec in self.specs_ for name in spec.feature_names()):
            # Names of columns and of category values may coincide, also after a number was added.
            free, k = name, 2
            while free in names:
                free, k = f"{name} ({k})", k + 1
            names[free] = None
        return np.array(list(names), dtype=object)

    @property
    def columns(self) -> list[str]:
        """Names of the input columns that are encoded."""
        return [spec.name for spec in self.specs_]

    @property
    def input_columns(self) -> list[str]:
        """Names of the columns that are read: those that are encoded, and group columns."""
        return self.columns if self.groups_ is None else [*self.columns, *self.groups_.columns]

    @property
    def sources(self) -> np.ndarray:
        """For each encoded column, the index of its input column in :attr:`columns`."""
        return np.repeat(
            np.arange(len(self.specs_)), [len(spec.feature_names()) for spec in self.specs_]
        )

    def filled(self, X: np.ndarray) -> np.ndarray:
        """Encoded rows in which missing numbers are what their columns usually have."""
        cells = np.asarray(X, dtype=np.float64)
        return np.where(np.isnan(cells), usual_cells(self.specs_), cells)

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Sum values per encoded column (last axis) to values per input column."""
        # All encoded columns of an input column are next to each other.
        starts = np.flatnonzero(np.diff(self.sources, prepend=-1))
        return np.add.reduceat(np.asarray(values), starts, axis=-1)

    def state(self) -> dict[str, Any]:
        """The fitted state as plain values, without the notes: they may quote cells."""
        known = EncoderState(
            self.get_params()
            | {name: self.named(name) for name in COLUMN_PARAMETERS}
            | {"by": group_columns(self.by), "keep_missing": bool(self.keep_missing)},
            tuple(self.specs_),
            self.left_out_,
            [str(name) for name in self.feature_names_in_],
            self.groups_,
        )
        return write_state(known)

    @classmethod
    def from_state(cls, state: dict[str, object]) -> Self:
        """Encoder with a state from :meth:`state`; raises ModelFileError if that is not valid."""
        known = read_state(state)
        encoder = cls(**known.parameters)
        encoder.specs_ = list(known.specs)
        encoder.groups_ = known.groups
        encoder.left_out_ = known.left_out
        encoder.notes_ = [
            Note("text_format", spec.name, format=spec.style) for spec in known.specs if spec.style
        ]
        encoder._set_names(known.columns)
        return encoder

    def require_consistent(self, id: str | None = None) -> None:
        """Raise TableError for columns that are not listed, or whose uses contradict each other.

        ``id`` is the column that names the rows of the table, if there is one.
        """
        self.require_lists()
        require_one_use(
            {
                "by": group_columns(self.by),
                "id": [] if id is None else [id],
                **{name: self.named(name) for name in COLUMN_PARAMETERS},
            }
        )

    def _check_parameters(self, names: Sequence[str], n_rows: int) -> None:
        self.require_consistent()
        if not isinstance(self.max_categories, numbers.Integral) or self.max_categories < 2:
            raise TableError(
                f"max_categories={self.max_categories!r} must be a whole number of at least 2."
            )
        _require_rows(n_rows)
        require_group_columns(group_columns(self.by), names)
        asked = [name for one in COLUMN_PARAMETERS for name in self.named(one)]
        unknown = [name for name in asked if name not in names]
        if unknown:
            raise TableError(no_column(unknown[0], names))

    def _set_names(self, names: Sequence[str]) -> None:
        self.feature_names_in_ = np.array(list(names), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def learn_columns(
        self,
        table: Columns,
        names: Sequence[str] | None = None,
        not_identifiers: Sequence[str] = (),
    ) -> Columns:
        """Learn the type and scale of each column; return the used columns, parsed.

        ``names`` are all columns of the training table, if ``table`` lacks some of them.
        ``not_identifiers`` are used even if their values all differ here.
        """
        names = table.names if names is None else names
        self._check_parameters(names, table.n_rows)
        roles = self._assign_roles(table, not_identifiers)
        self.left_out_ = {
            role.column.name: role.left_out for role in roles if role.left_out is not None
        }
        self.notes_ = [note for role in roles for note in role.notes]
        used = [role for role in roles if role.left_out is None]
        # Each column is learned from its own cells, so threads do not change the result.
        specs = run_tasks(
            lambda role: learn_spec(
                role.column, role.style, self.max_categories, self.mark_missing
            ),
            used,
            available_threads(),
        )
        self.specs_ = equal_where_nominal(specs)
        self.groups_ = None
        self._set_names(names)
        return Columns(tuple(role.column for role in used), table.n_rows)

    def _assign_roles(self, table: Columns, not_identifiers: Sequence[str]) -> list[Role]:
        overrides = Overrides(
            frozenset(self.named("number")),
            frozenset(self.named("category")),
            frozenset(self.named("keep")).union(not_identifiers),
            self.na_words,
        )
        not_encoded = {*self.named("drop"), *group_columns(self.by)}
        columns = [column for column in table if column.name not in not_encoded]
        return run_tasks(
            lambda column: assign_role(column, overrides), columns, available_threads()
        )

    def learn_groups(self, given: Columns, read: Columns, is_sample: bool = False) -> Columns:
        """Learn what is usual in each group; return the used columns with the groups of the rows.

        ``given`` are the training rows or a sample of them, ``read`` their used columns as
        :meth:`learn_columns` or :meth:`recognised` returned them. Without group columns, nothing
        changes.
        """
        by = group_columns(self.by)
        if not by or not self.specs_:
            return read
        self.groups_, notes = learn_names(given, by, self.na_words, is_sample)
        self.notes_ = [*self.notes_, *notes]
        n_groups, codes = self.groups_.unknown, self.groups_.codes(given, self.na_words)
        self.specs_ = run_tasks(
            lambda pair: with_groups(*pair, codes, n_groups),
            list(zip(self.specs_, read, strict=True)),
            available_threads(),
        )
        return replace(read, groups=codes)

    def encode_table(self, table: Columns) -> np.ndarray:
        """Encode columns returned by :meth:`learn_columns` or :meth:`recognised`."""
        return encoded(
            self.specs_, table.columns, table.n_rows, table.groups, bool(self.keep_missing)
        )
