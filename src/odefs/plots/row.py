"""One row against the typical values of its columns."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from odefs.plots.base import FLAGGED, USUAL, Display, bar_height, one_row, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.models.base import OutlierModel
    from odefs.tables.detection import TableDetection

COLUMNS = 10
FURTHEST = 12.0
"""Values further away, in widths of the middle half, are drawn at the edge."""


class RowDisplay(Display):
    """Values of a row in columns of numbers, relative to the middle half of all rows.

    Parameters
    ----------
    columns : sequence of str
    values : array of shape (n_columns,)
    quartiles : array of shape (3, n_columns)
        Lower quartile, median and upper quartile of all rows.
    """

    def __init__(self, columns: list[str], values: np.ndarray, quartiles: np.ndarray) -> None:
        self.columns = columns
        self.values, self.quartiles = np.asarray(values), np.asarray(quartiles)

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
        """Draw a row of a matrix: the columns that contribute most to its score."""
        explanation = estimator.explain(one_row(X, row))
        order = np.argsort(-explanation.excess[0], kind="stable")[:n_columns]
        matrix = np.asarray(X, dtype=float)[:, order]
        names = [str(explanation.feature_names[k]) for k in order]
        return cls(names, matrix[row], np.nanquantile(matrix, [0.25, 0.5, 0.75], axis=0)).plot(ax)

    @classmethod
    def from_detection(
        cls,
        detection: "TableDetection",
        row: object = None,
        *,
        n_columns: int = COLUMNS,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a row of a table, by default the most outlying one."""
        number = int(detection.numbers(int(detection.order[0]) if row is None else row)[0])
        explanation = detection.explain(number)
        ranked = np.argsort(-explanation.excess[0], kind="stable")
        names = [str(explanation.feature_names[k]) for k in ranked]
        shown = [
            name
            for name in names
            if detection.table[name].kind in ("number", "boolean") and name not in detection.hidden
        ][:n_columns]
        if not shown:
            raise ValueError("a plot of a row needs a column of numbers that is not hidden.")
        cells = np.array([detection.table[name].values for name in shown], dtype=float)
        quartiles = np.nanquantile(cells, [0.25, 0.5, 0.75], axis=1)
        return cls(shown, cells[:, number], quartiles).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the middle half of each column as a bar, the row's value as a point."""
        ax = self._axes(ax, bar_height(len(self.columns)))
        low, middle, high = self.quartiles
        width = np.where(high > low, high - low, 1.0)
        places = np.arange(len(self.columns))
        ax.barh(
            places,
            (high - low) / width,
            left=(low - middle) / width,
            color=USUAL,
            label="middle half",
        )
        at = np.clip((self.values - middle) / width, -FURTHEST, FURTHEST)
        ax.plot(at, places, "o", color=FLAGGED, label="this row")
        for place, x, value in zip(places, at, self.values, strict=True):
            if np.isfinite(x):
                ax.annotate(
                    f"{value:.4g}",
                    (x, place),
                    xytext=(6, 0),
                    textcoords="offset points",
                    va="center",
                )
        ax.set_yticks(places, [short(name) for name in self.columns])
        ax.invert_yaxis()
        ax.margins(x=0.15)
        ax.set(xlabel="distance from the median, in widths of the middle half")
        ax.legend(loc="lower right")
        return self
