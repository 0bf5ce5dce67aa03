"""Tails detector in the graph: binary search in each column's sorted references.

All rows and columns are searched at once.
"""

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows
from odefs.detectors.tails import TailsDetector, TailsState


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
