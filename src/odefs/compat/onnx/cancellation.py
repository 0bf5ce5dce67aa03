"""Squared distances in the graph, and how those that lost their digits are computed again.

As in the library, the expanded square ``|x|^2 - 2 x.r + |r|^2`` loses digits for rows that are much
nearer to a reference than to the origin. Such rows are computed again from differences, one
reference at a time, in a branch of the graph that runs only where there are any.
"""

from collections.abc import Callable, Mapping

import numpy as np

from odefs.compat.onnx.graph import Graph, described
from odefs.kernels.distances import CANCELLATION_SHARE

LOST = CANCELLATION_SHARE[np.dtype(np.float64)]
"""Squares below this share of their parts have lost too many digits."""


def nearest_of_subsets(graph: Graph, squares: str, n_references: int, n_subsets: int) -> str:
    """Minimum over the members of each subset: (n_rows, n_references) to (n_rows, n_subsets).
    References are member-major; 0 keeps the rows.
    """
    members = graph.add(
        "Reshape", squares, graph.integers([0, n_references // n_subsets, n_subsets])
    )
    return graph.reduce("ReduceMin", members, 1)


def for_each_reference(
    graph: Graph, inputs: Mapping[str, str], square: Callable[[Graph], str]
) -> str:
    """Squares with one reference after the other, shape (n_rows, n_references); inside ``square``,
    the names in ``inputs`` are one of its rows.
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
    """The squares, with rows that lost digits anywhere computed again by ``recompute(graph, numbers
    of these rows)``.
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
