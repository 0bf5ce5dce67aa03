"""A fitted estimator as one ONNX graph: scaling, components, combination, threshold."""

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from onnx import ModelProto, helper
from sklearn.utils.validation import check_is_fitted

from odefs.compat.onnx.graph import Graph, Rows, described
from odefs.compat.onnx.iforest import iforest_score
from odefs.compat.onnx.lesinn import lesinn_score
from odefs.compat.onnx.scaling import scaled_rows, unusable
from odefs.compat.onnx.tails import tails_score
from odefs.detectors import Detector, IForestDetector, LeSiNNDetector, TailsDetector
from odefs.ensemble.model import Component, Model
from odefs.estimators.base import BaseOutlierEstimator

OPSET = 18
IR_VERSION = 8
"""Of 2022 and 2021: old enough for the runtimes in use, new enough for all operators used here."""

WRITERS: dict[type[Detector], Callable[..., str]] = {
    LeSiNNDetector: lesinn_score,
    TailsDetector: tails_score,
    IForestDetector: iforest_score,
}


def build_model(estimator: Any, input_dtype: str | None) -> ModelProto:
    """The graph of a fitted estimator."""
    model = _exportable(estimator)
    dtype = _input_dtype(input_dtype, model.dtype)
    graph = Graph()
    rows = scaled_rows(graph, "X", dtype, model.scaling, model.dtype, estimator.missing == "ignore")
    total = unusable(graph, "X", rows)
    for component in model.components[:-1]:
        total = graph.add("Add", total, _share(graph, rows, model, component))
    graph.add("Add", total, _share(graph, rows, model, model.components[-1]), output="score")
    negated = graph.add("Neg", "score")
    graph.add("Sub", negated, graph.numbers64(estimator.offset_), output="decision")
    # Asked this way round, a row that has no score is an outlier.
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


def _exportable(estimator: Any) -> Model:
    """The frozen model, or one sentence on why there can be no graph."""
    kind = type(estimator).__name__
    if not isinstance(estimator, BaseOutlierEstimator):
        if isinstance(getattr(estimator, "estimator_", None), BaseOutlierEstimator):
            raise TypeError(
                f"export_onnx takes an estimator of odefs, not {type(estimator).__module__}.{kind}: export its estimator_, whose threshold is its own."
            )
        raise TypeError(
            f"export_onnx takes a fitted estimator of odefs, not {kind}; of a pipeline, export the last step, whose input are the columns it was fitted to."
        )
    check_is_fitted(estimator)
    if estimator._why_not_saved() is not None:
        raise TypeError(
            f"{kind} with these parameters cannot be exported: its scores need all training rows."
        )
    model: Model = estimator._model
    if type(model.detector) not in WRITERS:
        known = ", ".join(repr(detector.name) for detector in WRITERS)
        raise TypeError(
            f"export_onnx knows the detectors {known}; {type(model.detector).__name__} is none of them."
        )
    return model


def _input_dtype(given: str | None, of_model: np.dtype) -> np.dtype:
    if given is None:
        return of_model
    if given not in ("float32", "float64"):
        raise ValueError(f"input_dtype={given!r} is not one of 'float32', 'float64'.")
    return np.dtype(given)


def _share(graph: Graph, rows: Rows, model: Model, component: Component) -> str:
    """What a component adds to the score."""
    writer = WRITERS[type(model.detector)]
    score = writer(
        graph, rows.take(graph, component.columns), model.detector, component.state, component.w
    )
    score = graph.add("Div", score, graph.numbers64(component.normaliser))
    if rows.missing is not None:
        # A row about which a component knows nothing is ordinary.
        score = graph.add("Where", graph.add("IsNaN", score), graph.numbers64(1), score)
    return graph.add("Mul", score, graph.numbers64(component.weight))
