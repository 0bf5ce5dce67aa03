"""Learned states of detectors as arrays.

A generic encoding, with checks that make the built-in states safe to score with. A state is a
dataclass (or a tuple) of arrays, numbers, strings and None. The file names no class: built-in
states come from the table below, those of a custom detector from the return annotation of its
``prepare``, or else become an object with the same attributes.
"""

import dataclasses
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from odefs.detectors.base import Detector
from odefs.detectors.coupling import CouplingDetector, CouplingState
from odefs.detectors.iforest import IForestDetector, IForestState
from odefs.detectors.lesinn import LeSiNNDetector, LeSiNNState
from odefs.detectors.relations import RelationsDetector, RelationsState
from odefs.detectors.tails import TailsDetector, TailsState
from odefs.detectors.value_cuts import FEW_VALUES
from odefs.exceptions import ModelFileError
from odefs.persist.header_values import Arrays, from_plain, need, require, to_plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Restore = Callable[[dict[str, object], int], object]
"""Function from the fields of a state and its number of columns to a checked state."""

MAX_PRECISION = 1e12
"""Largest inverse correlation in a file; shrinkage bounds those of a fit by 1e4 per column."""


def put_state(state: object, arrays: dict[str, np.ndarray], name: str) -> dict[str, object]:
    """Add the state's arrays under names that start with ``name``, and return the rest as plain
    values.
    """
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        for known, (kind, derived, _) in BUILT_IN_STATES.items():
            if type(state) is kind:
                return {"state": known, "fields": _put_fields(state, arrays, name, derived)}
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
    described: dict[str, object],
    arrays: Arrays,
    name: str,
    detector: Detector,
    expected: str | None,
    n_columns: int,
    clip: float,
) -> Any:
    """Return the state of a detector.

    ``expected`` is the kind of state of a built-in detector, ``clip`` the largest scaled value.
    """
    kind = need(described, "state", str)
    require(
        expected is None or kind == expected,
        f"a state of kind {kind!r} does not match the detector {expected!r}",
    )
    if kind == "value":
        return _get(need(described, "value", dict), arrays, name)
    described_fields = need(described, "fields", dict)
    # Fields become attributes; names such as __class__ would change the object.
    fine = all(key.isidentifier() and not key.startswith("__") for key in described_fields)
    require(fine, "a state has fields with invalid names")
    fields = {key: _get(node, arrays, f"{name}/{key}") for key, node in described_fields.items()}
    if kind == "fields":
        return _custom_state(detector, fields)
    require(kind in BUILT_IN_STATES, f"the kind {kind!r} of a state is unknown")
    state_class, derived, restore = BUILT_IN_STATES[kind]
    names = {field.name for field in dataclasses.fields(state_class)} - derived
    require(fields.keys() == names, f"a state of kind {kind!r} has the wrong fields")
    state = restore(fields, n_columns)
    if isinstance(state, LeSiNNState):
        # NaN compares as false: missing cells pass, values that scaling would have clipped do not.
        is_beyond = (np.abs(state.rows) > 1.001 * clip).any()
        require(not is_beyond, "references lie outside the range of scaled values")
    if expected is not None:
        require(
            _matches_settings(detector, state),
            f"the state of the detector {expected!r} does not match its settings",
        )
    return state


def _matches_settings(detector: Detector, state: object) -> bool:
    """Return whether the state of a built-in detector matches its settings.

    The settings determine how many rows are scored at a time.
    """
    match detector, state:
        case LeSiNNDetector(), LeSiNNState():
            n_rows = state.rows.shape[0]
            return bool(
                state.n_subsets == detector.n_subsets
                and n_rows <= state.n_subsets * detector.subset_size
            )
        case IForestDetector(), IForestState():
            n_trees, n_inner = state.column.shape
            return bool(n_trees == detector.n_trees and n_inner < 2 * detector.subset_size)
        case TailsDetector(), TailsState():
            return bool(state.sorted_values.shape[0] <= detector.n_references)
        case CouplingDetector(), CouplingState():
            return bool(state.cuts.shape[0] <= max(FEW_VALUES, detector.n_bins))
        case RelationsDetector(), RelationsState():
            return True
        case _:
            return False


def _put_fields(
    state: "DataclassInstance", arrays: dict[str, np.ndarray], name: str, derived: frozenset[str]
) -> dict[str, object]:
    return {
        field.name: _put(getattr(state, field.name), arrays, f"{name}/{field.name}")
        for field in dataclasses.fields(state)
        if field.name not in derived
    }


def _put(value: object, arrays: dict[str, np.ndarray], name: str) -> dict[str, object]:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"is": "array"}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        # Stored as an array to keep its dtype, which decides whether a product with float32 stays
        # float32.
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
        f"A detector's state holds a value of type {type(value).__name__} ({name}); model files "
        "store states that are dataclasses or tuples of arrays, numbers, strings and None."
    )


def _get(described: object, arrays: Arrays, name: str) -> object:
    if not isinstance(described, dict):
        raise ModelFileError("its header has a part of a state that is not an object.")
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
                "a state holds a value of an unsupported type",
            )
            return value
        case other:
            raise ModelFileError(f"its header has a part of a state of the unknown kind {other!r}.")


def _custom_state(detector: Detector, fields: dict[str, object]) -> object:
    """Return an instance of the class that ``prepare`` is annotated to return.

    Without such an annotation, return an object with the same attributes.
    """
    try:
        kind = typing.get_type_hints(type(detector).prepare).get("return")
    except Exception:  # annotations are user code, which may raise anything
        kind = None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return SimpleNamespace(**fields)
    names = {field.name for field in dataclasses.fields(kind)}
    require(
        fields.keys() == names,
        f"the state of its detector does not have the fields of {kind.__name__}",
    )
    # Without __init__ and __post_init__: loading runs no code of the class.
    state = object.__new__(kind)
    for key, value in fields.items():
        object.__setattr__(state, key, value)
    return state


def _lesinn(fields: dict[str, object], n_columns: int) -> LeSiNNState:
    rows = _array(fields["rows"], "f", (None, n_columns), "references")
    n_subsets = fields["n_subsets"]
    require(rows.dtype.itemsize >= 4, "references have less than single precision")
    if type(n_subsets) is not int or not 1 <= n_subsets <= len(rows) or len(rows) % n_subsets:
        raise ModelFileError("it is not a valid model: references do not make whole subsets.")
    return LeSiNNState(rows, n_subsets)


def _tails(fields: dict[str, object], n_columns: int) -> TailsState:
    values = _array(fields["sorted_values"], "f", (None, n_columns), "reference values")
    observed = _array(fields["observed"], "i", (n_columns,), "counts of observed values")
    require(
        (observed == (~np.isnan(values)).sum(axis=0)).all(), "counts of observed values are wrong"
    )
    require(
        ((values[:-1] <= values[1:]) | np.isnan(values[1:])).all(),
        "reference values are not sorted",
    )
    return TailsState(values, observed)


def _coupling(fields: dict[str, object], n_columns: int) -> CouplingState:
    cuts = _array(fields["cuts"], "f", (None, n_columns), "limits between values")
    values = _array(fields["values"], "f", (cuts.shape[0] + 1, n_columns), "scores of values")
    missing = _array(fields["missing"], "f", (n_columns,), "scores of missing cells")
    require(cuts.shape[0] > 0 and (cuts[:-1] <= cuts[1:]).all(), "limits are not in order")
    finite = np.isfinite(values).all() and np.isfinite(missing).all() and not np.isnan(cuts).any()
    require(finite and (values >= 0).all(), "scores of values are negative or not finite")
    return CouplingState(cuts, values, missing)


def _relations(fields: dict[str, object], n_columns: int) -> RelationsState:
    mean = _array(fields["mean"], "f", (n_columns,), "means")
    std = _array(fields["std"], "f", (n_columns,), "standard deviations")
    shape = (n_columns, n_columns)
    precision = _array(fields["precision"], "f", shape, "inverse correlations")
    require(
        all(np.isfinite(one).all() for one in (mean, std, precision)) and (std > 0).all(),
        "means, deviations or correlations are not finite",
    )
    # The correlation of a column with itself is 1, so that its inverse has at least that much.
    own = np.diag(precision)
    require(
        bool((own > 0).all() and (np.abs(precision) <= MAX_PRECISION).all()),
        "inverse correlations are not those of a correlation matrix",
    )
    return RelationsState(mean, std, precision)


def _iforest(fields: dict[str, object], n_columns: int) -> IForestState:
    column = _array(fields["column"], "i", (None, None), "split columns")
    n_trees, n_inner = column.shape
    depth = (n_inner + 1).bit_length() - 1
    # In heap order children come after their parents by construction; only the number of nodes can
    # be wrong.
    require(n_trees >= 1 and depth >= 1 and n_inner + 1 == 2**depth, "trees are not complete")
    shape = (n_trees, n_inner)
    threshold = _array(fields["threshold"], "f", shape, "thresholds")
    missing_right = _array(fields["missing_right"], "b", shape, "branches of missing values")
    credit = _array(fields["path_credit"], "f", (n_trees, n_inner + 1, depth), "path credits")
    require(
        (column >= 0).all() and (column < n_columns).all(),
        "trees split on columns that do not exist",
    )
    require(not np.isnan(threshold).any(), "thresholds are not numbers")
    require(
        np.isfinite(credit).all() and (credit >= 0).all(), "path credits are negative or not finite"
    )
    levels, leaves = np.arange(depth), np.arange(n_inner + 1)
    # Node at each level on the path to each leaf of a heap-ordered tree: path_column follows from
    # column and is not stored.
    ancestors = 2**levels - 1 + (leaves[:, None] >> (depth - levels))
    return IForestState(
        column,
        threshold,
        missing_right,
        credit.sum(axis=2),
        np.ascontiguousarray(column[:, ancestors]),
        credit,
    )


def _array(value: object, kinds: str, shape: tuple[int | None, ...], what: str) -> np.ndarray:
    """Return an array of this kind and shape, in which ``None`` stands for any length."""
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape):
        lengths = zip(shape, value.shape, strict=True)
        if all(length is None or length == given for length, given in lengths):
            return value
    raise ModelFileError(f"it is not a valid model: {what} are of the wrong type or shape.")


BUILT_IN_STATES: dict[str, tuple[type, frozenset[str], Restore]] = {
    "lesinn": (LeSiNNState, frozenset(), _lesinn),
    "tails": (TailsState, frozenset(), _tails),
    "coupling": (CouplingState, frozenset(), _coupling),
    "relations": (RelationsState, frozenset(), _relations),
    "iforest": (IForestState, frozenset({"leaf_score", "path_column"}), _iforest),
}
"""By the detector's name: the class, the fields that are derived from the others and not stored,
and the function that checks and builds it.
"""
