"""Isolation forest in the graph: all trees are traversed together, one level at a time."""

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows
from odefs.detectors.iforest import IForestDetector, IForestState


def iforest_score(
    graph: Graph, rows: Rows, detector: IForestDetector, state: IForestState, w: np.ndarray | None
) -> str:
    """Add the mean credit of the leaves that a row reaches, shape (n_rows,).

    NaN for a row without observed cells.
    """
    if w is not None:
        raise TypeError(
            "An isolation forest with additional column weights cannot be exported: its weights "
            "are the probabilities of its splits."
        )
    n_trees, n_inner = state.column.shape
    columns, thresholds = (
        graph.integers(state.column.ravel()),
        graph.numbers64(state.threshold.ravel()),
    )
    branches = None if rows.missing is None else graph.integers(state.missing_right.ravel())
    first = graph.integers(np.arange(n_trees) * n_inner)
    n_rows = graph.add("Shape", rows.values, start=0, end=1)
    shape = graph.add("Concat", n_rows, graph.integers([n_trees]), axis=0)
    node = graph.cast(graph.add("ConstantOfShape", shape), np.int64)
    one, two = graph.integers(1), graph.integers(2)
    for _ in range(int(n_inner).bit_length()):
        place = graph.add("Add", node, first)
        column = graph.add("Gather", columns, place)
        value = graph.add("GatherElements", rows.values, column, axis=1)
        right = graph.cast(
            graph.add("Greater", value, graph.add("Gather", thresholds, place)), np.int64
        )
        if rows.missing is not None and branches is not None:
            hole = graph.add("GatherElements", rows.missing, column, axis=1)
            right = graph.add("Where", hole, graph.add("Gather", branches, place), right)
        below = graph.add("Add", graph.add("Mul", node, two), one)
        node = graph.add("Add", below, right)
    leaf = graph.add("Add", node, graph.integers(np.arange(n_trees) * (n_inner + 1) - n_inner))
    credit = graph.add("Gather", graph.numbers64(state.leaf_score.ravel()), leaf)
    score = graph.reduce("ReduceMean", credit, 1)
    if rows.missing is None:
        return score
    n_seen = graph.reduce("ReduceSum", rows.seen(graph), 1)
    return graph.add(
        "Where", graph.add("Greater", n_seen, graph.numbers64(0)), score, graph.numbers64(np.nan)
    )
