"""Records of the report's summary that messages are made of: plain values that JSON can hold."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

Cell = str | int | float | bool | None
"""A value that JSON can hold."""


class ReasonRecord(TypedDict):
    """A reason; of a hidden column only name and weight are known."""

    column: str
    kind: str
    hidden: bool
    contribution: float
    excess: float
    share: float | None
    group: NotRequired[dict[str, Cell]]
    value: NotRequired[Cell]
    percentile: NotRequired[float | None]
    equal: NotRequired[float | None]
    frequency: NotRequired[float | None]
    usual: NotRequired[list[Cell] | None]
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
    kind: NotRequired[int | None]
