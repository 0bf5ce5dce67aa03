"""What detectors have learned, as arrays: a generic encoding, and for the built-in states the
checks that make them safe to score with.

A state is a dataclass (or a tuple) of arrays, numbers, strings and None. The file names no class:
built-in states come from the table below, those of a custom detector from what its ``prepare`` is
annotated to return, or else as an object with the same attributes.
"""

import dataclasses
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.detectors.isolation_trees import IForestState
from odefs.detectors.lesinn import LeSiNNState
from odefs.detectors.tails import TailsState
from odefs.exceptions import ModelFileError
from odefs.persist.checks import Arrays, need, require
from odefs.persist.json_values import from_plain, to_plain

Restore = Callable[[dict[str, Any], int, float], Any]
"""From the fields of a state, the number of its columns and the largest scaled value to a checked
state.
"""


def put_state(state: Any, arrays: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    """Add the state's arrays under names that begin with ``name``, and return the rest as plain
    values.
    """
    for known, (kind, derived, _) in BUILT_IN_STATES.items():
        if type(state) is kind:
            return {"state": known, "fields": _put_fields(state, arrays, name, derived)}
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return {"state": "fields", "fields": _put_fields(state, arrays, name, frozenset())}
    if type(state) is SimpleNamespace:
        return {
            "state": "fields",
            "fields": {
                key: _put(value, arrays, f"{name}/{key}") for key, value in vars(state).items()
            },
        }
    return {"state": "value", "value": _put(state, arrays, name)}


def get_state(
    described: dict[str, Any],
    arrays: Arrays,
    name: str,
    detector: Detector,
    expected: str | None,
    n_columns: int,
    clip: float,
) -> Any:
    """The state of a detector; ``expected`` is the name of the state that a built-in one has."""
    kind = need(described, "state", str)
    require(
        expected is None or kind == expected,
        f"a state of kind {kind!r} does not belong to the detector {expected!r}",
    )
    if kind == "value":
        return _get(need(described, "value", dict), arrays, name)
    described_fields = need(described, "fields", dict)
    fine = all(key.isidentifier() and not key.startswith("__") for key in described_fields)
    require(fine, "a state has fields that no dataclass has")
    fields = {key: _get(node, arrays, f"{name}/{key}") for key, node in described_fields.items()}
    if kind == "fields":
        return _custom_state(detector, fields)
    require(kind in BUILT_IN_STATES, f"no state is of kind {kind!r}")
    state_class, derived, restore = BUILT_IN_STATES[kind]
    names = {field.name for field in dataclasses.fields(state_class)} - derived
    require(fields.keys() == names, f"a state of kind {kind!r} has other fields")
    state = restore(fields, n_columns, clip)
    if expected is not None:
        require(
            _as_large_as_set(detector, state),
            f"the detector {expected!r} and its state differ in size",
        )
    return state


def _as_large_as_set(detector: Any, state: Any) -> bool:
    """Whether the state of a built-in detector fits its settings: from these follows how many rows
    are scored at a time.
    """
    match state:
        case LeSiNNState():
            n_rows = state.rows.shape[0]
            return bool(
                state.n_subsets == detector.n_subsets
                and n_rows <= state.n_subsets * detector.subset_size
            )
        case IForestState():
            n_trees, n_inner = state.column.shape
            return bool(n_trees == detector.n_trees and n_inner < 2 * detector.subset_size)
        case _:
            return bool(state.sorted_values.shape[0] <= detector.n_references)


def _put_fields(
    state: Any, arrays: dict[str, np.ndarray], name: str, derived: frozenset[str]
) -> dict[str, Any]:
    return {
        field.name: _put(getattr(state, field.name), arrays, f"{name}/{field.name}")
        for field in dataclasses.fields(state)
        if field.name not in derived
    }


def _put(value: Any, arrays: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"is": "array"}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        # As an array, for its precision: float32 times such a number stays float32, or does not.
        arrays[name] = np.asarray(value)
        return {"is": "scalar"}
    if isinstance(value, tuple):
        return {
            "is": "tuple",
            "items": [_put(item, arrays, f"{name}/{i}") for i, item in enumerate(value)],
        }
    if value is None or type(value) in (bool, int, float, str):
        return {"is": "plain", "value": to_plain(value, name)}
    raise TypeError(
        f"A detector's state holds a value of type {type(value).__name__} ({name}); model files store states that are dataclasses or tuples of "
        "arrays, numbers, strings and None."
    )


def _get(described: Any, arrays: Arrays, name: str) -> Any:
    if not isinstance(described, dict):
        raise ModelFileError("its header describes a state by something else than an object.")
    match need(described, "is", str):
        case "array":
            return arrays.take(name)
        case "scalar":
            return arrays.take(name, shape=())[()]
        case "tuple":
            items = need(described, "items", list)
            return tuple(_get(item, arrays, f"{name}/{i}") for i, item in enumerate(items))
        case "plain":
            value = from_plain(described.get("value"))
            require(
                value is None or type(value) in (bool, int, float, str),
                "a state holds what it cannot hold",
            )
            return value
        case other:
            raise ModelFileError(
                f"its header describes a part of a state as {other!r}, which is unknown."
            )


def _custom_state(detector: Detector, fields: dict[str, Any]) -> Any:
    """An instance of the class that the detector's ``prepare`` is annotated to return, or a
    stand-in with the same attributes.
    """
    try:
        kind = typing.get_type_hints(type(detector).prepare).get("return")
    except Exception:  # annotations are the user's code
        kind = None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return SimpleNamespace(**fields)
    names = {field.name for field in dataclasses.fields(kind)}
    require(
        fields.keys() == names, f"the state of its detector has other fields than {kind.__name__}"
    )
    state = object.__new__(kind)
    for key, value in fields.items():
        object.__setattr__(state, key, value)
    return state


def _lesinn(fields: dict[str, Any], n_columns: int, clip: float) -> LeSiNNState:
    rows, n_subsets = fields["rows"], fields["n_subsets"]
    _require_array(rows, "f", (None, n_columns), "references")
    require(rows.dtype.itemsize >= 4, "references are too coarse")
    require(
        type(n_subsets) is int and 1 <= n_subsets <= rows.shape[0],
        "references do not make whole subsets",
    )
    require(rows.shape[0] % n_subsets == 0, "references do not make whole subsets")
    # NaN compares as false: missing cells pass, values that scaling would have clipped do not.
    require(
        not (np.abs(rows) > 1.001 * clip).any(), "references lie outside the range of scaled values"
    )
    return LeSiNNState(rows, n_subsets)


def _tails(fields: dict[str, Any], n_columns: int, clip: float) -> TailsState:
    values, observed = fields["sorted_values"], fields["observed"]
    _require_array(values, "f", (None, n_columns), "reference values")
    _require_array(observed, "i", (n_columns,), "counts of observed values")
    require(
        (observed == (~np.isnan(values)).sum(axis=0)).all(), "counts of observed values are wrong"
    )
    require(
        ((values[:-1] <= values[1:]) | np.isnan(values[1:])).all(),
        "reference values are not sorted",
    )
    return TailsState(values, observed)


def _iforest(fields: dict[str, Any], n_columns: int, clip: float) -> IForestState:
    column, threshold, credit = fields["column"], fields["threshold"], fields["path_credit"]
    _require_array(column, "i", (None, None), "split columns")
    n_trees, n_inner = column.shape
    depth = (n_inner + 1).bit_length() - 1
    # In heap order children come after their parents by construction; only the number of nodes can
    # be wrong.
    require(n_trees >= 1 and depth >= 1 and n_inner + 1 == 2**depth, "trees are not complete")
    _require_array(threshold, "f", (n_trees, n_inner), "thresholds")
    _require_array(fields["missing_right"], "b", (n_trees, n_inner), "branches of missing values")
    _require_array(credit, "f", (n_trees, n_inner + 1, depth), "path credits")
    require(
        (column >= 0).all() and (column < n_columns).all(),
        "trees split on columns that do not exist",
    )
    require(not np.isnan(threshold).any(), "thresholds are not numbers")
    require(
        np.isfinite(credit).all() and (credit >= 0).all(), "path credits are negative or not finite"
    )
    levels, leaves = np.arange(depth), np.arange(n_inner + 1)
    ancestors = 2**levels - 1 + (leaves[:, None] >> (depth - levels))
    return IForestState(
        column,
        threshold,
        fields["missing_right"],
        credit.sum(axis=2),
        np.ascontiguousarray(column[:, ancestors]),
        credit,
    )


def _require_array(value: Any, kinds: str, shape: tuple[int | None, ...], what: str) -> None:
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype.kind in kinds
        and value.ndim == len(shape)
        and all(
            length is None or length == given
            for length, given in zip(shape, value.shape, strict=True)
        )
    )
    require(fits, f"{what} are of the wrong type or shape")


BUILT_IN_STATES: dict[str, tuple[type, frozenset[str], Restore]] = {
    "lesinn": (LeSiNNState, frozenset(), _lesinn),
    "tails": (TailsState, frozenset(), _tails),
    "iforest": (IForestState, frozenset({"leaf_score", "path_column"}), _iforest),
}
"""By the detector's name: the class, the fields that are computed from the others and not stored,
and how to check and build it.
"""
