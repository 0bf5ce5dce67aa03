"""LeSiNN with missing cells in the graph, as in :mod:`odefs.kernels.distances_with_missing`.

A pair's squares over the columns observed in both are scaled up to all columns; a subset without
any such pair is left out of the mean.
"""

import numpy as np

from odefs.compat.onnx.cancellation import (
    LOST,
    for_each_reference,
    nearest_of_subsets,
    replace_lost,
)
from odefs.compat.onnx.graph import Graph, Rows
from odefs.detectors.lesinn import LeSiNNDetector, LeSiNNState


def masked_score(
    graph: Graph, rows: Rows, detector: LeSiNNDetector, state: LeSiNNState, w: np.ndarray | None
) -> str:
    """Add the mean distance to the nearest member of each subset, shape (n_rows,).

    NaN for a row that shares no column with any reference.
    """
    references = state.rows.astype(np.float64)
    observed = ~np.isnan(references)
    weights = np.ones(references.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
    filled = np.where(observed, references, 0.0)
    r, mask = graph.numbers64(filled), graph.numbers64(observed * weights)
    x, seen = rows.values, rows.seen(graph)
    own = graph.add("Gemm", graph.add("Mul", x, x), mask, transB=1)
    parts = graph.add("Gemm", seen, graph.numbers64(filled**2 * weights), own, transB=1)
    squares = graph.add("Gemm", x, graph.numbers64(filled * weights), parts, alpha=-2.0, transB=1)
    lost = graph.add("Less", squares, graph.add("Mul", parts, graph.numbers64(LOST)))

    def recompute(inner: Graph, numbers: str) -> str:
        part, part_seen = (inner.add("Gather", value, numbers, axis=0) for value in (x, seen))

        def square(body: Graph) -> str:
            difference = body.add("Sub", part, "reference")
            both = body.add("Mul", part_seen, "weights")
            return body.reduce(
                "ReduceSum", body.add("Mul", body.add("Mul", difference, difference), both), 1
            )

        return for_each_reference(inner, {"reference": r, "weights": mask}, square)

    squares = replace_lost(graph, squares, lost, recompute)
    covered = graph.add("Gemm", seen, mask, transB=1)
    zero, unbounded = graph.numbers64(0), graph.numbers64(np.inf)
    scaled = graph.add("Mul", squares, graph.add("Div", graph.numbers64(weights.sum()), covered))
    pairs = graph.add("Where", graph.add("Greater", covered, zero), scaled, unbounded)
    nearest = nearest_of_subsets(graph, pairs, references.shape[0], state.n_subsets)
    known = graph.add("Less", nearest, unbounded)
    distances = graph.add("Where", known, nearest, zero)
    if detector.metric == "euclidean":
        distances = graph.add("Sqrt", distances)
    n_known = graph.reduce("ReduceSum", graph.cast(known, np.float64), 1)
    return graph.add("Div", graph.reduce("ReduceSum", distances, 1), n_known)
