"""Messages on the result for a table: number of outliers, and what the model relies on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from odefs.tables.messages.values import NAMED, count, first_of, listed, number

if TYPE_CHECKING:
    from odefs.tables.notes import FlagConvention


def flagged(n_flagged: int, convention: "FlagConvention") -> str:
    """Return the number of flagged rows and the rule."""
    rows = count(n_flagged, "row stands", "rows stand") if n_flagged else "No row stands"
    return f"{rows} out. {rule(str(convention))}"


def rule(convention: str) -> str:
    return f"Rule: {convention}."


def headline(summary: dict[str, Any]) -> str:
    """Return the result in one sentence."""
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
    """Return the score of an ordinary row: 1.0, unless a few extreme rows have moved the mean."""
    if 0.8 <= median <= 1.25:
        return "An ordinary row scores 1.0."
    shown = (
        f"{median:.2g}" if median < 0.1 else f"{median:.2f}" if median < 1000 else number(median)
    )
    return f"Half of the rows score {shown} or less; training rows average 1.0."


def labels(measures: dict[str, float]) -> str:
    """Return how well the scores agree with the labels; empty without labels."""
    if not measures:
        return ""
    return (
        f"Against the labels: AUC {measures['auc']:.3f}, average precision {measures['ap']:.3f}, "
        f"p@k {measures['p@k']:.3f}."
    )


def sampled(judged_by: int | None, drawn: int) -> str:
    """Return how a table larger than memory was read.

    Column types come from ``judged_by`` rows, displayed statistics from ``drawn`` rows.
    """
    types = (
        ""
        if judged_by is None
        else f"column types were inferred from {count(judged_by, 'row')}, and "
    )
    return (
        f"The table is larger than memory. All rows were scored; {types}"
        f"usual values come from a random sample of {count(drawn, 'row')}."
    )


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

    ``has_noise`` if :func:`noise` precedes.
    """
    which = "All other columns" if has_noise else "All columns"
    if share == 0 and was_given:
        return f"{which} are weighted equally, as requested."
    if share == 0:
        return (
            f"{which} are weighted equally: feature selection did not improve the ranking "
            "reliably on this table."
        )
    if share == 1:
        return "The score comes from the selected columns alone."
    return (
        f"The selected columns contribute {share:.0%} of the score, all columns together the rest."
    )


def importances(shares: Sequence[tuple[str, float]]) -> str:
    """Return the columns that contribute most to the scores of flagged rows."""
    named = ", ".join(f"{column} {share:.0%}" for column, share in shares[:NAMED] if share >= 0.005)
    return f"Columns that set outliers apart: {named or 'none more than others'}"


def kinds_from(total: int) -> str:
    """Return how many rows the groups of outliers are based on, if not on all flagged ones."""
    return f"Based on the {count(total)} flagged rows with the highest scores."
