"""The columns of the result table: who, where, how outlying, flagged or not, why, and the input on request."""

from typing import Any

import numpy as np

from odefs.tables.detection import Detection
from odefs.tables.wording import say_reason

RESULT_NAMES = ("row", "line", "score", "rank", "outlier", "reasons")


def result_columns(
    found: Detection, lines: np.ndarray | None = None, reasons: str = "flagged", data: Any = None
) -> dict[str, Any]:
    """One entry per row of the table, in its order. ``data`` is a frame whose columns go along; ``reasons`` is "flagged", "all" or "none"."""
    name = found.identifier
    out: dict[str, Any] = {name if name not in RESULT_NAMES or name == "row" else f"{name} (id)": list(found.row_names)}
    if name != "row":
        out["row"] = np.arange(1, found.n_rows + 1)
    if lines is not None:
        out["line"] = np.asarray(lines)
    out |= {"score": found.scores, "rank": found.ranks, "outlier": np.where(found.is_outlier, "yes", "no")}
    if reasons != "none":
        out["reasons"] = _reason_texts(
            found, np.ones(found.n_rows, dtype=bool) if reasons == "all" else found.is_outlier
        )
    if data is not None:
        for column in data.columns:
            if column not in found.hidden and column != name:
                out[column if column not in out else f"{column} (input)"] = data[column]
    return out


def _reason_texts(found: Detection, wanted: np.ndarray) -> list[str | None]:
    rows = np.flatnonzero(wanted)
    texts: list[str | None] = [None] * found.n_rows
    for row, reasons in zip(rows, found.reasons(rows.tolist()), strict=True):
        texts[row] = "; ".join(say_reason(reason, reason.column in found.hidden) for reason in reasons)
    return texts
