"""Notes, exclusions, flag conventions and provenance: what was detected and decided, as data.

Code compares and filters these records. ``str(record)`` is its message, which is made in
:mod:`odefs.tables.messages`; no code searches messages.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

from odefs.persist.header_values import require
from odefs.versions import versions_of

if TYPE_CHECKING:
    import numpy as np

    from odefs.models.base import OutlierModel

COMPACT_DATES = "YYYYMMDD dates"
"""Format of dates such as 20250403, which are usually stored as numbers."""

ReadingNote = Literal[
    "encoding",
    "not_utf8",
    "header_like_data",
    "header_is_row",
    "unnamed_columns",
    "repeated_name",
    "more_repeated_names",
    "leading_zeros",
    "apostrophes_removed",
    "short_lines",
    "rows_above",
    "joined_header",
    "units_row",
    "repeated_header",
    "total_row",
    "inner_totals",
    "rows_below",
    "sheet_rows",
    "other_tables",
    "other_sheets",
    "later_sheet",
    "separated_by_spaces",
    "error_cells",
]
"""Reported by a reader about a file."""
ColumnNote = Literal[
    "text_format",
    "limits",
    "unreadable_cells",
    "few_numbers",
    "mixed_cells",
    "missing_code",
    "infinite_cells",
    "identifier_as_category",
    "known_cases",
]
"""Recognised in one column."""
WritingNote = Literal["excel_names_cut", "excel_texts_cut"]
"""Content that an output file could not hold."""
ReviewNote = Literal["answers"]
"""Learned from a person's answers."""
GroupNote = Literal["groups", "single_group", "pooled_groups", "unknown_groups"]
"""On the groups of rows within which values are compared."""
TableNote = Literal["unused_columns"]
"""On a table that a model scores."""
NoteKind = Literal[ReadingNote, ColumnNote, WritingNote, ReviewNote, GroupNote, TableNote]
ON_TABLE_ROWS: tuple[NoteKind, ...] = ("limits", "unreadable_cells", "few_numbers", "mixed_cells")
"""Kinds whose ``row`` is a row of the table, not of a file."""

ExclusionKind = Literal[
    "opaque_cells",
    "empty",
    "no_numbers",
    "constant",
    "mostly_missing",
    "one_value_or_missing",
    "unique_text",
    "unique_codes",
    "mixed_dates",
    "row_counter",
    "serial_numbers",
    "unique_identifier",
    "nearly_unique_identifier",
    "shared_identifier",
    "dropped",
]
ConventionKind = Literal[
    "auto",
    "paper",
    "model_contamination",
    "contamination",
    "threshold",
    "top",
    "reference",
    "too_few_rows",
]


@dataclass(frozen=True)
class Note:
    """A remark on a table. Fields that do not apply to its kind are empty."""

    kind: NoteKind
    column: str | None = None
    """The column that the note is about; if that column is hidden, so is the note."""
    columns: tuple[str, ...] = ()
    """Further columns that the note names."""
    row: int | None = None
    """Number of a row of the table, from ``first_row``; of a row of the sheet, from 1, in notes on
    where the table is."""
    line: int | None = None
    """Number of a line of the file, from 1."""
    count: int | None = None
    """Number of cells, lines, names, tables, groups, rows of certain groups, or known or confirmed
    outliers, depending on the kind."""
    n_normal: int | None = None
    """Number of rows known or answered to be normal."""
    n_fields: int | None = None
    """Number of fields in the line."""
    limit: int | None = None
    """Number expected (fields in a line), allowed (characters in a cell, groups) or present (cells
    of a column)."""
    share: float | None = None
    value: str | float | None = None
    """A quoted cell, or the name of an encoding."""
    format: str | None = None
    """Format of text: a name that :func:`odefs.tables.encoder.text_formats.format_named` knows."""
    details: tuple[str, ...] = ()
    """Other parts of the text, such as ``currencies``; units, ranges of cells, names of sheets."""
    is_sampled: bool = False
    """Whether row and count refer to a sample of the table."""
    first_row: Literal[0, 1] = 0
    """Number of the first row of the table: 0 in Python, 1 in files and on the command line."""

    def __str__(self) -> str:
        from odefs.tables.error_messages import named_as_arguments
        from odefs.tables.messages import note_message

        if self.first_row == 1:
            return note_message(self)
        with named_as_arguments():
            return note_message(self)

    def names(self, columns: frozenset[str]) -> bool:
        """Whether the note is about one of these columns, or names one."""
        return self.column in columns or not columns.isdisjoint(self.columns)

    def of_sample(self, numbers: "np.ndarray") -> "Note":
        """Return the note for the full table, of which rows ``numbers`` (from 0) were sampled."""
        if self.row is None and self.count is None:
            return self
        row = None if self.row is None else int(numbers[self.row])
        return replace(self, row=row, is_sampled=True)

    def numbered(self, first: Literal[0, 1]) -> "Note":
        """Return the note with rows of the table counted from ``first``."""
        row = self.row
        if row is not None and self.kind in ON_TABLE_ROWS:
            row += first - self.first_row
        return replace(self, row=row, first_row=first)


@dataclass(frozen=True)
class Exclusion:
    """Why a column is not used."""

    kind: ExclusionKind
    share: float | None = None
    """Share of missing cells, if that is the reason."""

    def __str__(self) -> str:
        from odefs.tables.messages import exclusion_message

        return exclusion_message(self)


@dataclass(frozen=True)
class FlagConvention:
    """The rule by which rows were flagged, and which of them stand out beyond it."""

    kind: ConventionKind
    expected: float | None = None
    """``auto``: expected number of flagged rows among ``n_rows`` without outliers."""
    n_rows: int | None = None
    """``auto``: number of training rows. ``reference``: number of clean rows. ``too_few_rows``: the
    fewest that are judged."""
    rate: float | None = None
    """``paper``: standard deviations above the mean."""
    share: float | None = None
    """Share of rows to flag, set for the model or for this table. ``reference``: largest expected
    share of clean rows among the flagged ones."""
    count: int | None = None
    """``top``: number of rows to flag."""
    by_training: bool = False
    """Whether the threshold comes from scores of training rows instead of this table."""
    before_answers: bool = False
    """Whether it comes from the scores before a person's answers changed them."""
    clear: int | None = None
    """``auto``, if no more rows are flagged than expected: number of those that score far higher
    than all others, as rows of tables without outliers hardly ever do, or else that have a value
    far from all others of its column; ``None`` without any."""
    margin: float | None = None
    """Lowest score of these rows, relative to the next one; ``None`` if they are clear by their
    values."""

    def __str__(self) -> str:
        from odefs.tables.error_messages import named_as_arguments
        from odefs.tables.messages import convention_message

        with named_as_arguments():
            return convention_message(self)


def as_plain(record: Note | Exclusion | FlagConvention) -> dict[str, object]:
    """Return the fields that apply, and the message, for JSON."""
    from odefs.tables.messages import convention_message

    # Alone, a convention names arguments of Python.
    message = convention_message(record) if isinstance(record, FlagConvention) else str(record)
    names = (field.name for field in fields(record) if field.name != "first_row")
    values = {name: getattr(record, name) for name in names}
    return {name: _plain(v) for name, v in values.items() if _applies(v)} | {"message": message}


def _applies(value: object) -> bool:
    return value is not None and value is not False and value != ()


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


PACKAGES = ("odefs", "python", "numpy", "scipy", "scikit-learn", "polars")
RESOLVED = (
    "n_components",
    "n_candidates",
    "n_outlier_examples",
    "n_unlabeled_examples",
    "candidate_threshold",
)
PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Provenance:
    """What produced a result. It contains no time, so that equal runs write equal bytes."""

    command: str | None = None
    """The command line; None for a result produced in Python."""
    seed: int | None = None
    parameters: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """Parameters of the estimator."""
    resolved: Mapping[str, float] = field(default_factory=dict)
    """Values chosen for parameters that are "auto", and the threshold."""
    versions: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of_model(
        cls, model: "OutlierModel", command: str | None = None, seed: int | None = None
    ) -> Self:
        """Return the provenance of a fitted model."""
        parameters = {
            name: value if isinstance(value, PLAIN) else repr(value)
            for name, value in model.get_params().items()
            if name not in ("n_jobs", "verbose")
        }
        state = model.get_params().get("random_state")
        drawn_by = seed if seed is not None else int(state) if isinstance(state, Integral) else None
        return cls(
            command,
            drawn_by,
            parameters,
            _resolved(model),
            versions_of(PACKAGES),
        )

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Restore what :meth:`state` returned; raise :class:`ModelFileError` if it is invalid."""
        types = {"command": (str, type(None)), "seed": (int, type(None))}
        require(
            state.keys() <= cls.__dataclass_fields__.keys(),
            "its run has parts that this version does not know",
        )
        for name, value in state.items():
            require(
                type(value) in types.get(name, (dict,)), f"{name!r} of its run is of another type"
            )
        return cls(**state)

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _resolved(model: "OutlierModel") -> dict[str, float]:
    info = getattr(model, "fit_info_", {})
    found = {name: info[name] for name in RESOLVED if name in info}
    plain = {
        name: value.item() if hasattr(value, "item") else value for name, value in found.items()
    }
    return plain | {"threshold": float(-model.offset_)}


def other_sheet_names(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the names of the other sheets of a workbook, which a note on its reading has."""
    named = [note.details for note in notes if note.kind in ("later_sheet", "other_sheets")]
    return tuple(name for details in named for name in details)
