"""The columns of the result table: who, where, how outlying, flagged or not, why, and the input on request."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from odefs.inspection.reason import Reason
from odefs.tables.detection import Detection
from odefs.tables.messages import reason_text
from odefs.tables.redaction import shown_names

RESULT_NAMES = ("row", "line", "score", "rank", "agreement", "outlier", "reasons")
LEAST_RESULTS = 4
"""Row, score, rank and flag are always among them."""


def result_columns(
    found: Detection,
    lines: np.ndarray | None = None,
    reasons: str = "flagged",
    data: Any = None,
    folds: bool = False,
    spells: bool = False,
) -> dict[str, Any]:
    """One entry per row of the table, in its order. ``data`` is a frame whose columns go along; ``reasons`` is "flagged", "all" or "none".

    ``folds`` where names that differ by case alone are one name, as they are to Excel; ``spells`` where flags are words.
    """
    results: dict[str, Any] = {
        "row": np.arange(1, found.n_rows + 1),
        "line": None if lines is None else np.asarray(lines),
        "score": found.scores,
        "rank": found.ranks,
        "agreement": found.agreement,
        "outlier": as_yes_no(found.is_outlier) if spells else np.asarray(found.is_outlier),
        "reasons": None,
    }
    if reasons != "none":
        rows = np.arange(found.n_rows) if reasons == "all" else np.flatnonzero(found.is_outlier)
        results["reasons"] = reason_texts(found.hidden, found.n_rows, rows, found.reasons(rows.tolist()))
    names = list(shown_names(found)[1]) if shows_names(found) else None
    own = {} if data is None else {column: data[column] for column in data.columns}
    return arranged(found, names, results, own, folds)


def as_yes_no(flags: np.ndarray) -> np.ndarray:
    """For people; files with types have truth values."""
    return np.where(flags, "yes", "no")


def shows_names(found: Detection) -> bool:
    """Whether rows go by a column of the table."""
    return found.named and found.identifier not in found.hidden


def arranged(
    found: Detection, names: Any, results: Mapping[str, Any], data: Mapping[str, Any], folds: bool = False
) -> dict[str, Any]:
    """The columns in their order under names that differ: the rows' names, the results that there are, the input."""
    same = str.casefold if folds else str
    out: dict[str, Any] = {}
    if names is not None:
        name = found.identifier
        out[f"{name} (id)" if same(name) in RESULT_NAMES else name] = names
    out |= {name: column for name, column in results.items() if column is not None}
    taken = {same(name) for name in out}
    for column, cells in data.items():
        if column not in found.hidden and not (found.named and column == found.identifier):
            name = _free(column, taken, same)
            taken.add(same(name))
            out[name] = cells
    return out


def _free(name: str, taken: set[str], same: Callable[[str], str]) -> str:
    """The name of an input column, marked where the results have a column of this name."""
    while same(name) in taken:
        name = f"{name} (input)"
    return name


def reason_texts(
    hidden: frozenset[str], n_rows: int, rows: np.ndarray, reasons: Iterable[Sequence[Reason]]
) -> list[str | None]:
    """A text for each row, none for those that are not among ``rows``."""
    texts: list[str | None] = [None] * n_rows
    for row, found in zip(rows, reasons, strict=True):
        texts[row] = "; ".join(reason_text(reason, reason.column in hidden) for reason in found)
    return texts
