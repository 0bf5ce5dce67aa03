"""What was seen and decided, as data: notes on a table, columns left out, the rule that flags rows.

Code compares and filters these records. ``str`` of one is its sentence, which is made in
:mod:`odefs.tables.messages`; no code searches a sentence.
"""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np

ReadingNote = Literal[
    "encoding",
    "not_utf8",
    "header_like_data",
    "unnamed_columns",
    "repeated_name",
    "more_repeated_names",
    "leading_zeros",
    "apostrophes_removed",
    "short_lines",
]
"""What a reader reports about a file."""
ColumnNote = Literal[
    "text_format",
    "unreadable_cells",
    "mixed_cells",
    "missing_code",
    "infinite_cells",
    "identifier_as_category",
    "known_cases",
]
"""What was recognised in one column."""
WritingNote = Literal["excel_names_cut", "excel_texts_cut"]
"""What a file of results could not hold."""
NoteKind = Literal[ReadingNote, ColumnNote, WritingNote]

ExclusionKind = Literal[
    "opaque_cells",
    "empty",
    "constant",
    "mostly_missing",
    "unique_text",
    "unique_codes",
    "row_counter",
    "unique_identifier",
    "dropped",
]
ConventionKind = Literal["auto", "model_contamination", "contamination", "threshold", "top"]


@dataclass(frozen=True)
class Note:
    """One remark on a table. Fields that do not apply to its kind are empty."""

    kind: NoteKind
    column: str | None = None
    """The column that the note is about; with that column hidden, the note is not shown."""
    columns: tuple[str, ...] = ()
    """Further columns that the note names."""
    row: int | None = None
    """Number of a row, from 1."""
    line: int | None = None
    """Number of a line of the file, from 1."""
    count: int | None = None
    """Cells, lines, names or known outliers, by kind."""
    n_normal: int | None = None
    """Rows known to be ordinary."""
    n_fields: int | None = None
    """Fields of the line."""
    limit: int | None = None
    """What was expected (fields of a line) or allowed (characters of a cell)."""
    share: float | None = None
    value: str | float | None = None
    """A cell that is quoted, or the name of an encoding."""
    format: str | None = None
    """How text was read: a key of :data:`odefs.tables.encoder.text_formats.TEXT_FORMATS`."""
    details: tuple[str, ...] = ()
    """What else the text has, such as ``currencies``."""
    is_sampled: bool = False
    """Whether rows and counts are those of a sample of the table."""

    def __str__(self) -> str:
        from odefs.tables.messages import note_message

        return note_message(self)

    def names(self, columns: frozenset[str]) -> bool:
        """Whether the note is about one of these columns, or names one."""
        return self.column in columns or not columns.isdisjoint(self.columns)

    def of_sample(self, numbers: "np.ndarray") -> "Note":
        """The note on a table of which only the rows with these numbers, from 0, were seen."""
        if self.row is None and self.count is None:
            return self
        row = None if self.row is None else int(numbers[self.row - 1]) + 1
        return replace(self, row=row, is_sampled=True)


@dataclass(frozen=True)
class Exclusion:
    """Why a column is not used."""

    kind: ExclusionKind
    share: float | None = None
    """Share of missing cells, where that is the reason."""

    def __str__(self) -> str:
        from odefs.tables.messages import exclusion_message

        return exclusion_message(self)


@dataclass(frozen=True)
class FlagConvention:
    """The rule by which rows were flagged. None of the rules promises an error rate."""

    kind: ConventionKind
    rate: float | None = None
    """``auto``: standard deviations above the mean."""
    share: float | None = None
    """Share of rows to flag, given with the model or for this table."""
    count: int | None = None
    """``top``: how many rows were asked for."""
    by_training: bool = False
    """Whether the threshold comes from the scores of the training rows, not of this table."""

    def __str__(self) -> str:
        from odefs.tables.messages import convention_message

        return convention_message(self)


def as_plain(record: Note | Exclusion | FlagConvention) -> dict[str, Any]:
    """For JSON: the fields that apply, and the sentence as ``message``."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _plain(v) for name, v in values.items() if _applies(v)} | {"message": str(record)}


def _applies(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
