"""The columns of the result table: who, where, how outlying, flagged or not, why, and the input on request."""

from typing import Any

import numpy as np

from odefs.tables.detection import Detection
from odefs.tables.hiding import shown_names
from odefs.tables.wording import say_reason

RESULT_NAMES = ("row", "line", "score", "rank", "agreement", "outlier", "reasons")


def result_columns(
    found: Detection, lines: np.ndarray | None = None, reasons: str = "flagged", data: Any = None
) -> dict[str, Any]:
    """One entry per row of the table, in its order. ``data`` is a frame whose columns go along; ``reasons`` is "flagged", "all" or "none"."""
    name, names = shown_names(found)
    out: dict[str, Any] = {}
    if found.named and found.identifier not in found.hidden:
        out[f"{name} (id)" if name in RESULT_NAMES else name] = list(names)
    out["row"] = np.arange(1, found.n_rows + 1)
    if lines is not None:
        out["line"] = np.asarray(lines)
    out |= {"score": found.scores, "rank": found.ranks}
    if found.agreement is not None:
        out["agreement"] = found.agreement
    out["outlier"] = np.where(found.is_outlier, "yes", "no")
    if reasons != "none":
        out["reasons"] = _reason_texts(
            found, np.ones(found.n_rows, dtype=bool) if reasons == "all" else found.is_outlier
        )
    if data is not None:
        for column in data.columns:
            if column not in found.hidden and not (found.named and column == found.identifier):
                out[_free(column, out)] = data[column]
    return out


def _free(name: str, taken: dict[str, Any]) -> str:
    """The name of an input column, marked where the results have a column of this name."""
    while name in taken:
        name = f"{name} (input)"
    return name


def _reason_texts(found: Detection, wanted: np.ndarray) -> list[str | None]:
    rows = np.flatnonzero(wanted)
    texts: list[str | None] = [None] * found.n_rows
    for row, reasons in zip(rows, found.reasons(rows.tolist()), strict=True):
        texts[row] = "; ".join(say_reason(reason, reason.column in found.hidden) for reason in reasons)
    return texts
