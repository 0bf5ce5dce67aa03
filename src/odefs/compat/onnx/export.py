"""Export of a fitted estimator as one ONNX graph: scaling, components, combination, threshold."""

import json
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from onnx import ModelProto, helper
from sklearn.utils.validation import check_is_fitted

from odefs.compat.onnx.detectors import coupling_score, iforest_score, relations_score, tails_score
from odefs.compat.onnx.graph import Graph, Rows, described
from odefs.compat.onnx.lesinn import lesinn_score
from odefs.detectors import (
    CouplingDetector,
    Detector,
    IForestDetector,
    LeSiNNDetector,
    RelationsDetector,
    TailsDetector,
)
from odefs.ensemble.model import Component, Model
from odefs.estimators.base import BaseOutlierEstimator
from odefs.exceptions import warn
from odefs.scaling import LINEAR, Scaling, Tails

OPSET = 18
IR_VERSION = 8
"""Versions of 2022 and 2021: old enough for the runtimes in use, new enough for all operators used
here.
"""

WRITERS: dict[type[Detector], Callable[..., str]] = {
    LeSiNNDetector: lesinn_score,
    TailsDetector: tails_score,
    CouplingDetector: coupling_score,
    RelationsDetector: relations_score,
    IForestDetector: iforest_score,
}


def build_model(estimator: BaseOutlierEstimator, input_dtype: str | None) -> ModelProto:
    """Return the graph of a fitted estimator."""
    model = _exportable(estimator)
    if model.answers is not None:
        warn(
            "The graph does not contain what the model has learned from answers: its scores are "
            "those of the components alone."
        )
    dtype = _input_dtype(input_dtype, model.dtype)
    graph = Graph()
    rows = scaled_rows(graph, "X", dtype, model.scaling, model.dtype, estimator.missing == "ignore")
    total = unusable(graph, "X", rows)
    for component in model.components[:-1]:
        total = graph.add("Add", total, _share(graph, rows, model, component))
    graph.add("Add", total, _share(graph, rows, model, model.components[-1]), output="score")
    negated = graph.add("Neg", "score")
    graph.add("Sub", negated, graph.numbers64(estimator.offset_), output="decision")
    # In this form, a row without a score (NaN) is an outlier.
    inlier = graph.add("GreaterOrEqual", "decision", graph.numbers64(0))
    graph.add("Where", inlier, graph.integers(1), graph.integers(-1), output="label")
    finished = graph.finished(
        "odefs",
        [described("X", dtype, ["n_rows", int(estimator.n_features_in_)])],
        [
            described("score", np.float64, ["n_rows"]),
            described("decision", np.float64, ["n_rows"]),
            described("label", np.int64, ["n_rows"]),
        ],
        outermost=True,
    )
    found = helper.make_model(
        finished,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="odefs",
        producer_version=version("odefs"),
    )
    names = [str(name) for name in estimator._feature_names()]
    helper.set_model_props(
        found, {"estimator": type(estimator).__name__, "feature_names": json.dumps(names)}
    )
    return found


def _exportable(estimator: object) -> Model:
    """Return the frozen model, or raise ``TypeError`` with the reason why it cannot be exported."""
    kind = type(estimator).__name__
    if not isinstance(estimator, BaseOutlierEstimator):
        if isinstance(getattr(estimator, "estimator_", None), BaseOutlierEstimator):
            raise TypeError(
                "export_onnx takes an estimator of odefs, not "
                f"{type(estimator).__module__}.{kind}: export its estimator_, which has its own "
                "threshold."
            )
        raise TypeError(
            f"export_onnx takes a fitted estimator of odefs, not {kind}; from a pipeline, export "
            "the last step, whose input is the columns it was fitted to."
        )
    check_is_fitted(estimator)
    if estimator._why_not_saved() is not None:
        raise TypeError(
            f"{kind} with these parameters cannot be exported: its scores require all training "
            "rows."
        )
    model: Model = estimator._model
    if type(model.detector) not in WRITERS:
        known = ", ".join(repr(detector.name) for detector in WRITERS)
        raise TypeError(
            f"export_onnx supports the detectors {known}, not {type(model.detector).__name__}."
        )
    return model


def _input_dtype(given: str | None, of_model: np.dtype) -> np.dtype:
    if given is None:
        return of_model
    if given not in ("float32", "float64"):
        raise ValueError(f"input_dtype={given!r} is not one of 'float32', 'float64'.")
    return np.dtype(given)


def _share(graph: Graph, rows: Rows, model: Model, component: Component) -> str:
    """Add the contribution of a component to the score."""
    detector = component.detector or model.detector
    score = WRITERS[type(detector)](
        graph, rows.take(graph, component.columns), detector, component.state, component.w
    )
    score = graph.add("Div", score, graph.numbers64(component.normaliser))
    if rows.missing is not None:
        # A row without observed cells in a component's columns counts as ordinary there.
        score = graph.add("Where", graph.add("IsNaN", score), graph.numbers64(1), score)
    return graph.add("Mul", score, graph.numbers64(component.weight))


def scaled_rows(
    graph: Graph, X: str, input_dtype: np.dtype, scaling: Scaling, dtype: np.dtype, may_miss: bool
) -> Rows:
    """Add the rows as the components see them: rounded as in the library, then float64."""
    missing = None
    if may_miss:
        # NaN would spread in sums and products; the mask remembers where it was.
        missing = graph.add("IsNaN", X)
        X = graph.add("Where", missing, graph.constant(0, input_dtype), X)
    if input_dtype != dtype:
        # A cast would turn values beyond the range into infinity. The library clips them too.
        X = graph.cast(
            _within(graph, X, float(np.finfo(dtype).max), input_dtype)
            if input_dtype > dtype
            else X,
            dtype,
        )
    if dtype == np.float32 and scaling.safe_in_float32:
        X = _shifted(graph, X, scaling, np.dtype(np.float32))
        values = graph.cast(X, np.float64)
    else:
        wide = X if dtype == np.float64 else graph.cast(X, np.float64)
        if scaling.factor != 1.0:
            wide = graph.add("Mul", wide, graph.numbers64(scaling.factor))
        values = _shifted(graph, wide, scaling, np.dtype(np.float64))
        if dtype != np.float64:
            values = graph.cast(graph.cast(values, dtype), np.float64)
    if missing is not None:
        values = graph.add("Where", missing, graph.numbers64(0), values)
    return Rows(values, missing, scaling.low.size)


def _shifted(graph: Graph, X: str, scaling: Scaling, dtype: np.dtype) -> str:
    X = graph.add("Sub", X, graph.constant(scaling.low, dtype))
    X = graph.add("Div", X, graph.constant(scaling.width, dtype))
    if scaling.tails is not None:
        X = _with_tails(graph, X, scaling.tails, dtype)
    return _within(graph, X, scaling.clip, dtype)


def _with_tails(graph: Graph, X: str, tails: Tails, dtype: np.dtype) -> str:
    """Add what :meth:`odefs.scaling.Tails.apply` does."""
    is_linear = tails.unit >= LINEAR
    for limits, sign, test in ((tails.high, 1.0, "Greater"), (tails.low, -1.0, "Less")):
        has_tail = np.isfinite(limits)
        exact = np.where(has_tail, limits, 0.0)
        # As in the library: cells are compared with the rounded limit, and continue from the exact
        # one.
        rounded = limits.astype(dtype)
        is_far = graph.add(test, X, graph.constant(rounded, dtype))
        distance = graph.add(
            "Abs",
            graph.add(
                "Sub",
                graph.cast(X, np.float64),
                graph.numbers64(np.where(has_tail, rounded.astype(np.float64), 0.0)),
            ),
        )
        unit = graph.numbers64(tails.unit)
        one = graph.numbers64(1)
        drawn = graph.add("Log", graph.add("Add", one, graph.add("Div", distance, unit)))
        drawn = graph.add("Mul", drawn, unit)
        drawn = graph.add("Where", graph.constant(is_linear, np.dtype(bool)), distance, drawn)
        moved = graph.add("Mul", drawn, graph.numbers64(sign * tails.slope))
        moved = graph.add("Add", graph.numbers64(exact), moved)
        X = graph.add("Where", is_far, graph.cast(moved, dtype), X)
    return X


def _within(graph: Graph, X: str, bound: float, dtype: np.dtype) -> str:
    return graph.add("Clip", X, graph.constant(-bound, dtype), graph.constant(bound, dtype))


def unusable(graph: Graph, X: str, rows: Rows) -> str:
    """Add NaN for rows that the library rejects and 0 for others, shape (n_rows,).

    Rejected are infinite cells, and missing cells unless they are allowed.
    """
    # Zero for finite numbers; NaN for infinite and missing ones.
    difference = graph.add("Sub", X, X)
    if rows.missing is not None:
        difference = graph.add(
            "Where", rows.missing, graph.add("CastLike", graph.numbers64(0), X), difference
        )
    return graph.cast(graph.reduce("ReduceSum", difference, 1), np.float64)
