"""Detectors without reference rows in the graph.

Coupling is a score for each value, relations a squared distance. An isolation forest is traversed
with all its trees together, one level at a time. Tails are a binary search in each column's sorted
references, of all rows and columns at once.
"""

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows
from odefs.detectors.coupling import CouplingDetector, CouplingState
from odefs.detectors.iforest import IForestDetector, IForestState
from odefs.detectors.relations import FILLING_STEPS, RelationsDetector, RelationsState
from odefs.detectors.tails import TailsDetector, TailsState


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
    # As in the library: steps up and down may leave a trace of rounding below zero.
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
        z = _filled(graph, z, rows.missing, state.precision)
    parts = graph.add("Mul", z, graph.add("MatMul", z, graph.numbers64(state.precision)))
    total = graph.add("Max", graph.reduce("ReduceSum", parts, 1), graph.numbers64(0))
    if rows.missing is None:
        return _of_squares(graph, detector, total)
    covered = graph.add("MatMul", rows.seen(graph), graph.numbers64(weights[:, None]))
    covered = graph.add("Squeeze", covered, graph.integers([1]))
    scale = graph.add("Div", graph.numbers64(weights.sum()), covered)
    total = _of_squares(graph, detector, graph.add("Mul", total, scale))
    return _without_empty(graph, rows, total)


def _filled(graph: Graph, z: str, missing: str, precision: np.ndarray) -> str:
    """Add what fills missing cells, as :mod:`odefs.detectors.relations` does."""
    zero, matrix = graph.numbers64(0), graph.numbers64(precision)
    diagonal = graph.numbers64(np.diag(precision))

    def in_missing(values: str) -> str:
        return graph.add("Where", missing, values, zero)

    def sums(one: str, other: str) -> str:
        return graph.reduce("ReduceSum", graph.add("Mul", one, other), 1, keep=True)

    def ratio(one: str, other: str) -> str:
        """The quotient, 0 where the divisor is not positive."""
        quotient = graph.add("Div", one, other)
        return graph.add("Where", graph.add("Greater", other, zero), quotient, zero)

    residual = in_missing(graph.add("Neg", graph.add("MatMul", z, matrix)))
    scaled = graph.add("Div", residual, diagonal)
    direction, square = scaled, sums(residual, scaled)
    for _ in range(min(FILLING_STEPS, len(precision))):
        through = in_missing(graph.add("MatMul", direction, matrix))
        length = ratio(square, sums(direction, through))
        z = graph.add("Add", z, graph.add("Mul", length, direction))
        residual = graph.add("Sub", residual, graph.add("Mul", length, through))
        scaled = graph.add("Div", residual, diagonal)
        last, square = square, sums(residual, scaled)
        direction = graph.add("Add", scaled, graph.add("Mul", ratio(square, last), direction))
    return z


def _of_squares(graph: Graph, detector: RelationsDetector, squares: str) -> str:
    return squares if detector.metric == "sqeuclidean" else graph.add("Sqrt", squares)


def _without_empty(graph: Graph, rows: Rows, score: str) -> str:
    """Add NaN for rows without observed cells."""
    n_seen = graph.reduce("ReduceSum", rows.seen(graph), 1)
    is_empty = graph.add("Equal", n_seen, graph.numbers64(0))
    return graph.add("Where", is_empty, graph.numbers64(np.nan), score)


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
    # A complete tree with 2**depth - 1 inner nodes has as many levels as that number has bits.
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


def tails_score(
    graph: Graph, rows: Rows, detector: TailsDetector, state: TailsState, w: np.ndarray | None
) -> str:
    """Add the sum over the columns of the log tail probabilities, shape (n_rows,).

    NaN for a row without observed cells.
    """
    n_references, n_columns = state.sorted_values.shape
    depth = int(n_references).bit_length()
    # Missing references come last; nothing is above infinity, so they and the padding are never
    # counted.
    table = np.full((2**depth - 1, n_columns), np.inf)
    table[:n_references] = np.where(np.isnan(state.sorted_values), np.inf, state.sorted_values)
    values = graph.numbers64(table)
    observed = state.observed.astype(np.float64)
    smaller, not_larger = (
        _count(graph, values, rows.values, depth, test) for test in ("Less", "LessOrEqual")
    )
    above = graph.add("Sub", graph.numbers64(observed), smaller)
    one, zero = graph.numbers64(1), graph.numbers64(0)
    tail = graph.add(
        "Div",
        graph.add("Max", graph.add("Min", above, not_larger), one),
        graph.numbers64(np.maximum(1, observed)),
    )
    bits = graph.add("Neg", graph.add("Log", graph.add("Mul", tail, graph.numbers64(2))))
    G = graph.add("Max", bits, zero)
    weights = np.ones(n_columns) if w is None else np.asarray(w, dtype=np.float64)
    column = graph.numbers64(weights[:, None])
    if rows.missing is None:
        return graph.add("Squeeze", graph.add("MatMul", G, column), graph.integers([1]))
    seen = rows.seen(graph)
    total = graph.add("MatMul", graph.add("Mul", G, seen), column)
    share = graph.add("Div", graph.numbers64(weights.sum()), graph.add("MatMul", seen, column))
    return graph.add("Squeeze", graph.add("Mul", total, share), graph.integers([1]))


def _count(graph: Graph, values: str, x: str, depth: int, test: str) -> str:
    """Add the number of a column's values that pass the test against ``x``, in float64.

    The values ascend, so the search halves its steps.
    """
    place = graph.cast(graph.add("ConstantOfShape", graph.add("Shape", x)), np.int64)
    for step in (2**k for k in reversed(range(depth))):
        candidate = graph.add("Add", place, graph.integers(step - 1))
        passes = graph.add(test, graph.add("GatherElements", values, candidate, axis=0), x)
        advance = graph.add("Mul", graph.cast(passes, np.int64), graph.integers(step))
        place = graph.add("Add", place, advance)
    return graph.cast(place, np.float64)
