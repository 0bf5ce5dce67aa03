"""Builder for ONNX graphs: nodes and constants with unique names, also across nested graphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.bool_): TensorProto.BOOL,
}


@dataclass(frozen=True, eq=False)
class Graph:
    """Graph under construction. Nodes refer to values by name."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def inner(self) -> "Graph":
        """Return a graph for a branch or a loop.

        It may refer to values of this graph, which holds the constants of both.
        """
        return Graph(constants=self.constants, numbers=self.numbers)

    def name(self, kind: str) -> str:
        return f"{kind.lower()}_{next(self.numbers)}"

    def constant(self, value: ArrayLike, dtype: DTypeLike | None = None) -> str:
        array = np.asarray(value, dtype=dtype)
        name = self.name("constant")
        # reshape(), because ascontiguousarray() turns a scalar into an array of one element.
        self.constants.append(
            numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        )
        return name

    def numbers64(self, value: ArrayLike) -> str:
        return self.constant(value, np.float64)

    def integers(self, value: ArrayLike) -> str:
        return self.constant(value, np.int64)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = self.name(operator) if output is None else output
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, value: str, dtype: DTypeLike) -> str:
        return self.add("Cast", value, to=TYPES[np.dtype(dtype)])

    def reduce(self, operator: str, value: str, axis: int, keep: bool = False) -> str:
        # From opset 18 on, all reductions take their axes as an input instead of an attribute.
        return self.add(operator, value, self.integers([axis]), keepdims=int(keep))

    def finished(
        self,
        name: str,
        inputs: Sequence[ValueInfoProto],
        outputs: Sequence[ValueInfoProto],
        *,
        outermost: bool = False,
    ) -> GraphProto:
        return helper.make_graph(
            self.nodes,
            name,
            list(inputs),
            list(outputs),
            # Graphs of branches and loops may refer to constants of the outermost graph.
            initializer=self.constants if outermost else [],
        )


def described(name: str, dtype: DTypeLike, shape: Sequence[int | str | None]) -> ValueInfoProto:
    """Return the type and shape of an input or output."""
    return helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], list(shape))


@dataclass(frozen=True)
class Rows:
    """Names of scaled rows (float64) and of the mask of missing cells, if cells may be missing.

    Missing cells are 0 in the rows.
    """

    values: str
    missing: str | None
    n_columns: int

    def take(self, graph: Graph, columns: np.ndarray) -> "Rows":
        """Select some of the columns."""
        if columns.size == self.n_columns:
            return self
        chosen = graph.integers(columns)
        missing = (
            None if self.missing is None else graph.add("Gather", self.missing, chosen, axis=1)
        )
        return Rows(graph.add("Gather", self.values, chosen, axis=1), missing, int(columns.size))

    def seen(self, graph: Graph) -> str:
        """Add the mask with 1 for observed cells and 0 for missing ones."""
        assert self.missing is not None
        return graph.cast(graph.add("Not", self.missing), np.float64)
