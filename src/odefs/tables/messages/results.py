"""Messages on the result for a table: outliers, what the model relies on, drift, files written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from odefs.tables.messages.notes import convention_message
from odefs.tables.messages.values import (
    KIND_NAMES,
    NAMED,
    count,
    first_of,
    listed,
    number,
    percent,
    quantity,
    shortened,
    without_controls,
)

if TYPE_CHECKING:
    from odefs.tables.records.drift import ColumnDrift
    from odefs.tables.records.notes import FlagConvention

HEADLINE, HEADLINE_NAME, LEAST_NAME = 64, 28, 12
"""Characters of a headline, and of a column name in it: at most, and at least if it is longer."""
WITHOUT_OUTLIERS = "in a table of this size without outliers,"


def flagged(n_flagged: int, convention: "FlagConvention") -> str:
    """Return the number of flagged rows and the rule."""
    if convention.kind == "too_few_rows":
        return f"The rows are ranked, none is flagged. {rule(convention_message(convention))}"
    rows = count(n_flagged, "row stands", "rows stand") if n_flagged else "No row stands"
    if convention.kind != "auto":
        return f"{rows} out. {rule(convention_message(convention))}"
    expected, n_rows = number(convention.expected or 0.0), convention.n_rows or 0
    if convention.before_answers:
        return f"{rows} out, by the threshold from before the answers."
    if convention.by_training:
        return f"{rows} out. {_rate_of_ordinary(convention.expected or 0.0, n_rows)}"
    if convention.clear is not None:
        clear = count(convention.clear, "row stands", "rows stand")
        if convention.clear < n_flagged:
            clear = f"{convention.clear:,} of {n_flagged:,} flagged rows stand"
        return f"{clear} out{_why_clear(convention.clear, convention.margin)}."
    if 0 < n_flagged <= (convention.expected or 0.0):
        return f"{rows} out; {WITHOUT_OUTLIERS} about {expected} would as well."
    return f"{rows} out. {WITHOUT_OUTLIERS.capitalize()} about {expected} would."


def _rate_of_ordinary(expected: float, n_rows: int) -> str:
    """Return how many training rows would be flagged, for a table of another size."""
    if not expected:
        return "Of ordinary rows, none would."
    return f"Of ordinary rows, about 1 in {max(1, round(n_rows / expected)):,} would."


def _why_clear(clear: int, margin: float | None) -> str:
    """Return how far the scores of some rows are from the next one, or that a value is far."""
    if margin is None:
        return f" by {'a value' if clear == 1 else 'values'} far from all others"
    times = f"{margin:.1f}" if margin < 100 else number(round(margin))
    whose = "its score is" if clear == 1 else "their scores are at least"
    return f": {whose} {times} times the next"


def rule(convention: str) -> str:
    return f"Rule: {convention}."


def headline(summary: dict[str, Any]) -> str:
    """Return the result in one sentence."""
    n_flagged, rows = summary["flagged"], summary["rows"]
    if summary["convention"]["kind"] == "too_few_rows":
        return f"{count(rows, 'row')}, ranked by how much they differ from the others."
    convention = summary["convention"]
    if clear := convention.get("clear"):
        start = f"{count(clear)} of {count(rows, 'row')} {'stands' if clear == 1 else 'stand'} out"
        return f"{start}{_why_clear(clear, convention.get('margin'))}."
    stand = "stands" if n_flagged == 1 else "stand"
    is_expected = convention["kind"] == "auto" and "by_training" not in convention
    if is_expected and 0 < n_flagged <= convention["expected"]:
        start = f"{count(n_flagged)} of {count(rows, 'row')} {stand} out"
        return f"{start}; without outliers, about {number(convention['expected'])} would too."
    if not n_flagged:
        return f"None of {count(rows, 'row')} stands out."
    return _with_columns(
        f"{count(n_flagged)} of {count(rows, 'row')} {stand} out", summary["kinds"]
    )


def _with_columns(start: str, kinds: Sequence[dict[str, Any]]) -> str:
    """Return a sentence with as many columns as fit into two lines of a narrow window.

    The rows stand out "mostly" by columns that explain more than half of them, but not all.
    """
    columns = list(dict.fromkeys(trait["column"] for kind in kinds for trait in kind["traits"]))
    room = HEADLINE - len(f"{start}, mostly by .")
    names = [shortened(column, min(HEADLINE_NAME, max(room, LEAST_NAME))) for column in columns[:4]]
    total = sum(kind["count"] for kind in kinds)
    for n in range(len(names), 0, -1):
        explained, others = _explained(kinds, columns[:n]), len(columns) - n
        if not others and explained == total:
            text = f"{start}, by {listed(names[:n])}."
        elif 2 * explained > total:
            text = f"{start}, mostly by {listed(names[:n])}."
        elif others:
            text = f"{start}, by {listed([*names[:n], count(others, 'other column')])}."
        else:
            continue
        if len(text) <= HEADLINE:
            return text
    return f"{start}."


def _explained(kinds: Sequence[dict[str, Any]], columns: Sequence[str]) -> int:
    """Return the number of rows whose kind has one of the columns."""
    return sum(
        kind["count"]
        for kind in kinds
        if any(trait["column"] in columns for trait in kind["traits"])
    )


def average(median: float, of_training: bool = False, has_answers: bool = False) -> str:
    """Return what scores are relative to: their mean in training, and the median if it differs.

    ``of_training`` if the rows are of another table than the training rows, ``has_answers`` if
    answers or known cases have changed the scores.
    """
    average = f"average score {'in training ' if of_training else ''}is 1.0"
    mean = f"{'Without answers and known cases, the' if has_answers else 'The'} {average}"
    if 0.8 <= median <= 1.25:
        return f"{mean}."
    shown = (
        f"{median:.2g}" if median < 0.1 else f"{median:.2f}" if median < 1000 else number(median)
    )
    return f"{mean}; half of the rows {'here ' if of_training else ''}score {shown} or less."


def labels(measures: dict[str, float]) -> str:
    """Return how well the scores agree with the labels; empty without labels."""
    if not measures:
        return ""
    return (
        f"Against the labels: AUC {measures['auc']:.3f}, average precision {measures['ap']:.3f}, "
        f"p@k {measures['p@k']:.3f}."
    )


def sampled(n_rows: int, judged_by: int | None, drawn: int) -> str:
    """Return how a table was read in parts, because it is large or as requested.

    Column types come from ``judged_by`` of ``n_rows`` rows, displayed statistics from ``drawn``.
    """
    parts = []
    if judged_by is not None and judged_by < n_rows:
        parts.append(f"column types were inferred from {count(judged_by, 'row')}")
    if drawn < n_rows:
        parts.append(f"usual values come from a random sample of {count(drawn, 'row')}")
    start = "The table was read in parts"
    return f"{start}. All rows were scored; {listed(parts)}." if parts else f"{start}."


def noise(columns: Sequence[str]) -> str:
    """Return which columns are down-weighted as noise; empty if there are none."""
    if not columns:
        return ""
    return (
        "Treated as noise (unrelated to every other column, no extreme values) "
        f"and down-weighted to 10%: {first_of(columns)}."
    )


def trusted(share: float, was_given: bool = False, has_noise: bool = False) -> str:
    """Return how much of the score comes from learned columns.

    Empty if the model decided to weight all columns equally, as on most tables. ``has_noise`` if
    :func:`noise` precedes.
    """
    which = "All other columns" if has_noise else "All columns"
    if share == 0 and was_given:
        return f"{which} are weighted equally, as requested."
    if share == 0:
        return ""
    if share == 1:
        return "The score comes from the selected columns alone."
    return (
        f"The selected columns contribute {share:.0%} of the score, all columns together the rest."
    )


def importances(shares: Sequence[tuple[str, float]]) -> str:
    """Return the columns that contribute most to what makes flagged rows stand out."""
    named = ", ".join(f"{column} {share:.0%}" for column, share in shares[:NAMED] if share >= 0.005)
    return f"Columns that set outliers apart: {named or 'none more than others'}"


def kinds_from(total: int) -> str:
    """Return how many rows the groups of outliers are based on, if not on all flagged ones."""
    return f"Based on the {count(total)} flagged rows with the highest scores."


AGREEMENT = "agree: share of the model's parts that find the row unusual on their own."
NO_AGREEMENT = (
    "0%: no part alone scores the row 2 standard deviations above its mean; the row is flagged by "
    "the combined score of all parts."
)
"""Added to the former where a flagged row has no agreement."""


def agreement(share: float) -> str:
    """Return how much of the model agrees that a row is unusual."""
    if share == 0:
        return "no part of the model agrees on its own"
    return f"{percent(share)} of the model agrees"


NO_DRIFT = (
    "No column differs from training: no value out of range, no unseen category, no distribution "
    "that has shifted."
)


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
    if entry.cut is not None:
        above = f"{_share(entry.above_now)} of the values above {quantity(entry.cut, entry.unit)}"
        parts.append(f"{above}, {_share(entry.above_before)} in training")
    elif entry.shift:
        parts.append(f"the distribution differs in {_share(entry.shift)} of the values")
    return without_controls(f"{entry.column}: {'; '.join(parts)}")


def unseen_categories(column: str, share: float) -> str:
    """Return a warning: probably another column, or another type."""
    return (
        f"{share:.0%} of the rows have values in column {column!r} that were not seen in training."
    )


def infinite_column(column: str) -> str:
    """Return a warning that is the same for every batch."""
    return f"column {column!r} has infinite numbers, which count as missing."


def unreadable_column(column: str, kind: str) -> str:
    """Return a warning that is the same for every batch."""
    return (
        f"column {column!r} held {KIND_NAMES[kind]} in training; other values count as missing, "
        "in some batches most of them."
    )


def _share(share: float) -> str:
    """Format a share; one above 0 must not be displayed as 0."""
    return f"{share:.2%}" if share >= 0.0001 or share == 0 else "under 0.01%"


def flagged_share(share: float, in_training: float | None, many_more: bool = False) -> str:
    """Return the share of flagged rows, compared with training."""
    before = "" if in_training is None else f", {in_training:.2%} in training"
    return f"Flagged: {share:.2%} of the rows{before}{FAR_MORE if many_more else ''}"


FAR_MORE = ": far more than a table like the training table would have"


def many_more_flagged(share: float, in_training: float) -> str:
    """Return that the share of flagged rows shows a table unlike the training table."""
    return f"{share:.2%} of the rows are flagged, {in_training:.2%} in training{FAR_MORE}."


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
