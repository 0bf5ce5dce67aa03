"""Messages on scoring other tables: drift from training, and the files written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odefs.tables.messages.values import KIND_NAMES, count, first_of, without_controls

if TYPE_CHECKING:
    from odefs.tables.drift import ColumnDrift

NO_DRIFT = "No column differs from training: no value out of range, no unseen category."


def drift(entry: "ColumnDrift") -> str:
    """Return how a column differs from training."""
    parts = []
    if entry.out_of_range:
        parts.append(f"{_share(entry.out_of_range)} of the values outside the training range")
    if entry.unseen_share:
        named = ", ".join(entry.unseen[:3]) + (", ..." if len(entry.unseen) > 3 else "")
        unseen = f"{_share(entry.unseen_share)} of the rows with categories not seen in training"
        parts.append(unseen + (f" ({named})" if named else ""))
    if entry.missing_now != entry.missing_before:
        parts.append(f"{entry.missing_now:.2%} missing, {entry.missing_before:.2%} in training")
    return without_controls(f"{entry.column}: {'; '.join(parts)}")


def unseen_categories(column: str, share: float) -> str:
    """Return a warning: probably another column, or another type."""
    return (
        f"{share:.0%} of the rows have values in column {column!r} that were not seen in training."
    )


def unreadable_column(column: str, kind: str) -> str:
    """Return a warning that is the same for every batch."""
    return (
        f"column {column!r} held {KIND_NAMES[kind]} in training; other values count as missing, "
        "in some batches most of them."
    )


def _share(share: float) -> str:
    """Format a share above 0, which must not be displayed as 0."""
    return f"{share:.2%}" if share >= 0.0001 else "under 0.01%"


def flagged_share(share: float, in_training: float | None) -> str:
    """Return the share of flagged rows, compared with training."""
    before = "" if in_training is None else f", {in_training:.2%} in training"
    return f"Flagged: {share:.2%} of the rows{before}"


def too_many_flagged(share: float, allowed: float, multiple: str | None) -> str:
    """Return that the limit is exceeded; ``multiple`` is the limit as given, such as 2x."""
    relative = f" ({multiple} the share in training)" if multiple is not None else ""
    return f"{share:.2%} of the rows are flagged, more than the {allowed:.2%} allowed{relative}."


def files_scored(folder: object, written: int, skipped: int) -> str:
    """Return how many files of a folder were written."""
    there = f", {skipped:,} already there" if skipped else ""
    return f"{folder}: {count(written, 'file')} written{there}."


def rows_scored(n_rows: int, n_flagged: int, share: float) -> str:
    return f"{count(n_rows, 'row')}, {n_flagged:,} flagged ({share:.2%})."


def model_saved(path: object, hidden: Sequence[str] = ()) -> str:
    """Return that a model contains rows of the table, including cells of hidden columns."""
    also = f", including the values of {', '.join(hidden)}" if hidden else ""
    return (
        f"Model saved to {path}. It contains rows of the training table{also}; "
        "treat it as confidential as the table."
    )


def outputs_without_input(folder: object, names: Sequence[str]) -> str:
    """Return that score files remain whose inputs no longer exist."""
    has, it = ("has", "is") if len(names) == 1 else ("have", "are")
    return (
        f"{folder}: {first_of(names, 1)} {has} no input of the same name and {it} not counted; "
        "delete such files if the folder is read as one table."
    )
