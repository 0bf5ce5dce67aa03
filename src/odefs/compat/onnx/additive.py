"""Coupling and relations in the graph: a score for each value, and a squared distance."""

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows
from odefs.detectors.coupling import CouplingDetector, CouplingState
from odefs.detectors.relations import RelationsDetector, RelationsState


def coupling_score(
    graph: Graph, rows: Rows, detector: CouplingDetector, state: CouplingState, w: np.ndarray | None
) -> str:
    """Add the sum over the columns of the scores of their values, shape (n_rows,)."""
    weights = np.ones(state.missing.size) if w is None else np.asarray(w, dtype=np.float64)
    G = graph.numbers64(state.values[0])
    steps = np.diff(state.values, axis=0)
    for limits, step in zip(state.cuts, steps, strict=True):
        is_above = graph.add("Greater", rows.values, graph.numbers64(limits))
        G = graph.add(
            "Add", G, graph.add("Mul", graph.cast(is_above, np.float64), graph.numbers64(step))
        )
    G = graph.add("Max", G, graph.numbers64(0))
    if rows.missing is not None:
        G = graph.add("Where", rows.missing, graph.numbers64(state.missing), G)
    total = graph.add("MatMul", G, graph.numbers64(weights[:, None]))
    total = graph.add("Squeeze", total, graph.integers([1]))
    return total if rows.missing is None else _without_empty(graph, rows, total)


def relations_score(
    graph: Graph,
    rows: Rows,
    detector: RelationsDetector,
    state: RelationsState,
    w: np.ndarray | None,
) -> str:
    """Add the Mahalanobis distances, squared or not, shape (n_rows,)."""
    weights = np.ones(state.mean.size) if w is None else np.asarray(w, dtype=np.float64)
    z = graph.add("Sub", rows.values, graph.numbers64(state.mean))
    z = graph.add("Mul", z, graph.numbers64(np.sqrt(weights) / state.std))
    if rows.missing is not None:
        z = graph.add("Where", rows.missing, graph.numbers64(0), z)
    parts = graph.add("Mul", z, graph.add("MatMul", z, graph.numbers64(state.precision)))
    total = graph.add("Max", graph.reduce("ReduceSum", parts, 1), graph.numbers64(0))
    if rows.missing is None:
        return _of_squares(graph, detector, total)
    covered = graph.add("MatMul", rows.seen(graph), graph.numbers64(weights[:, None]))
    covered = graph.add("Squeeze", covered, graph.integers([1]))
    scale = graph.add("Div", graph.numbers64(weights.sum()), covered)
    total = _of_squares(graph, detector, graph.add("Mul", total, scale))
    return _without_empty(graph, rows, total)


def _of_squares(graph: Graph, detector: RelationsDetector, squares: str) -> str:
    return squares if detector.metric == "sqeuclidean" else graph.add("Sqrt", squares)


def _without_empty(graph: Graph, rows: Rows, score: str) -> str:
    """Add NaN for rows without observed cells."""
    n_seen = graph.reduce("ReduceSum", rows.seen(graph), 1)
    is_empty = graph.add("Equal", n_seen, graph.numbers64(0))
    return graph.add("Where", is_empty, graph.numbers64(np.nan), score)
