"""Encoder state from a model file, validated: a valid state can encode any table with its columns.

Every error is a :class:`~odefs.exceptions.ModelFileError` with a message of one sentence.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from itertools import pairwise
from typing import Any, TypeGuard, get_args

from odefs.persist.header_values import (
    as_list,
    as_object,
    need,
    need_count,
    need_number,
    require,
    to_plain,
)
from odefs.tables.encoder.encode import MAX_ENCODED, ColumnSpec
from odefs.tables.encoder.groups import Groups
from odefs.tables.encoder.text_formats import format_named
from odefs.tables.frames.columns import Kind
from odefs.tables.records.notes import Exclusion, ExclusionKind

NAMES = ("number", "category", "drop", "keep", "by")
PARAMETERS = {*NAMES, "na", "max_categories", "mark_missing", "keep_missing"}
OF_GROUPS = ("centres", "scales", "group_units", "group_usual")
OF_DISTRIBUTION = ("cuts", "below")
SMALLEST_HOUR_UNIT = 1e-12
"""Lower bound for the unit of the time of day, so that a day in this unit fits into float32."""


@dataclass(frozen=True, eq=False)
class EncoderState:
    """The parts of an encoder."""

    parameters: dict[str, Any]
    specs: tuple[ColumnSpec, ...]
    left_out: dict[str, Exclusion]
    columns: list[str]
    groups: Groups | None = None


def write_state(known: EncoderState) -> dict[str, object]:
    """Plain values of an encoder, from which :func:`read_state` restores its parts."""
    # Without groups, earlier versions can read the file: they do not know the parameter.
    given = {name: v for name, v in known.parameters.items() if name != "by" or v}
    found: dict[str, object] = {
        "parameters": {name: to_plain(_listed(value), name) for name, value in given.items()},
        "specs": [_spec_state(spec) for spec in known.specs],
        "left_out": {name: asdict(why) for name, why in known.left_out.items()},
        "columns": known.columns,
    }
    groups = known.groups
    return found if groups is None else found | {"groups": [list(name) for name in groups.names]}


def _listed(value: object) -> object:
    """A list of the names in any container (set, index, array)."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def _spec_state(spec: ColumnSpec) -> dict[str, object]:
    """Plain values of a column; without groups and distribution where there are none."""
    found = {field.name: getattr(spec, field.name) for field in fields(spec)}
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}
    plain |= {
        name: [list(values) for values in getattr(spec, name)]
        for name in ("group_units", "group_usual")
    }
    return {name: v for name, v in plain.items() if name not in (*OF_GROUPS, *OF_DISTRIBUTION) or v}


def read_state(stored: object) -> EncoderState:
    """Validate the parts of an encoder."""
    state = as_object(stored, "its encoder is not an object")
    columns = need(state, "columns", list)
    require(
        _texts(columns) and len(set(columns)) == len(columns),
        "the columns of its table are not unique names",
    )
    left_out = {name: _read_exclusion(why) for name, why in need(state, "left_out", dict).items()}
    specs = tuple(_read_spec(spec) for spec in need(state, "specs", list))
    used = [spec.name for spec in specs]
    require(used and len(set(used)) == len(used), "its encoder has no columns, or repeated ones")
    require(set(used) <= set(columns), "its encoder uses columns that its table does not have")
    parameters = _read_parameters(need(state, "parameters", dict))
    groups = _read_groups(state, tuple(parameters.get("by", ())))
    require(
        groups is None or (not {*groups.columns} & {*used} and {*groups.columns} <= {*columns}),
        "its group columns are encoded too, or are not columns of its table",
    )
    for spec in specs:
        require(_fits_groups(spec, groups), f"its column {spec.name!r} does not fit its groups")
    return EncoderState(parameters, specs, left_out, columns, groups)


def _read_groups(state: dict[str, object], by: tuple[str, ...]) -> Groups | None:
    """The known groups; files of versions without groups have none."""
    if not by:
        require("groups" not in state, "it has groups without group columns")
        return None
    names = need(state, "groups", list)
    are_names = all(
        type(name) is list
        and len(name) == len(by)
        and all(value is None or type(value) is str for value in name)
        for name in names
    )
    require(are_names, "its groups are not lists with a value for each group column")
    groups = Groups(by, tuple(tuple(name) for name in names))
    require(groups.names and len(set(groups.names)) == len(names), "its groups are not unique")
    return groups


def _fits_groups(spec: ColumnSpec, groups: Groups | None) -> bool:
    """Whether the column has one centre and scale, or one list of distances, for each group."""
    held = spec.centres, spec.scales, spec.group_units, spec.group_usual
    if groups is None:
        return not any(held)
    n_held = len(groups.names) + 1
    if len(spec.group_usual) != n_held:
        return False
    if spec.kind in ("number", "time"):
        numbers = len(spec.centres) == len(spec.scales) == n_held and not spec.group_units
        return numbers and all(scale > 0 for scale in spec.scales)
    return not spec.centres and not spec.scales and _fits_group_values(spec, n_held)


def _fits_group_values(spec: ColumnSpec, n_held: int) -> bool:
    """Whether categories or booleans have their usual value and distances in each group."""
    n_values = 2 if spec.kind == "boolean" else len(spec.levels) + 1
    if not all(place in range(n_values) and 0 <= share <= 1 for place, share in spec.group_usual):
        return False
    return (
        len(spec.group_units) == n_held
        and all(len(distances) == n_values for distances in spec.group_units)
        and all(0 <= one <= MAX_ENCODED for distances in spec.group_units for one in distances)
    )


def _read_exclusion(stored: object) -> Exclusion:
    problem = "a column that it left out has no reason"
    found: dict[str, Any] = as_object(stored, problem)
    require(found.keys() == {"kind", "share"}, problem)
    kind, share = found["kind"], found["share"]
    require(
        kind in get_args(ExclusionKind),
        "a column that it left out has an unknown reason",
    )
    is_share = share is None or (_is_number(share) and 0 <= share <= 1)
    require(is_share, "the missing cells of a column that it left out are not a share")
    return Exclusion(kind, share)


def _read_parameters(found: dict[str, object]) -> dict[str, Any]:
    require(
        found.keys() <= PARAMETERS, "its encoder has parameters that this version does not know"
    )
    read = dict(found)
    for name in (name for name in NAMES if name in found):
        require(
            _texts(need(found, name, list)),
            f"the parameter {name!r} of its encoder is not a list of names",
        )
    if "na" in found:
        fine = all(type(word) is str or _is_number(word) for word in need(found, "na", list))
        require(fine, "the parameter 'na' of its encoder is not a list of words and numbers")
    if "max_categories" in found:
        need_count(found, "max_categories", 2, 2**31)
    for name in ("mark_missing", "keep_missing"):
        if name in found:
            read[name] = _read_boolean(found, name)
    return read


def _require_fields(found: dict[str, object]) -> None:
    # Fields added after the first version have a default, which older files get.
    parts = {
        field.name: field.default is MISSING and field.default_factory is MISSING
        for field in fields(ColumnSpec)
    }
    needed = {name for name, is_needed in parts.items() if is_needed}
    require(needed <= found.keys() <= parts.keys(), "a column of its encoder has unknown fields")


def _is_format(style: str, kind: str) -> bool:
    """Whether a column of a kind may have a text format; the empty one is none."""
    if not style:
        return True
    found = format_named(style)
    return found is not None and (kind not in ("number", "time") or found.kind == kind)


def _read_spec(stored: object) -> ColumnSpec:
    found = as_object(stored, "a column of its encoder is not an object")
    _require_fields(found)
    name, kind, style = (
        need(found, "name", str),
        need(found, "kind", str),
        need(found, "style", str),
    )
    require(kind in get_args(Kind), f"its column {name!r} is of an unknown kind")
    require(_is_format(style, kind), f"its column {name!r} has an unknown text format")
    levels, units = need(found, "levels", list), need(found, "units", list)
    require(
        _texts(levels) and len(set(levels)) == len(levels),
        f"the categories of its column {name!r} are not unique texts",
    )
    require(
        all(_is_number(unit) for unit in units), f"the units of its column {name!r} are not numbers"
    )
    low, high = need_number(found, "low"), need_number(found, "high")
    share = need_number(found, "missing_share")
    fill = need_number(found, "fill")
    require(low <= fill <= high and 0 <= share <= 1, f"the range of its column {name!r} is invalid")
    require(
        kind != "boolean" or 0 <= low <= high <= 1,
        f"the range of its column {name!r} is not that of booleans",
    )
    spec = ColumnSpec(
        name,
        kind,  # type: ignore[arg-type]
        style,
        tuple(levels),
        need_count(found, "grouped", 0, 2**40),
        fill,
        need(found, "fill_level", str),
        tuple(float(unit) for unit in units),
        _read_boolean(found, "marks_missing"),
        _read_boolean(found, "by_hour"),
        low,
        high,
        share,
        need_number(found, "sigma") if "sigma" in found else 0.0,
        _numbers(found.get("centres", []), name),
        _numbers(found.get("scales", []), name),
        _number_lists(found.get("group_units", []), name),
        tuple((low, high) for low, high in _pairs(found.get("group_usual", []), name)),
        *_read_distribution(found, name),
    )
    require(_can_encode(spec), f"its column {name!r} cannot be encoded as specified")
    return spec


def _read_distribution(
    found: Mapping[str, object], name: str
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Cut points and counts, both ascending; none in files of older versions."""
    problem = f"the distribution of its column {name!r} is invalid"
    cuts = _numbers(found.get("cuts", []), name, problem)
    below = tuple(map(int, _numbers(found.get("below", []), name, problem)))
    ascends = all(low <= high for one in (cuts, below) for low, high in pairwise(one))
    fits = len(below) == (len(cuts) + 1 if cuts else 0)
    require(ascends and fits and (not below or 0 <= below[0] < below[-1]), problem)
    return cuts, below


def _numbers(stored: object, name: str, problem: str = "") -> tuple[float, ...]:
    problem = problem or f"the groups of its column {name!r} are not described by numbers"
    found = as_list(stored, problem)
    numbers = [float(value) for value in found if _is_number(value)]
    require(len(numbers) == len(found), problem)
    return tuple(numbers)


def _number_lists(stored: object, name: str) -> tuple[tuple[float, ...], ...]:
    found = as_list(stored, f"the groups of its column {name!r} are not described by lists")
    return tuple(_numbers(numbers, name) for numbers in found)


def _pairs(found: object, name: str) -> tuple[tuple[float, ...], ...]:
    pairs = _number_lists(found, name)
    are_pairs = all(len(pair) == 2 for pair in pairs)
    require(are_pairs, f"what is usual in the groups of its column {name!r} are not pairs")
    return pairs


def _can_encode(spec: ColumnSpec) -> bool:
    """Whether the fields are consistent: one unit per encoded column, two for booleans, finite."""
    n_units = len(spec.feature_names()) + (spec.kind == "boolean")
    if len(spec.units) != n_units or not _fits_kind(spec):
        return False
    if spec.kind == "category":
        filled = spec.marks_missing or spec.fill_level in spec.levels
        return bool(spec.levels) and filled and _are_encoded(spec.units)
    return not spec.levels and not spec.grouped and _can_encode_numbers(spec)


def _fits_kind(spec: ColumnSpec) -> bool:
    """Whether only numbers and times have a spread, only times an hour, texts no distribution."""
    has_spread = spec.sigma != 0
    if spec.sigma < 0 or (has_spread and spec.kind not in ("number", "time")):
        return False
    if spec.cuts and spec.kind not in ("number", "boolean"):
        return False
    return not spec.by_hour or spec.kind == "time"


def _can_encode_numbers(spec: ColumnSpec) -> bool:
    n_divided = 0 if spec.kind == "boolean" else 1 + spec.by_hour
    divided, others = spec.units[:n_divided], spec.units[n_divided:]
    smallest = (0.0, SMALLEST_HOUR_UNIT)
    can_divide = all(unit > least for unit, least in zip(divided, smallest, strict=False))
    return can_divide and _are_encoded(others)


def _are_encoded(values: Sequence[float]) -> bool:
    """Whether all are numbers that encoded cells may have."""
    return all(0 <= value <= MAX_ENCODED for value in values)


def _texts(values: list[object]) -> bool:
    return all(type(value) is str for value in values)


def _is_number(value: object) -> TypeGuard[float]:
    # By type, not isinstance: booleans are integers, too. JSON may have integers that no float can
    # hold, for which ``isfinite`` raises an error.
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _read_boolean(found: Mapping[str, object], key: str) -> bool:
    """Return a boolean, which may also be stored as 0 or 1."""
    value = found.get(key)
    require(
        type(value) in (bool, int) and value in (0, 1),
        f"{key!r} of its encoder is not a boolean",
    )
    return bool(value)
