"""Flagging: which rows score above a threshold, and the convention that chose it."""

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from odefs.engines.out_of_core import Folder
from odefs.ensemble.flag_threshold import FEWEST_ROWS, clear_outliers
from odefs.ensemble.model import FLAG_RATE
from odefs.exceptions import TableError
from odefs.kernels.row_reductions import fill, order_statistic, percentile, row_chunks
from odefs.models.base import OutlierModel
from odefs.models.constraints import Number
from odefs.system.tempfiles import FileArray
from odefs.tables.records.checks import ValueCheck
from odefs.tables.records.notes import FlagConvention

SHARE, FINITE = Number(0, 0.5, open_low=True), Number(-math.inf)


@dataclass(frozen=True, eq=False)
class Flagging:
    """Rows scoring above ``threshold``, which was chosen by ``convention``."""

    is_outlier: np.ndarray
    threshold: float
    convention: FlagConvention


def model_convention(model: OutlierModel, by_training: bool = False) -> FlagConvention:
    """Return the convention of a fitted model; ``by_training`` if it scores another table."""
    rule = _rule_of(model)
    is_small = model.fit_info_["n_rows"] < FEWEST_ROWS
    if rule == "paper" and model.contamination == "auto" and is_small and not by_training:
        return FlagConvention("too_few_rows", n_rows=FEWEST_ROWS)
    if rule == "contamination":
        return FlagConvention(
            "model_contamination", share=float(model.contamination), by_training=by_training
        )
    if rule == "paper":
        return FlagConvention("paper", rate=FLAG_RATE, by_training=by_training)
    return FlagConvention(
        "auto",
        expected=float(model.max_false_flags),
        n_rows=int(model.fit_info_["n_rows"]),
        by_training=by_training,
    )


def _rule_of(model: OutlierModel) -> str:
    """Return the rule of the model's threshold; files of earlier versions do not name it."""
    earlier = "contamination" if isinstance(model.contamination, float) else "paper"
    return str(model.fit_info_.get("flag_rule", earlier))


def flag_rows(
    scores: np.ndarray,
    default: float,
    convention: FlagConvention,
    contamination: float | None = None,
    threshold: float | None = None,
    flag: int | None = None,
) -> Flagging:
    """Flag by ``contamination``, ``threshold`` or ``flag``, at most one of which may be given.

    By default the threshold is ``default``, which the model chose by ``convention``. No row of a
    table that is too small for a rule of its own is flagged by default.
    """
    require_one_rule(contamination, threshold, flag)
    if threshold is not None:
        return _above(scores, float(threshold), FlagConvention("threshold"))
    if contamination is not None:
        limit = percentile(scores, 100 * (1 - contamination))
        return _above(scores, limit, FlagConvention("contamination", share=float(contamination)))
    if flag is not None:
        # Rows above the threshold are flagged, so it lies just below the last one wanted.
        lowest = order_statistic(scores, scores.size - min(flag, scores.size))
        return _above(
            scores, float(np.nextafter(lowest, -np.inf)), FlagConvention("top", count=int(flag))
        )
    # No row is above the highest score.
    if convention.kind == "too_few_rows":
        highest = float(np.nanmax(scores)) if not np.isnan(scores).all() else default
        return _above(scores, highest, convention)
    return _with_clear_outliers(scores, _above(scores, default, convention))


def _with_clear_outliers(scores: np.ndarray, flagging: Flagging) -> Flagging:
    """Add how clearly the rows stand out, if they are no more than in a table without outliers.

    The threshold is never above the highest score of the training rows, so that their number alone
    does not distinguish an outlier from the highest of ordinary scores.
    """
    rule, flags = flagging.convention, flagging.is_outlier
    found = None
    if _is_chosen_by_scores(rule):
        n_flagged = _n_flagged(flags)
        if 0 < n_flagged <= (rule.expected or 0.0):
            found = clear_outliers(scores, n_flagged)
    clear, margin = (None, None) if found is None else (found.count, found.margin)
    return replace(flagging, convention=replace(rule, clear=clear, margin=margin))


def with_extreme_values(flagging: Flagging, checks: Iterable[ValueCheck]) -> Flagging:
    """Count flagged rows with a value far from all others as clear outliers, if no score is far.

    A score grows slowly with the distance of one value among many columns, so that such a row may
    score little more than the next.
    """
    rule = flagging.convention
    if not _is_chosen_by_scores(rule) or rule.clear is not None:
        return flagging
    far = {row for check in checks if check.kind == "extreme_value" for row in check.rows}
    clear = sum(bool(flagging.is_outlier[row]) for row in far)
    if not clear or _n_flagged(flagging.is_outlier) > (rule.expected or 0.0):
        return flagging
    return replace(flagging, convention=replace(rule, clear=clear))


def _is_chosen_by_scores(rule: FlagConvention) -> bool:
    """Whether the threshold was chosen by the scores of the very rows that it flags."""
    return rule.kind == "auto" and not (rule.by_training or rule.before_answers)


def _n_flagged(flags: np.ndarray) -> int:
    return sum(int(np.count_nonzero(flags[part])) for part in row_chunks(flags.size))


def require_one_rule(
    contamination: float | None,
    threshold: float | None,
    flag: int | None,
    max_false_flags: float | None = None,
    model: OutlierModel | None = None,
) -> None:
    """Raise TableError unless at most one rule is given, with a possible value.

    The parameters of an unfitted ``model`` may be that rule.
    """
    choices = {
        "contamination": contamination,
        "threshold": threshold,
        "flag": flag,
        "max_false_flags": max_false_flags,
    }
    given = [name for name, value in choices.items() if value is not None]
    if given and model is not None:
        given += [f"{name} of the model" for name in _own_rules(model)]
    if len(given) > 1:
        raise TableError(f"{' and '.join(given)} contradict each other: give one of them.")
    if contamination is not None and not SHARE.allows(contamination):
        raise TableError(
            f"contamination={contamination!r} must be a share of the rows, above 0 and at most "
            "0.5, such as 0.05."
        )
    if threshold is not None and not FINITE.allows(threshold):
        raise TableError(f"threshold={threshold!r} must be a finite number.")
    if flag is not None and (
        not isinstance(flag, numbers.Integral) or isinstance(flag, bool) or flag < 1
    ):
        raise TableError(f"flag={flag!r} must be a whole number of at least 1.")


def _own_rules(model: OutlierModel) -> list[str]:
    """Return the parameters by which a model was given a rule of its own."""
    # Not "paper", which is a part of ODEFS.paper() that another rule may replace.
    is_share = not isinstance(model.contamination, str)
    is_number = model.max_false_flags != OutlierModel.max_false_flags
    return [*(["contamination"] * is_share), *(["max_false_flags"] * is_number)]


def _above(scores: np.ndarray, threshold: float, convention: FlagConvention) -> Flagging:
    """Return one boolean per score, file-backed if the scores are."""
    in_file = isinstance(scores, FileArray)
    out = Folder().array(scores.shape, bool) if in_file else np.empty(scores.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        flags = fill(out, lambda part: scores[part] > threshold)
    return Flagging(flags, threshold, convention)
