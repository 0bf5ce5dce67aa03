"""From a table on disk to scores and reasons in the table's own columns: what the command line shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from odefs.estimators import ODEFS
from odefs.inspection.explanation import Explanation, Reason
from odefs.tables.encode import encode_table
from odefs.tables.read import TableError, read_table


@dataclass(frozen=True, eq=False)
class Detection:
    """Scores of all rows, and reasons on request."""

    identifier: str
    names: Sequence[Any]
    scores: np.ndarray
    is_outlier: np.ndarray
    columns: list[str]
    left_out: dict[str, str]
    importances: list[tuple[str, float]]
    explained: Explanation
    place: dict[int, int]

    @property
    def n_rows(self) -> int:
        return int(self.scores.size)

    @property
    def order(self) -> list[int]:
        """Row numbers, most outlying first."""
        return [int(row) for row in np.argsort(-self.scores, kind="stable")]

    def reasons(self, row: int, k: int = 3) -> list[Reason]:
        """Columns whose contribution exceeds the usual one by at least a quarter of the foremost excess."""
        reasons = self.explained.reasons(self.place[row], k)
        return [reason for reason in reasons if reason.excess >= 0.25 * reasons[0].excess]

    def as_columns(self) -> dict[str, Any]:
        """The output table: rank (ties share the best), score and flag of every row, in the order of the file."""
        rank = np.searchsorted(np.sort(-self.scores), -self.scores) + 1
        name = self.identifier if self.identifier not in ("score", "rank", "outlier") else f"{self.identifier} (id)"
        return {
            name: list(self.names),
            "score": self.scores,
            "rank": rank,
            "outlier": np.where(self.is_outlier, "yes", "no"),
        }


def detect_table(
    path: Path, identifier: str | None, drop: Sequence[str], seed: int, n_jobs: int | None, top: int
) -> Detection:
    """Read, encode, fit, and explain the ``top`` outliers."""
    frame = read_table(path)
    unknown = [column for column in (*drop, *([identifier] if identifier else [])) if column not in frame.columns]
    if unknown:
        raise TableError(f"{path}: there is no column {unknown[0]!r}; the columns are {', '.join(frame.columns)}.")
    names = list(frame[identifier]) if identifier else list(range(1, frame.height + 1))
    frame = frame.drop([*drop, *([identifier] if identifier else [])])
    table = encode_table(frame)
    if not table.columns:
        raise TableError(f"{path}: no column is left to look at.")
    model = ODEFS(missing="ignore", random_state=seed, n_jobs=n_jobs).fit(table.X)
    rows = np.argsort(-model.outlier_scores_, kind="stable")[:top]
    explanation = model.explain(table.X[rows])
    values = frame.select(table.columns)[rows.tolist()].to_numpy(allow_copy=True).astype(object)
    explained = Explanation(
        table.by_column(np.asarray(explanation)),
        table.by_column(explanation.baseline),
        values,
        np.array(table.columns),
    )
    importances = table.by_column(model.feature_importances_)
    order = np.argsort(-importances, kind="stable")
    return Detection(
        identifier or "row",
        names,
        model.outlier_scores_,
        model.is_outlier_,
        table.columns,
        table.left_out,
        [(table.columns[k], float(importances[k])) for k in order],
        explained,
        {int(row): place for place, row in enumerate(rows)},
    )
