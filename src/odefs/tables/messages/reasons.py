"""Messages on why a row is outlying.

The terminal and score files use :class:`~odefs.inspection.explanation.Reason` objects; HTML and
Markdown reports use the same reasons as records of the report's summary: typed dictionaries of
values that JSON can hold, together with rows and groups of rows.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from odefs.tables.frames.columns import SECONDS_PER_DAY
from odefs.tables.messages.values import (
    HIDDEN,
    MISSING,
    listed,
    percent,
    shortened,
    span,
    value,
    without_controls,
)

if TYPE_CHECKING:
    from odefs.inspection.explanation import Reason


Cell = str | int | float | bool | None
"""A value that JSON can hold."""
UNLIMITED = sys.maxsize
MIN_EXTREME = 90
"""Percentage of less extreme values from which on a value is compared with the most extreme one."""
UNSEEN = "never seen in training"
NO_REASON = "no column contributes more than usual to the score"
"""For rows without a reason. Some of their values may be rare all the same."""


class ReasonRecord(TypedDict):
    """A reason; of a hidden column only name and weight are known."""

    column: str
    kind: str
    hidden: bool
    contribution: float
    excess: float
    share: float | None
    group: NotRequired[dict[str, Cell]]
    alone: NotRequired[bool]
    """Whether the row is the only one of its group; absent otherwise."""
    value: NotRequired[Cell]
    percentile: NotRequired[float | None]
    equal: NotRequired[float | None]
    frequency: NotRequired[float | None]
    usual: NotRequired[list[Cell] | None]
    of_training: NotRequired[bool]
    """Whether these describe the training rows of a model, not the rows of this table."""
    unit: NotRequired[str]
    """Unit of the numbers, if the table has one in its cells; fractions are shown as %. The time
    zone of times."""
    direction: NotRequired[str]
    """high, low, within (the usual range), missing, or value (for unordered values)."""


class TraitRecord(TypedDict):
    """What the rows of a group share, with their values and those of ordinary rows."""

    column: str
    what: str
    kind: str
    usual: NotRequired[list[Cell] | None]
    values: NotRequired[list[Cell]]
    distinct: NotRequired[int]
    range: NotRequired[list[Cell]]
    unit: NotRequired[str]


class SharedTraits(TypedDict):
    """What describes a group of outliers; rows without a group share nothing."""

    traits: Sequence[TraitRecord]


class KindRecord(SharedTraits):
    """A group of outliers; ``members`` are indices of the listed rows."""

    count: int
    highest: float
    members: list[int]


class RowRecord(TypedDict):
    """A listed row; ``place`` is its position by score, ``kind`` the index of its group."""

    row: int
    name: Cell
    score: float
    rank: int
    percentile: float | None
    p_value: float | None
    place: int
    agreement: float | None
    flagged: bool
    count: int
    twins: list[Cell]
    reasons: list[ReasonRecord]
    checks: str | None
    """Its values to check, as in files of scores."""
    kind: NotRequired[int | None]


def reason_text(reason: "Reason", hidden: bool = False) -> str:
    """Return ``amount = 1426.89`` in one line, whatever characters names and values contain."""
    context = reason.usual if reason.kind == "time" and reason.usual else ()
    cell = (
        "(missing)"
        if reason.value is None
        else value(reason.value, reason.kind, context=context, unit=reason.unit)
    )
    return without_controls(f"{reason.column} = {HIDDEN if hidden else cell}")


def needs_usual(kind: str, cell: Any) -> bool:
    """Whether :func:`reason_text` depends on usual values: they tell times of day from dates."""
    return kind == "time" and cell is not None and 0 <= cell < SECONDS_PER_DAY


def reason_texts(reasons: "Sequence[Reason]", hidden: frozenset[str] = frozenset()) -> list[str]:
    """The same for all reasons of a row, with what is usual in its group if it has one.

    Only the first reason names the group, or says that it has no other row.
    """
    texts: list[str] = []
    is_named = False
    for reason in reasons:
        text = reason_text(reason, reason.column in hidden)
        if reason.alone and reason.group is not None:
            shown = {name: cell for name, cell in reason.group if name not in hidden}
            texts.append(without_controls(text if texts else f"{text} ({_only_row(shown)})"))
            continue
        in_group = "" if reason.group is None else reason_usual(reason, hidden)
        if in_group and reason.usual is not None and reason.column not in hidden:
            if is_named:
                in_group = _usual_in_group({}, reason.usual, reason.kind, "", reason.unit)
            text, is_named = without_controls(f"{text} ({in_group})"), True
        texts.append(text)
    return texts


def reason_details(reason: "Reason", hidden: frozenset[str] = frozenset()) -> str:
    """Return the position of the value in its column, and the values of similar ordinary rows."""
    parts = [reason_place(reason), reason_usual(reason, hidden)]
    if reason.alone and reason.group is not None:
        parts.append(_only_row({name: cell for name, cell in reason.group if name not in hidden}))
    return "; ".join(part for part in parts if part)


def reason_place(reason: "Reason") -> str:
    """Return the position of the value in its column."""
    in_group = reason.group is not None and not reason.alone
    rows = _reference_rows(in_group, reason.of_training)
    if reason.percentile is not None and reason.beyond is not None:
        is_high = reason.percentile >= 50
        side, superlative = ("above", "highest") if is_high else ("below", "lowest")
        if reason.of_training:
            return _place_in_training(reason, side, superlative, rows)
        if reason.beyond == 100:  # The reference rows are a sample without the row itself.
            return f"among the {superlative} of all {rows}"
        return f"{side} {percent(reason.beyond / 100)} of the {rows}"
    if reason.frequency is not None:
        if reason.of_training and reason.frequency == 0:
            return UNSEEN
        return f"in {percent(reason.frequency)} of the {rows}"
    return ""


def _place_in_training(reason: "Reason", side: str, superlative: str, rows: str) -> str:
    """Return the position among training rows, of which a file knows certain bounds only."""
    beyond, equal = reason.beyond or 0.0, reason.equal or 0.0
    if beyond == 100:
        return f"{side} all {rows}"
    if is_as_extreme(beyond, equal):
        return f"as {'high' if side == 'above' else 'low'} as the {superlative} of the {rows}"
    return f"{side} at least {rounded_down(beyond)} of the {rows}"


def is_as_extreme(beyond: float, equal: float) -> bool:
    """Whether no value is more extreme, and few may be equal; both are percentages."""
    return beyond >= MIN_EXTREME and beyond + equal >= 100 - 1e-6


def rounded_down(points: float) -> str:
    """Format a percentage of which only a lower bound is known: at most that."""
    steps = 1 if points >= 10 else 10
    return f"{math.floor(steps * points + 1e-6) / steps:g}%"


def _reference_rows(in_group: bool, of_training: bool) -> str:
    """Return the rows among which the position of a value is found."""
    rows = "training rows" if of_training else "rows"
    return f"{rows} of its group" if in_group else rows


def reason_usual(reason: "Reason", hidden: frozenset[str] = frozenset()) -> str:
    """Return what ordinary rows that are similar, or of the same group, have in the column."""
    if reason.usual is None:
        return ""
    first, second = reason.usual
    if reason.group is not None:
        if _is_usual(reason.value, reason.usual, reason.kind):
            return ""
        shown = {name: cell for name, cell in reason.group if name not in hidden}
        return _usual_in_group(shown, reason.usual, reason.kind, unit=reason.unit)
    rows = _reference_rows(False, reason.of_training)
    if reason.kind in ("number", "time"):
        low, high = (
            value(bound, reason.kind, context=reason.usual, unit=reason.unit)
            for bound in (first, second)
        )
        return f"similar {rows} have {low if low == high else f'{low} to {high}'}"
    return f"{percent(second)} of similar {rows} have {value(first, reason.kind)}"


def _is_usual(own: object, usual: Sequence[Any], kind: str) -> bool:
    """Whether a value is all that is usual in its group, which then explains nothing."""
    compared = usual if kind in ("number", "time") else usual[:1]
    return all(own == one for one in compared)


def _usual_in_group(
    group: Mapping[str, object],
    usual: Sequence[Any],
    kind: str,
    otherwise: str = "in its group ",
    unit: str = "",
) -> str:
    """Return ``for store = Lyon usually 12 to 40``; hidden columns are not in ``group``.

    ``otherwise`` takes the place of a group that is empty.
    """
    named = _named_group(group)
    where = f"for {named} " if named else otherwise
    if kind in ("number", "time"):
        return f"{where}usually {span(usual, kind, 4, unit=unit)}"
    return f"{where}usually {value(usual[0], kind)}, {percent(usual[1])}"


def _named_group(group: Mapping[str, object]) -> str:
    """Return ``store = Lyon, weekday = (missing)``."""
    return ", ".join(
        f"{column} = {'(missing)' if cell is None else cell}" for column, cell in group.items()
    )


def _only_row(group: Mapping[str, object]) -> str:
    """Return that a group has no other row; hidden columns are not in ``group``."""
    named = _named_group(group)
    return f"the only row with {named}" if named else "the only row of its group"


def short_reasons(reasons: Sequence[ReasonRecord], longest: int = UNLIMITED) -> list[str]:
    """Return the reasons of a row, each as :func:`short_reason` does, with what its group has.

    Only the first one names the group.
    """
    texts: list[str] = []
    is_named = False
    for reason in reasons:
        text, in_group = short_reason(reason, longest), _short_group(reason, is_named)
        is_named = is_named or bool(in_group)
        if in_group:
            text = f"{text[:-1]}; {in_group})" if _has_direction(reason) else f"{text} ({in_group})"
        texts.append(text)
    return texts


def _short_group(reason: ReasonRecord, is_named: bool) -> str:
    """Return what is usual in the group of a row, or that it has no other row."""
    if reason["hidden"] or "group" not in reason:
        return ""
    if reason.get("alone"):
        return "" if is_named else _only_row(reason["group"])
    usual: Any = reason["usual"]
    if not usual or _is_usual(reason["value"], usual, reason["kind"]):
        return ""
    group, otherwise = ({}, "") if is_named else (reason["group"], "in its group ")
    return _usual_in_group(group, usual, reason["kind"], otherwise, reason.get("unit", ""))


def _has_direction(reason: ReasonRecord) -> bool:
    return reason["direction"] in ("high", "low")


def short_reason(reason: ReasonRecord, longest: int = UNLIMITED) -> str:
    """Return a reason in a few words, for tables; longer names and values are shortened."""
    column = shortened(reason["column"], longest)
    if reason["hidden"]:
        return f"{column} {HIDDEN}"
    if reason["direction"] == "missing":
        return f"{column} {MISSING}"
    text = f"{column} = {shortened(_own_value(reason), longest)}"
    return f"{text} ({reason['direction']})" if _has_direction(reason) else text


def sentence(reason: ReasonRecord, longest: int = UNLIMITED) -> str:
    """Return a reason as a sentence; longer names and values are shortened."""
    column = shortened(reason["column"], longest)
    part = f"{percent(min(1.0, max(0.0, reason['share'] or 0.0)))} of the score"
    if reason["hidden"]:
        return f"{column} {HIDDEN} contributes {part}."
    told = _usual(reason) if reason["usual"] else ""
    if "group" in reason and reason.get("alone"):
        told = _only_row(reason["group"])
    usual = f"; {told}" if told else ""
    own = shortened(_own_value(reason), longest)
    text = f"{column} is {own}, {_place(reason)}{usual}."
    return f"{text} It contributes {part}."


def _own_value(reason: ReasonRecord) -> str:
    usual = reason["usual"] if reason["kind"] == "time" else None
    unit = reason.get("unit", "")
    return value(reason["value"], reason["kind"], context=usual or (), unit=unit)


def _usual(reason: ReasonRecord) -> str:
    usual: Any = reason["usual"]
    of, unit = reason["kind"], reason.get("unit", "")
    if "group" in reason:
        if _is_usual(reason["value"], usual, of):
            return ""
        return _usual_in_group(reason["group"], usual, of, unit=unit)
    rows = _reference_rows(False, reason["of_training"])
    if of in ("number", "time"):
        return f"similar ordinary {rows} have {span(usual, of, 4, unit=unit)}"
    return f"similar ordinary {rows} most often have {value(usual[0], of)} ({percent(usual[1])})"


def _place(reason: ReasonRecord) -> str:
    direction, at = reason["direction"], reason["percentile"]
    in_group = "group" in reason and not reason.get("alone")
    rows = _reference_rows(in_group, reason["of_training"])
    if direction in ("missing", "value"):
        return _rarity(reason["frequency"], rows, reason["of_training"])
    if direction == "within":
        return "not unusual by itself, but unusual given the rest of the row"
    share, comparative, superlative = (
        (at, "higher", "highest")
        if direction == "high"
        else (at if at is None else 100 - at, "lower", "lowest")
    )
    if share is None:
        return f"{comparative} than usual"
    # Equal values are neither lower nor higher.
    equal = reason["equal"] or 0.0
    beyond = round(share - equal / 2, 6)
    if reason["of_training"]:
        if beyond == 100:
            return f"{comparative} than all {rows}"
        if is_as_extreme(beyond, equal):
            return f"as {direction} as the {superlative} of the {rows}"
        return f"{comparative} than at least {rounded_down(beyond)} of {rows}"
    if beyond >= 99.95:
        return f"among the {superlative} of all {rows}"
    return f"{comparative} than {math.floor(10 * beyond) / 10:g}% of {rows}"


def _rarity(frequency: float | None, rows: str, of_training: bool) -> str:
    """Return how often a value without an order, or a missing one, occurs among ``rows``."""
    if frequency is None:
        return "a rare case"
    if frequency == 0 and of_training:
        return UNSEEN
    return f"as in {percent(frequency)} of {rows}"


def trait(record: TraitRecord, longest: int = UNLIMITED) -> str:
    """Return what the rows of a group share: "amount high", "country = PA or SG"."""
    column, what = shortened(record["column"], longest), record["what"]
    if what == "hidden":
        return f"{column} {HIDDEN}"
    if what in ("value", "any"):
        if record["distinct"] > len(record["values"]):
            return f"rare {column}"
        values = [shortened(value(one, record["kind"]), longest) for one in record["values"]]
        return f"{column} = {listed(values, 'or')}"
    return f"{column} {({'within': 'unusual for the row'}).get(what, what)}"


def kind(record: SharedTraits, longest: int = UNLIMITED) -> str:
    """Return the description of a group of outliers; longer names and values are shortened."""
    traits = [trait(one, longest) for one in record["traits"]]
    return listed(traits) if traits else "other reasons"


def kind_details(record: SharedTraits, longest: int = UNLIMITED) -> list[str]:
    """Return, for each trait, the values of its rows and of comparable ones.

    These are ordinary rows that are similar otherwise or belong to the same group: what they have
    may be far from what most rows of the table have.
    """
    return [
        f"{shortened(one['column'], longest)}: {line}"
        for one in record["traits"]
        if (line := _trait_details(one))
    ]


def _trait_details(one: TraitRecord) -> str:
    of, usual = one["kind"], one.get("usual")
    unit = one.get("unit", "")
    if one.get("range"):
        return span(one["range"], of, context=usual or (), unit=unit) + (
            f"; in comparable rows {span(usual, of, 4, unit=unit)}" if usual else ""
        )
    if one["what"] not in ("value", "any"):
        return ""
    unnamed = one["distinct"] - len(one["values"])
    parts = (
        [f"{', '.join(value(each, of) for each in one['values'])} and {unnamed:,} more"]
        if unnamed
        else []
    )
    parts += [f"comparable rows usually have {value(usual[0], of)}"] if usual else []
    return "; ".join(parts)
