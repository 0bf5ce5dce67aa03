"""Groups of outliers ("kinds"): flagged rows that share reasons.

A group is defined by one or two traits ("amount high", "country = PA"). Groups are chosen greedily:
the next one is that whose traits explain most of the scores of the remaining rows. A categorical
trait may be one value, or any value that is a reason; the latter is chosen if it explains clearly
more. The report groups the top-ranked rows; other flagged rows belong to the first of its groups
whose traits they have.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from odefs.inspection.explanation import Reason
from odefs.report.rows import collect_rows, foremost_rows, reason_record
from odefs.tables.messages.reasons import (
    Cell,
    KindRecord,
    ReasonRecord,
    RowRecord,
    SharedTraits,
    TraitRecord,
    kind,
)
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import extent_of, shown_names
from odefs.tables.writers.columns import KindNames

MAX_KINDS = 8
LEAST_ROWS = 1
LEAST_SHARE = 0.04
"""Smaller groups are merged under "other"."""
NARROW = 0.75
"""One value is preferred if it explains at least this share of what all values explain."""
NAMED_VALUES = 4
LEAST_REASON = 0.25
"""Minimum excess of a reason that is a trait, as a share of the top-ranked reason's: weaker reasons
of a row do not define its kind."""


class Trait(NamedTuple):
    """A direction, a value, or ``any`` value in a column."""

    column: str
    what: str
    value: Cell = None


def collect_kinds(rows: Sequence[RowRecord]) -> list[KindRecord]:
    """Group the flagged ``rows``, highest score first, and set ``kind`` of each row to its index.

    Each group has its ``traits``, the number of rows, and the indices of its records in ``rows``.
    """
    records = [_record(chosen, members, rows) for chosen, members in _choose_kinds(rows)]
    # Rows of no kind, which have no traits, come last.
    records.sort(key=lambda kind: (not kind["traits"], kind["members"][0]))
    kind_of = {i: number for number, record in enumerate(records) for i in record["members"]}
    for i, row in enumerate(rows):
        row["kind"] = kind_of.get(i)
    return records


def _choose_kinds(rows: Sequence[RowRecord]) -> Iterator[tuple[tuple[Trait, ...], list[int]]]:
    """Yield the traits of each kind with the indices of its rows; those left have no traits."""
    left = {i: _traits(row["reasons"]) for i, row in enumerate(rows) if row["flagged"]}
    least = max(LEAST_ROWS, LEAST_SHARE * sum(rows[i]["count"] for i in left))
    for _ in range(MAX_KINDS):
        chosen = _next_kind(left, rows, least)
        if chosen is None:
            break
        members = [i for i, found in left.items() if found.keys() >= set(chosen)]
        yield chosen, members
        for i in members:
            del left[i]
    if left:
        yield (), list(left)


def _traits(reasons: Sequence[ReasonRecord]) -> dict[Trait, float]:
    """Return the traits of a row with the share of the score that each explains."""
    found: dict[Trait, float] = {}
    for reason in reasons:
        if reason["excess"] < LEAST_REASON * reasons[0]["excess"]:
            continue
        column, share = reason["column"], max(reason["share"] or 0.0, 1e-9)
        if reason["hidden"]:
            found[Trait(column, "hidden")] = share
        elif reason["direction"] == "value":
            found[Trait(column, "value", reason["value"])] = share
            found[Trait(column, "any")] = share
        else:
            found[Trait(column, reason["direction"])] = share
    return found


def _next_kind(
    left: dict[int, dict[Trait, float]], rows: Sequence[RowRecord], least: float
) -> tuple[Trait, ...] | None:
    gains: dict[tuple[Trait, ...], float] = defaultdict(float)
    sizes: Counter[tuple[Trait, ...]] = Counter()
    for i, traits in left.items():
        for group in _groups(traits):
            gains[group] += rows[i]["count"] * sum(traits[trait] for trait in group)
            sizes[group] += rows[i]["count"]
    eligible = [group for group in gains if sizes[group] >= least]
    if not eligible:
        return None
    # Names decide ties, so that equal results give equal bytes.
    best = max(eligible, key=lambda group: (gains[group], -len(group), _text(group)))
    narrower = [
        group
        for group in eligible
        if _narrows(group, best) and gains[group] >= NARROW * gains[best]
    ]
    return max(narrower, key=lambda group: (gains[group], _text(group)), default=best)


def _groups(traits: dict[Trait, float]) -> Iterator[tuple[Trait, ...]]:
    # Sorted, so that both orders of a pair are the same group.
    ordered = sorted(traits, key=lambda trait: _text((trait,)))
    for trait in ordered:
        yield (trait,)
    for first, second in combinations(ordered, 2):
        if first.column != second.column:
            yield first, second


def _narrows(group: tuple[Trait, ...], wide: tuple[Trait, ...]) -> bool:
    """Whether ``group`` is ``wide`` with single values instead of "any"."""
    if group == wide or len(group) != len(wide):
        return False
    other = {trait.column: trait for trait in group}
    return all(
        trait.column in other
        and (
            other[trait.column] == trait
            or (trait.what == "any" and other[trait.column].what == "value")
        )
        for trait in wide
    )


def _text(group: tuple[Trait, ...]) -> list[tuple[str, str, str]]:
    return [(trait.column, trait.what, str(trait.value)) for trait in group]


def _record(chosen: Sequence[Trait], members: list[int], rows: Sequence[RowRecord]) -> KindRecord:
    explained: dict[Trait, float] = defaultdict(float)
    for i in members:
        for trait, share in _traits(rows[i]["reasons"]).items():
            explained[trait] += share * rows[i]["count"]
    ordered = sorted(chosen, key=lambda trait: (-explained[trait], trait.column))
    return {
        "traits": [_described(trait, members, rows) for trait in ordered],
        "count": sum(rows[i]["count"] for i in members),
        "highest": max(rows[i]["score"] for i in members),
        "members": members,
    }


def _usual(found: Sequence[tuple[ReasonRecord, int]]) -> list[Cell] | None:
    """Return usual values of similar ordinary rows: the union of ranges, or the most common one."""
    known = [(reason["usual"], count) for reason, count in found if reason["usual"] is not None]
    if not known:
        return None
    if found[0][0]["kind"] in ("number", "time"):
        # Infinite bounds are stored as None.
        lows, highs = (
            [bound for usual, _ in known if isinstance(bound := usual[end], int | float)]
            for end in (0, 1)
        )
        return [min(lows, default=None), max(highs, default=None)]
    votes = _counted((usual[0], count) for usual, count in known)
    most = max(votes, key=lambda value: (votes[value], str(value)))
    return {usual[0]: list(usual) for usual, _ in reversed(known)}[most]


def _described(trait: Trait, members: Sequence[int], rows: Sequence[RowRecord]) -> TraitRecord:
    """Return the trait with the values of its rows and of ordinary rows."""
    found = [
        (reason, rows[i]["count"])
        for i in members
        for reason in rows[i]["reasons"]
        if reason["column"] == trait.column
    ]
    record: TraitRecord = {
        "column": trait.column,
        "what": trait.what,
        "kind": found[0][0]["kind"],
    }
    if trait.what == "hidden":
        return record
    record["usual"] = _usual(found)
    if "unit" in found[0][0]:
        record["unit"] = found[0][0]["unit"]
    if trait.what in ("value", "any"):
        values = _counted((reason["value"], count) for reason, count in found)
        common = sorted(values, key=lambda value: (-values[value], str(value)))
        record |= {"values": common[:NAMED_VALUES], "distinct": len(common)}
    elif trait.what != "missing":
        numbers = [reason["value"] for reason, _ in found if reason["value"] is not None]
        record["range"] = [min(numbers), max(numbers)]
    return record


def _counted(pairs: Iterable[tuple[Cell, int]]) -> Counter[Cell]:
    counts: Counter[Cell] = Counter()
    for value, count in pairs:
        counts[value] += count
    return counts


def row_kinds(detection: TableDetection) -> KindNames:
    """Return a function that names the kinds of rows, those of the report where it lists them."""
    extent, hidden = extent_of(detection), detection.hidden
    groups = foremost_rows(detection, extent.order)
    records = collect_rows(detection, extent, groups, shown_names(detection)[1])
    kinds = collect_kinds(records)
    grouped = {
        int(extent.numbers[row]): kinds[record["kind"]]
        for group, record in zip(groups, records, strict=True)
        if record["kind"] is not None
        for row in group
    }

    def name(numbers: np.ndarray, reasons: Sequence[Sequence[Reason]]) -> list[str | None]:
        found: list[str | None] = []
        for row, why in zip(numbers.tolist(), reasons, strict=True):
            known: SharedTraits | None = grouped.get(row)
            if known is None and extent.is_outlier[row]:
                # Without usual values, which score files lack: the kind must not depend on them.
                plain = [reason_record(replace(reason, usual=None), hidden) for reason in why]
                known = _matching(kinds, plain)
            found.append(None if known is None else kind(known))
        return found

    return name


def _matching(kinds: Sequence[KindRecord], reasons: Sequence[ReasonRecord]) -> SharedTraits:
    for known in kinds:
        if known["traits"] and all(_has(trait, reasons) for trait in known["traits"]):
            return known
    return {"traits": []}


def _has(trait: TraitRecord, reasons: Sequence[ReasonRecord]) -> bool:
    for reason in reasons:
        if reason["column"] != trait["column"]:
            continue
        if reason["hidden"]:
            return bool(trait["what"] == "hidden")
        if trait["what"] == "any":
            return bool(reason["direction"] == "value")
        if trait["what"] == "value":
            return reason["direction"] == "value" and reason["value"] in trait["values"]
        return bool(reason["direction"] == trait["what"])
    return False
