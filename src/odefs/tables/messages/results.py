"""What was found in a table: how many rows stand out, what the model relies on, how the table differs from training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from odefs.tables.messages.values import KIND_NAMES, count, first_of, listed, number, without_controls

if TYPE_CHECKING:
    from odefs.tables.drift import ColumnDrift
    from odefs.tables.notes import FlagConvention


def flagged(n_flagged: int, convention: "FlagConvention") -> str:
    """How many rows stand out, and by which rule."""
    rows = count(n_flagged, "row stands", "rows stand") if n_flagged else "No row stands"
    return f"{rows} out. {rule(str(convention))}"


def rule(convention: str) -> str:
    return f"Rule: {convention}."


def headline(summary: dict[str, Any]) -> str:
    """What was found, in one sentence."""
    n_flagged, rows = summary["flagged"], summary["rows"]
    if not n_flagged:
        return f"None of {count(rows, 'row')} stands out."
    columns: list[str] = []
    for kind in summary["kinds"]:
        columns += [trait["column"] for trait in kind["traits"] if trait["column"] not in columns]
    stand = "stands" if n_flagged == 1 else "stand"
    mostly = f", mostly by {listed(columns[:4])}." if columns else "."
    return f"{count(n_flagged)} of {count(rows, 'row')} {stand} out{mostly}"


def ordinary(median: float) -> str:
    """What an ordinary row scores: 1.0, unless a few extreme rows have moved the mean away from the median."""
    if 0.8 <= median <= 1.25:
        return "An ordinary row scores 1.0."
    shown = f"{median:.2g}" if median < 0.1 else f"{median:.2f}" if median < 1000 else number(median)
    return f"Half of the rows score {shown} or less; training rows average 1.0."


def labels(measures: dict[str, float]) -> str:
    """How well the scores agree with the labels; empty without labels."""
    if not measures:
        return ""
    return (
        f"Against the labels: AUC {measures['auc']:.3f}, average precision {measures['ap']:.3f}, "
        f"p@k {measures['p@k']:.3f}."
    )


def sampled(judged_by: int | None, drawn: int) -> str:
    """How a table larger than memory was read: rows that decided what columns hold, rows that are shown for all."""
    types = "" if judged_by is None else f"column types were inferred from {count(judged_by, 'row')}, and "
    return (
        f"The table is larger than memory. All rows were scored; {types}"
        f"usual values come from a random sample of {count(drawn, 'row')}."
    )


def noise(columns: Sequence[str]) -> str:
    """Which columns are down-weighted because they look like noise; empty where none does."""
    if not columns:
        return ""
    return (
        "Treated as noise (unrelated to every other column, no extreme values) and down-weighted to 10%: "
        f"{first_of(columns)}."
    )


def trusted(share: float, was_given: bool = False, beside_noise: bool = False) -> str:
    """How far the score relies on the learned columns; follows :func:`noise` where there are noise columns."""
    which = "All other columns" if beside_noise else "All columns"
    if share == 0 and was_given:
        return f"{which} are weighted equally, as requested."
    if share == 0:
        return f"{which} are weighted equally: feature selection did not improve the ranking reliably on this table."
    if share == 1:
        return "The score comes from the selected columns alone."
    return f"The selected columns contribute {share:.0%} of the score, all columns together the rest."


def drift(entry: "ColumnDrift") -> str:
    """How a column differs from training."""
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
    """A warning: the column is likely another one, or of another type."""
    return f"{share:.0%} of the rows have values in column {column!r} that were not seen in training."


def unreadable_column(column: str, kind: str) -> str:
    """A warning that is the same for every batch."""
    return (
        f"column {column!r} held {KIND_NAMES[kind]} in training; other values count as missing, "
        "in some batches most of them."
    )


def _share(share: float) -> str:
    """A share above 0, which must not read as 0."""
    return f"{share:.2%}" if share >= 0.0001 else "under 0.01%"


def model_saved(path: object, hidden: Sequence[str] = ()) -> str:
    """That a model file holds rows of the table, also cells of hidden columns."""
    also = f", including the values of {', '.join(hidden)}" if hidden else ""
    return (
        f"Model saved to {path}. It contains rows of the training table{also}; treat it as confidential as the table."
    )


def outputs_without_input(folder: object, names: Sequence[str]) -> str:
    """That files of scores are left from inputs that are gone."""
    which = f"{first_of(names, 1)} {'has' if len(names) == 1 else 'have'}"
    return f"{folder}: {which} no input of the same name, so nothing in it is counted; delete it if not needed."
