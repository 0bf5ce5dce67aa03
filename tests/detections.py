"""Detections for the tests of the report, built straight from columns."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from odefs import ODEFS


class Column(NamedTuple):
    name: str
    kind: str
    values: np.ndarray


class Reason(NamedTuple):
    column: str
    kind: str
    value: Any
    contribution: float
    excess: float
    share: float
    percentile: float | None
    frequency: float | None
    usual: Any


@dataclass(frozen=True, eq=False)
class Table:
    by_name: dict[str, Column]

    @property
    def names(self):
        return list(self.by_name)

    @property
    def n_rows(self):
        return len(next(iter(self.by_name.values())).values)

    def __getitem__(self, name):
        return self.by_name[name]


@dataclass(frozen=True, eq=False)
class Encoder:
    columns: list[str]
    sources: np.ndarray

    def by_column(self, values):
        return values @ (self.sources[:, None] == np.arange(len(self.columns))).astype(float)


@dataclass(frozen=True, eq=False)
class Detection:
    model: Any
    X: np.ndarray
    encoder: Encoder
    table: Table
    scores: np.ndarray
    is_outlier: np.ndarray
    threshold: float
    convention: str
    identifier: str
    row_names: Any
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hidden: frozenset[str] = frozenset()
    source: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)

    def reasons(self, rows, k=3):
        explanation = self.model.explain(self.X[list(rows)])
        values, usual = self.encoder.by_column(explanation.values), self.encoder.by_column(explanation.baseline)
        return [
            [self._reason(row, j, values[i], usual) for j in np.argsort(-(values[i] - usual), kind="stable")[:k]]
            for i, row in enumerate(rows)
        ]

    def _reason(self, row, j, values, usual):
        column = self.table[self.encoder.columns[j]]
        value = column.values[row]
        share = float(values[j] / values.sum())
        common = (column.name, column.kind, value, float(values[j]), float(values[j] - usual[j]), share)
        if column.kind in ("number", "time"):
            ordinary = column.values[~self.is_outlier]
            quartiles = tuple(np.nanquantile(ordinary, [0.25, 0.75]))
            percentile = None if np.isnan(value) else 100 * float(np.mean(column.values <= value))
            return Reason(*common, percentile, None, quartiles)
        values, counts = np.unique(column.values.astype(str), return_counts=True)
        best = counts.argmax()
        frequency = float(np.mean(column.values == value))
        name = float(values[best]) if column.kind == "boolean" else str(values[best])
        return Reason(*common, None, frequency, (name, float(counts[best] / counts.sum())))


def make_detection(columns, *, names=None, identifier="row", flag=None, n_estimators="auto", **more):
    """Detect on columns given as ``{name: (kind, values)}``; ``flag`` marks so many rows."""
    table = Table(
        {
            name: Column(name, kind, np.asarray(values, dtype=object if kind == "category" else float))
            for name, (kind, values) in columns.items()
        }
    )
    parts, sources = [], []
    for k, column in enumerate(table.by_name.values()):
        if column.kind == "category":
            codes = sorted({str(value) for value in column.values})
            encoded = np.array([[str(value) == code for code in codes] for value in column.values], dtype=float)
        else:
            encoded = column.values[:, None]
        parts.append(encoded)
        sources += [k] * encoded.shape[1]
    X = np.hstack(parts)
    model = ODEFS(missing="ignore", random_state=0, n_estimators=n_estimators).fit(X)
    scores = model.outlier_scores_
    threshold = -model.offset_
    if flag is not None:
        threshold = float(np.sort(scores)[-flag - 1])
    more.setdefault(
        "source", {"name": "table.csv", "rows": len(X), "columns": len(columns), "bytes": 12345, "sha256": "0" * 64}
    )
    more.setdefault(
        "run",
        {
            "command": "odefs detect table.csv",
            "seed": 0,
            "parameters": {"n_subsets": 50},
            "versions": {"odefs": "0.1.0"},
        },
    )
    return Detection(
        model=model,
        X=X,
        encoder=Encoder(table.names, np.array(sources)),
        table=table,
        scores=scores,
        is_outlier=scores > threshold,
        threshold=threshold,
        convention="Their score exceeds mean + 2 std of all scores (a convention, not an error rate).",
        identifier=identifier,
        row_names=range(1, len(X) + 1) if names is None else names,
        **more,
    )


def transactions():
    """The bundled example."""
    from odefs.datasets.transactions import make_transactions

    rows, _ = make_transactions()
    names = [row["transaction"] for row in rows]
    texts = {"category", "country", "channel", "ab_group", "newsletter"}
    columns = {}
    for name in list(rows[0])[1:]:
        values = [row[name] for row in rows]
        if name in texts:
            columns[name] = ("category", values)
        else:
            columns[name] = ("number", [np.nan if value is None else value for value in values])
    return make_detection(
        columns,
        names=names,
        identifier="transaction",
        source={"name": "transactions.csv", "rows": 800, "columns": 16, "bytes": 63012, "sha256": "8d1f" * 16},
        run={
            "command": "odefs detect transactions.csv --id transaction",
            "seed": 0,
            "parameters": {"n_estimators": "auto", "trust": 0.5},
            "versions": {"odefs": "0.1.0", "numpy": np.__version__},
        },
        notes=["transaction names the rows", "outside_temperature: 16 cells are missing"],
        left_out={"comment": "one value"},
    )
