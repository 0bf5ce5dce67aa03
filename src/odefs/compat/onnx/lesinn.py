"""LeSiNN in the graph: one matrix product per component.

An array of rows x references x columns is never created.
"""

import numpy as np

from odefs.compat.onnx.cancellation import (
    LOST,
    for_each_reference,
    nearest_of_subsets,
    replace_lost,
)
from odefs.compat.onnx.graph import Graph, Rows
from odefs.compat.onnx.lesinn_masked import masked_score
from odefs.detectors.lesinn import LeSiNNDetector, LeSiNNState
from odefs.kernels.distances import SNAP


def lesinn_score(
    graph: Graph, rows: Rows, detector: LeSiNNDetector, state: LeSiNNState, w: np.ndarray | None
) -> str:
    """Add the mean distance to the nearest member of each subset, shape (n_rows,)."""
    if rows.missing is not None:
        return masked_score(graph, rows, detector, state, w)
    references, x = state.rows.astype(np.float64), rows.values
    if w is None:
        # Stored in their own precision, which may halve the file; a runtime casts constants once,
        # when it loads the graph.
        stored = graph.constant(state.rows)
        r = stored if state.rows.dtype == np.float64 else graph.cast(stored, np.float64)
    else:
        # A weight also multiplies rounding errors, so the origin must be close to the values.
        centre, root = references.mean(axis=0), np.sqrt(w)
        references = (references - centre) * root
        x = graph.add("Mul", graph.add("Sub", x, graph.numbers64(centre)), graph.numbers64(root))
        r = graph.numbers64(references)
    n_references, n_subsets = references.shape[0], state.n_subsets
    norms = graph.reduce("ReduceSumSquare", x, 1, keep=True)
    squared_norms = graph.numbers64(np.einsum("ij,ij->i", references, references))
    products = graph.add("Gemm", x, r, squared_norms, alpha=-2.0, transB=1)
    nearest = graph.add("Add", nearest_of_subsets(graph, products, n_references, n_subsets), norms)
    lost = graph.add("Less", nearest, graph.add("Mul", norms, graph.numbers64(LOST)))
    if np.all((references == references.min(axis=0)) | (references == references.max(axis=0))):
        nearest, lost = _without_noise(graph, x, references, norms, nearest, lost)

    def recompute(inner: Graph, numbers: str) -> str:
        part = inner.add("Gather", x, numbers, axis=0)
        squares = for_each_reference(
            inner,
            {"reference": r},
            lambda body: body.reduce("ReduceSumSquare", body.add("Sub", part, "reference"), 1),
        )
        return nearest_of_subsets(inner, squares, n_references, n_subsets)

    nearest = replace_lost(graph, nearest, lost, recompute)
    distances = graph.add("Sqrt", nearest) if detector.metric == "euclidean" else nearest
    return graph.reduce("ReduceMean", distances, 1)


def _without_noise(
    graph: Graph, x: str, references: np.ndarray, norms: str, nearest: str, lost: str
) -> tuple[str, str]:
    """Set squares that are only rounding noise to zero.

    If every column has two values, equal rows are common, and their distance is rounding noise
    around zero.
    """
    low, high = graph.numbers64(references.min(axis=0)), graph.numbers64(references.max(axis=0))
    cells = graph.add("Or", graph.add("Equal", x, low), graph.add("Equal", x, high))
    on_grid = graph.cast(
        graph.reduce("ReduceMin", graph.cast(cells, np.int64), 1, keep=True), np.bool_
    )
    limit = graph.add("Mul", norms, graph.numbers64(SNAP * references.shape[1]))
    noise = graph.add("And", graph.add("LessOrEqual", nearest, limit), on_grid)
    nearest = graph.add("Where", noise, graph.numbers64(0), nearest)
    return nearest, graph.add("And", lost, graph.add("Not", noise))
