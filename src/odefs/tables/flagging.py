"""Which rows are flagged, and by what convention. None of the conventions promises an error rate."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.engines.out_of_core import Folder
from odefs.exceptions import TableError
from odefs.kernels.row_reductions import fill, order_statistic, percentile
from odefs.system.file_arrays import FileArray

OF_NONE = {"their score exceeds": "no score exceeds", "they are the": "none is above the limit for the"}
"""How sentences about flagged rows read where there is none, and where there is one."""
OF_ONE = {
    "their score": "its score",
    "they are the": "it is the",
    "rows with the highest scores": "rows with the highest score",
    "they have the highest scores, as many as were asked for": "it has the highest score, as many rows as were asked for",
}


@dataclass(frozen=True, eq=False)
class Flagging:
    """Flagged rows score above ``threshold``; ``convention`` says how it was chosen."""

    is_outlier: np.ndarray
    threshold: float
    convention: str


def flag_rows(
    scores: np.ndarray,
    default: float,
    model_contamination: Any,
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
    trained: bool = False,
) -> Flagging:
    """At most one of the last three may be given; without any, the model's own threshold ``default`` counts."""
    given = [
        name
        for name, v in (("contamination", contamination), ("threshold", threshold), ("flag", flag))
        if v is not None
    ]
    if len(given) > 1:
        raise TableError(f"{' and '.join(given)} contradict each other: give one of them.")
    if threshold is not None:
        return _above(scores, float(threshold), "their score exceeds the threshold that was given")
    if contamination is not None:
        if not 0 < contamination <= 0.5:
            raise TableError(f"contamination={contamination} must lie above 0 and not above 0.5.")
        limit = percentile(scores, 100 * (1 - contamination))
        return _above(
            scores,
            limit,
            f"they are the {contamination:.4g} share of the rows with the highest scores, as was asked for",
        )
    if flag is not None:
        if not isinstance(flag, numbers.Integral) or isinstance(flag, bool) or flag < 1:
            raise TableError(f"flag={flag!r} must be a whole number of at least 1.")
        lowest = order_statistic(scores, scores.size - min(flag, scores.size))
        return _above(
            scores,
            float(np.nextafter(lowest, -np.inf)),
            "they have the highest scores, as many as were asked for, with ties",
        )
    where = " of the training rows' scores" if trained else " of all scores"
    if model_contamination == "auto":
        return _above(scores, default, f"their score exceeds mean + 2 std{where} (a convention, not an error rate)")
    return _above(scores, default, f"their score exceeds what a {model_contamination:.4g} share{where} exceeds")


def _above(scores: np.ndarray, threshold: float, convention: str) -> Flagging:
    """One truth value for each score, in a file where the scores are in one."""
    in_file = isinstance(scores, FileArray)
    out = Folder().array(scores.shape, bool) if in_file else np.empty(scores.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        flags = fill(out, lambda part: scores[part] > threshold)
    wording = {0: OF_NONE, 1: OF_ONE}.get(int(np.count_nonzero(flags)), {})
    for many, few in wording.items():
        convention = convention.replace(many, few)
    return Flagging(flags, threshold, convention)
