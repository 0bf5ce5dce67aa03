"""Reasons of one row: what its columns contribute to the score above the usual."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from odefs.plots.base import FLAGGED, USUAL, Display, bar_height, one_row, short
from odefs.tables.messages.values import HIDDEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.inspection.explanation import Explanation
    from odefs.models.base import OutlierModel
    from odefs.tables.detection import TableDetection

COLUMNS = 10


class ReasonsDisplay(Display):
    """Bars: the excess of the columns that contribute most to the score of a row.

    Parameters
    ----------
    columns : sequence of str
    excess : array of shape (n_columns,)
        Contributions above the usual ones, largest first.
    values : sequence of object
        The row's values in these columns.
    score : float
        The row's outlier score.
    """

    def __init__(
        self, columns: list[str], excess: np.ndarray, values: list[object], score: float
    ) -> None:
        self.columns, self.values, self.score = columns, values, score
        self.excess = np.asarray(excess)

    @classmethod
    def from_explanation(
        cls,
        explanation: "Explanation",
        row: int = 0,
        *,
        n_columns: int = COLUMNS,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw one row of an explanation."""
        excess = explanation.excess[row]
        order = np.argsort(-excess, kind="stable")[:n_columns]
        return cls(
            [str(explanation.feature_names[k]) for k in order],
            excess[order],
            [explanation.data[row, k] for k in order],
            float(explanation.values[row].sum()),
        ).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: "OutlierModel",
        X: Any,
        row: int = 0,
        *,
        n_columns: int = COLUMNS,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw one row of a matrix, explained by a fitted estimator."""
        found = estimator.explain(one_row(X, row))
        return cls.from_explanation(found, n_columns=n_columns, ax=ax)

    @classmethod
    def from_detection(
        cls,
        detection: "TableDetection",
        row: object = None,
        *,
        n_columns: int = COLUMNS,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw one row of a table, by default the most outlying one."""
        found = detection.explain(int(detection.order[0]) if row is None else row)
        for k, name in enumerate(found.feature_names):
            if name in detection.hidden:
                found.data[:, k] = HIDDEN
        return cls.from_explanation(found, n_columns=n_columns, ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the bars, largest at the top."""
        ax = self._axes(ax, bar_height(len(self.columns)))
        places = np.arange(len(self.columns))
        colors = [FLAGGED if one > 0 else USUAL for one in self.excess]
        ax.barh(places, self.excess, color=colors)
        labels = [
            f"{short(column)} = {short(_cell(value))}"
            for column, value in zip(self.columns, self.values, strict=True)
        ]
        ax.set_yticks(places, labels)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(xlabel=f"contribution above the usual (score {self.score:.3g})")
        return self


def _cell(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float | np.floating) else str(value)
