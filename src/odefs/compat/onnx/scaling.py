"""Column scaling in the graph, with the steps and precision of
:meth:`odefs.scaling.Scaling.apply`.
"""

import numpy as np

from odefs.compat.onnx.graph import Graph, Rows
from odefs.scaling import Scaling


def scaled_rows(
    graph: Graph, X: str, input_dtype: np.dtype, scaling: Scaling, dtype: np.dtype, may_miss: bool
) -> Rows:
    """Add the rows as the components see them: rounded as in the library, then float64."""
    missing = None
    if may_miss:
        missing = graph.add("IsNaN", X)
        X = graph.add("Where", missing, graph.constant(0, input_dtype), X)
    if input_dtype != dtype:
        X = graph.cast(
            _within(graph, X, float(np.finfo(dtype).max), input_dtype)
            if input_dtype > dtype
            else X,
            dtype,
        )
    if dtype == np.float32 and scaling.safe_in_float32:
        X = _shifted(graph, X, scaling, np.dtype(np.float32))
        values = graph.cast(X, np.float64)
    else:
        wide = X if dtype == np.float64 else graph.cast(X, np.float64)
        if scaling.factor != 1.0:
            wide = graph.add("Mul", wide, graph.numbers64(scaling.factor))
        values = _shifted(graph, wide, scaling, np.dtype(np.float64))
        if dtype != np.float64:
            values = graph.cast(graph.cast(values, dtype), np.float64)
    if missing is not None:
        values = graph.add("Where", missing, graph.numbers64(0), values)
    return Rows(values, missing, scaling.low.size)


def _shifted(graph: Graph, X: str, scaling: Scaling, dtype: np.dtype) -> str:
    X = graph.add("Sub", X, graph.constant(scaling.low, dtype))
    X = graph.add("Div", X, graph.constant(scaling.width, dtype))
    return _within(graph, X, scaling.clip, dtype)


def _within(graph: Graph, X: str, bound: float, dtype: np.dtype) -> str:
    return graph.add("Clip", X, graph.constant(-bound, dtype), graph.constant(bound, dtype))


def unusable(graph: Graph, X: str, rows: Rows) -> str:
    """Add NaN for rows that the library rejects and 0 for others, shape (n_rows,).

    Rejected are infinite cells, and missing cells unless they are allowed.
    """
    difference = graph.add("Sub", X, X)
    if rows.missing is not None:
        difference = graph.add(
            "Where", rows.missing, graph.add("CastLike", graph.numbers64(0), X), difference
        )
    return graph.cast(graph.reduce("ReduceSum", difference, 1), np.float64)
