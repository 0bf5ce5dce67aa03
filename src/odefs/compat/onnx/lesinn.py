"""LeSiNN in the graph: one matrix product per component.

An array of rows x references x columns is never created. As in the library, the expanded square
``|x|^2 - 2 x.r + |r|^2`` loses digits for rows that are much closer to a reference than to the
origin. Such rows are recomputed from differences, one reference at a time, in a branch of the graph
that runs only if there are any. With missing cells, as in
:mod:`odefs.kernels.distances_with_missing`, a pair's squares over the columns observed in both are
scaled up to all columns; a subset without any such pair is left out of the mean.
"""

from collections.abc import Callable, Mapping

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows, described
from odefs.detectors.lesinn import LeSiNNDetector, LeSiNNState
from odefs.kernels.distances import CANCELLATION_SHARE, SNAP


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
    # Pairs without a common column were divided by zero above; at infinity they are never nearest.
    pairs = graph.add("Where", graph.add("Greater", covered, zero), scaled, unbounded)
    nearest = nearest_of_subsets(graph, pairs, references.shape[0], state.n_subsets)
    known = graph.add("Less", nearest, unbounded)
    distances = graph.add("Where", known, nearest, zero)
    if detector.metric == "euclidean":
        distances = graph.add("Sqrt", distances)
    n_known = graph.reduce("ReduceSum", graph.cast(known, np.float64), 1)
    return graph.add("Div", graph.reduce("ReduceSum", distances, 1), n_known)


LOST = CANCELLATION_SHARE[np.dtype(np.float64)]
"""Squares below this share of their parts have lost too many digits."""


def nearest_of_subsets(graph: Graph, squares: str, n_references: int, n_subsets: int) -> str:
    """Add the minimum over each subset's members: (n_rows, n_references) to (n_rows, n_subsets).

    References are member-major; 0 in the new shape keeps the number of rows.
    """
    members = graph.add(
        "Reshape", squares, graph.integers([0, n_references // n_subsets, n_subsets])
    )
    return graph.reduce("ReduceMin", members, 1)


def for_each_reference(
    graph: Graph, inputs: Mapping[str, str], square: Callable[[Graph], str]
) -> str:
    """Add a loop that computes squares for one reference at a time, shape (n_rows, n_references).

    Inside ``square``, each name in ``inputs`` refers to one row of that input.
    """
    body = graph.inner()
    result = square(body)
    finished = body.finished(
        graph.name("references"),
        [described(name, np.float64, [None]) for name in inputs],
        [described(result, np.float64, [None])],
    )
    # Scan stacks its results along the first axis, here the references.
    found = graph.add("Scan", *inputs.values(), body=finished, num_scan_inputs=len(inputs))
    return graph.add("Transpose", found, perm=[1, 0])


def replace_lost(
    graph: Graph, squares: str, lost: str, recompute: Callable[[Graph, str], str]
) -> str:
    """Add a branch that recomputes rows in which any square lost digits.

    ``recompute(graph, numbers of these rows)`` adds their squares.
    """
    is_lost = graph.reduce("ReduceMax", graph.cast(lost, np.int64), 1)
    rows = graph.add("Squeeze", graph.add("NonZero", is_lost), graph.integers([0]))
    any_lost = graph.add("Greater", graph.add("Size", rows), graph.integers(0))
    again, kept = graph.inner(), graph.inner()
    places = again.add("Unsqueeze", rows, again.integers([1]))
    replaced = again.add("ScatterND", squares, places, recompute(again, rows))
    unchanged = kept.add("Identity", squares)
    return graph.add(
        "If",
        any_lost,
        then_branch=again.finished(
            graph.name("again"), [], [described(replaced, np.float64, [None, None])]
        ),
        else_branch=kept.finished(
            graph.name("kept"), [], [described(unchanged, np.float64, [None, None])]
        ),
    )
