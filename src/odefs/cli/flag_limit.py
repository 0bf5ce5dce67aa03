"""Limit on flagged rows, ``--max-flagged``: a share (0.02, 5%), or a multiple of training (2x)."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs.cli import options
from odefs.cli.scoring import open_table_model
from odefs.cli.terminal.messages import say_limit

if TYPE_CHECKING:
    from odefs.cli.scoring import Scored
    from odefs.tables.model_files.tables import TableModel

TOO_MANY = 3
"""Exit code if more rows are flagged than allowed."""


@dataclass(frozen=True)
class Limit:
    """A limit as given: a share of the rows, or a multiple of the share flagged in training."""

    given: str
    share: float | None = None
    times: float | None = None


class LimitType(click.ParamType):
    """``0.02``, ``5%`` or ``2x``."""

    name = "limit"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Limit:
        # click passes defaults and values from Python through convert() as well.
        if isinstance(value, Limit):
            return value
        text = str(value).strip()
        # An empty text has an empty last character, which is in every text: its unit is empty.
        unit = text[-1:].lower() if text[-1:] in "%xX" else ""
        try:
            number = float(text.removesuffix(text[-1:]) if unit else text)
        except ValueError:
            # NaN fails both comparisons below, as the text 'nan' does.
            number = math.nan
        if unit == "x" and 0 < number < math.inf:
            return Limit(text, times=number)
        share = number / 100 if unit == "%" else number
        if unit != "x" and 0 <= share <= 1:
            return Limit(text, share=share)
        raise click.BadParameter(
            f"{text!r} is not a share of the rows from 0 to 1 (0.02), a percentage (5%), "
            "or a multiple of the share flagged in training (2x)."
        )


def require_comparable(limit: Limit | None, flagging: options.Flagging) -> None:
    """Reject a multiple if the number of flagged rows is fixed, before anything is read."""
    fixed = {"--contamination": flagging.contamination, "--flag": flagging.flag}
    given = [name for name, value in fixed.items() if value is not None]
    if limit is not None and limit.times is not None and given:
        raise click.UsageError(
            f"--max-flagged {limit.given} compares with training, but {given[0]} fixes the number "
            "of flagged rows: give only one of them."
        )


def allowed_share(limit: Limit | None, model: Path, threshold: float | None) -> float | None:
    """Share of flagged rows that the limit allows; a multiple is resolved from the model file."""
    if limit is None or limit.times is None:
        return None if limit is None else limit.share
    before = open_table_model(model).share_above(threshold)
    if before is None:
        from odefs.exceptions import ModelFileError

        why = (
            "the model was saved by an older version, which did not store the share of training "
            "rows above its threshold"
            if threshold is None
            else f"the share of training rows above --threshold {threshold} is not stored in it"
        )
        raise ModelFileError(
            f"{model}: --max-flagged {limit.given} cannot be computed because {why}; "
            "give a share such as 0.05, or fit the model again."
        )
    return limit.times * before


def share_in_training(model: "TableModel", threshold: float | None) -> float:
    """Share of training rows above the threshold, or the share flagged in training if unknown."""
    known = model.share_above(threshold)
    return model.flagged_share if known is None else known


def flags_many_more(scored: "Scored", flagging: options.Flagging) -> bool:
    """Whether far more rows are flagged than in training; unknown if their number is fixed."""
    from odefs.tables import drift

    model, found = scored.model, scored.found
    is_fixed = flagging.contamination is not None or flagging.flag is not None
    before = None if is_fixed or found.reference else model.share_above(flagging.threshold)
    n_before = model.model.fit_info_.get("n_rows", 0)
    return before is not None and drift.flags_many_more(
        found.n_flagged, found.n_rows, before, n_before
    )


def as_plain_limit(
    limit: Limit | None, allowed: float | None, flagged: float
) -> dict[str, object] | None:
    """The limit in the JSON document."""
    if limit is None or allowed is None:
        return None
    return {"given": limit.given, "allowed": allowed, "exceeded": flagged > allowed}


def exit_if_exceeded(limit: Limit | None, allowed: float | None, flagged: float) -> None:
    """Exit with code 3 if more rows are flagged than allowed."""
    if limit is None or allowed is None or flagged <= allowed:
        return
    from odefs.tables.messages import too_many_flagged

    multiple = limit.given if limit.times is not None else None
    say_limit(too_many_flagged(flagged, allowed, multiple), TOO_MANY)
    raise SystemExit(TOO_MANY)
