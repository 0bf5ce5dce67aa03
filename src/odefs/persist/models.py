"""Frozen models in files: the scaling of each column, and each component on its own columns.

Nothing has the length of the training data. Most learned weights are exactly 0: one bit per cell
marks the others, whose values follow. The restored matrix is at most 64 times as large as its bits,
so a file cannot require much more memory than its own size.
"""

from collections.abc import Sequence

import numpy as np

from odefs.detectors.base import Detector
from odefs.ensemble.companions import COMPANIONS
from odefs.ensemble.model import Component, Model
from odefs.persist.answers import get_answers, put_answers
from odefs.persist.detectors import describe_detector, is_built_in, restore_detector
from odefs.persist.header_values import Arrays, need, need_number, require
from odefs.persist.states import get_state, put_state
from odefs.scaling import CLIP, CLIP_UNSCALED, Scaling, Tails

PRECISIONS = ("float32", "float64")
NUMBERS = ("normaliser", "weight", "loss")
"""Numbers of each component."""


def put_model(model: Model, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """Add the model's arrays to ``arrays`` and return the rest as plain values."""
    arrays["scaling/low"], arrays["scaling/width"] = model.scaling.low, model.scaling.width
    if (tails := model.scaling.tails) is not None:
        arrays["scaling/tails"] = np.stack([tails.low, tails.high, tails.unit, tails.slope])
    states = _put_components(model.components, arrays)
    own = {
        str(i): describe_detector(one.detector)
        for i, one in enumerate(model.components)
        if one.detector is not None
    }
    described: dict[str, object] = {
        "dtype": model.dtype.name,
        "detector": describe_detector(model.detector),
        "scaling": {"factor": float(model.scaling.factor), "clip": float(model.scaling.clip)},
        "states": states,
        "thresholds": [component.threshold for component in model.components],
    }
    if own:
        described["own_detectors"] = own
    if model.answers is not None:
        described["answers"] = put_answers(model.answers, arrays)
    return described


def _put_components(
    components: Sequence[Component], arrays: dict[str, np.ndarray]
) -> list[dict[str, object]]:
    """Add the arrays of all components, and return their states as plain values."""
    for name in NUMBERS:
        arrays[f"components/{name}"] = np.array(
            [getattr(component, name) for component in components]
        )
    states = []
    for i, component in enumerate(components):
        arrays[f"components/{i}/columns"] = component.columns
        if component.w is not None:
            arrays[f"components/{i}/w"] = component.w
        states.append(put_state(component.state, arrays, f"components/{i}/state"))
    return states


def get_model(
    described: dict[str, object], arrays: Arrays, n_columns: int, given: Detector | None
) -> Model:
    """Return a model that can score any row of ``n_columns`` numbers within the bounds of its
    arrays.
    """
    detector = restore_detector(need(described, "detector", dict), given)
    dtype = need(described, "dtype", str)
    require(dtype in PRECISIONS, f"its precision is {dtype!r}, not float32 or float64")
    scaling = _get_scaling(need(described, "scaling", dict), arrays, n_columns)
    states = need(described, "states", list)
    require(states, "it has no components")
    numbers = _get_numbers(arrays, len(states))
    thresholds = _get_thresholds(described, len(states))
    own = _get_own_detectors(described, len(states))
    components = []
    for i, state in enumerate(states):
        require(isinstance(state, dict), "a state is not an object")
        columns = _get_columns(arrays, f"components/{i}/columns", n_columns)
        w = None
        if f"components/{i}/w" in arrays:
            w = arrays.take(f"components/{i}/w", "f", columns.shape)
            require(
                np.isfinite(w).all() and (w >= 0).all(),
                "feature weights are negative or not finite",
            )
        of_state = own[i] or detector
        # States of a custom detector are whatever its prepare returns.
        expected = of_state.name if is_built_in(of_state) else None
        restored = get_state(
            state, arrays, f"components/{i}/state", of_state, expected, columns.size, scaling.clip
        )
        scalars = {name: float(values[i]) for name, values in numbers.items()}
        components.append(
            Component(columns, w, restored, **scalars, threshold=thresholds[i], detector=own[i])
        )
    answers = None
    if "answers" in described:
        answers = get_answers(need(described, "answers", dict), arrays, n_columns)
    return Model(detector, scaling, tuple(components), np.dtype(dtype), answers)


def _get_numbers(arrays: Arrays, n_components: int) -> dict[str, np.ndarray]:
    """Return the ``NUMBERS`` of all components."""
    numbers = {name: arrays.take(f"components/{name}", "f", (n_components,)) for name in NUMBERS}
    require(
        all(np.isfinite(values).all() for values in numbers.values()),
        "its components have numbers that are not finite",
    )
    require(
        (numbers["normaliser"] > 0).all() and (numbers["weight"] >= 0).all(),
        "its components have scales or weights that are not positive",
    )
    require((numbers["weight"] > 0).any(), "all components have weight 0")
    return numbers


def _get_own_detectors(described: dict[str, object], n_components: int) -> list[Detector | None]:
    """Return the built-in detectors of components that do not have the model's, by number."""
    if "own_detectors" not in described:
        return [None] * n_components
    found = need(described, "own_detectors", dict)
    numbers = {str(i) for i in range(n_components)}
    require(found.keys() <= numbers, "a detector belongs to no component")
    require(all(type(one) is dict for one in found.values()), "a detector is not an object")
    own = {name: restore_detector(one, None) for name, one in found.items()}
    # The torch engine and the ONNX export have code for companions, and for no other detector next
    # to the model's.
    require(
        all(isinstance(one, COMPANIONS) for one in own.values()),
        "a component has a detector that only models have",
    )
    return [own.get(str(i)) for i in range(n_components)]


def _get_thresholds(described: dict[str, object], n_components: int) -> list[float | None]:
    """Return the thresholds of the components.

    They are in the header, where earlier versions ignore them; files of earlier versions have none.
    """
    if "thresholds" not in described:
        return [None] * n_components
    found = need(described, "thresholds", list)
    fits = len(found) == n_components and all(one is None or type(one) is float for one in found)
    require(
        fits and all(one is None or np.isfinite(one) for one in found),
        "the thresholds of its components are not numbers",
    )
    return found


def _get_scaling(described: dict[str, object], arrays: Arrays, n_columns: int) -> Scaling:
    low, width = (arrays.take(f"scaling/{name}", "f", (n_columns,)) for name in ("low", "width"))
    factor, clip = need_number(described, "factor"), need_number(described, "clip")
    require(low.dtype == width.dtype == np.float64, "its scaling is not in double precision")
    require(np.isfinite(low).all() and np.isfinite(width).all(), "its scaling is not finite")
    require(
        (width > 0).all() and factor > 0 and 0 < clip <= CLIP_UNSCALED,
        "its scaling is not positive",
    )
    return Scaling(low, width, factor, clip, _get_tails(arrays, n_columns))


def _get_tails(arrays: Arrays, n_columns: int) -> Tails | None:
    if "scaling/tails" not in arrays:
        return None
    low, high, unit, slope = found = arrays.take("scaling/tails", "f", (4, n_columns))
    # NaN compares as false.
    valid = found.dtype == np.float64 and (low <= high).all()
    valid = valid and (low < np.inf).all() and (high > -np.inf).all()
    valid = valid and (unit > 0).all() and (unit < np.inf).all()
    valid = valid and (slope >= 0).all() and (slope <= CLIP).all()
    require(valid, "the tails of its scaling are not valid")
    return Tails(low, high, unit, slope)


def _get_columns(arrays: Arrays, name: str, n_columns: int) -> np.ndarray:
    columns = arrays.take(name, "i")
    require(columns.ndim == 1 and columns.size > 0, "a component has no columns")
    # The ends suffice, since the next line requires ascending numbers.
    require(columns[0] >= 0 and columns[-1] < n_columns, "a component's columns do not exist")
    require((columns[1:] > columns[:-1]).all(), "a component's columns are not in ascending order")
    return columns.astype(np.intp, copy=False)


def put_sparse(matrix: np.ndarray, arrays: dict[str, np.ndarray], name: str) -> None:
    """Store a float64 matrix."""
    flat = np.ascontiguousarray(matrix, dtype=np.float64).reshape(-1)
    # Compared as bits, so that -0.0 is kept too.
    present = flat.view(np.uint64) != 0
    arrays[f"{name}/present"] = np.packbits(present)
    arrays[f"{name}/values"] = flat[present]


def get_sparse(arrays: Arrays, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Return the matrix, after checking that bits and values match."""
    cells = shape[0] * shape[1]
    bits = arrays.take(f"{name}/present", "u", (-(-cells // 8),))
    require(bits.dtype == np.uint8, "the bits that mark feature weights have the wrong type")
    present = np.unpackbits(bits, count=cells).astype(bool)
    values = arrays.take(f"{name}/values", "f", (int(np.count_nonzero(present)),))
    require(np.isfinite(values).all(), "feature weights are not finite")
    matrix = np.zeros(cells)
    matrix[present] = values
    return matrix.reshape(shape)
