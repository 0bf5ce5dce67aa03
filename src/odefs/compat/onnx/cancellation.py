"""Squared distances in the graph, with recomputation of those that lost digits.

As in the library, the expanded square ``|x|^2 - 2 x.r + |r|^2`` loses digits for rows that are much
closer to a reference than to the origin. Such rows are recomputed from differences, one reference
at a time, in a branch of the graph that runs only if there are any.
"""

from collections.abc import Callable, Mapping

import numpy as np

from odefs.compat.onnx.graph import Graph, described
from odefs.kernels.distances import CANCELLATION_SHARE

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
