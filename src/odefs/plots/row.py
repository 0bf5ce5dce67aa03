"""One row: its reasons, and its values against the typical ones of their columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from odefs.plots.base import FLAGGED, USUAL, Display, bar_height, one_row, short
from odefs.tables.messages.values import HIDDEN, MISSING, first_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.inspection.explanation import Explanation
    from odefs.models.base import OutlierModel
    from odefs.tables.detection import TableDetection


COLUMNS = 10
FURTHEST = 12.0
"""Values further away, in widths of the middle half, are drawn at the edge, as arrows."""


class RowDisplay(Display):
    """Values of a row in columns of numbers, relative to the middle half of all rows.

    Parameters
    ----------
    columns : sequence of str
    values : array of shape (n_columns,)
    quartiles : array of shape (3, n_columns)
        Lower quartile, median and upper quartile of all rows.
    not_drawn : sequence of str
        Columns that cannot be drawn, because they hold text or dates or are hidden; they are named
        below the axis.
    """

    def __init__(
        self,
        columns: list[str],
        values: np.ndarray,
        quartiles: np.ndarray,
        not_drawn: Sequence[str] = (),
    ) -> None:
        self.columns, self.not_drawn = columns, list(not_drawn)
        self.values, self.quartiles = np.asarray(values), np.asarray(quartiles)

    @classmethod
    def from_estimator(
        cls,
        estimator: "OutlierModel",
        X: object,
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
        numbers = [
            name
            for name in names
            if detection.table[name].kind in ("number", "boolean") and name not in detection.hidden
        ]
        if not numbers:
            raise ValueError("a plot of a row needs a column of numbers that is not hidden.")
        shown, not_drawn = numbers[:n_columns], [name for name in names if name not in numbers]
        cells = np.array([detection.table[name].values for name in shown], dtype=float)
        quartiles = np.nanquantile(cells, [0.25, 0.5, 0.75], axis=1)
        return cls(shown, cells[:, number], quartiles, not_drawn).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the middle half of each column as a bar, the row's value as a point.

        Values beyond the edge are arrows that say so.
        """
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
        distance = (self.values - middle) / width
        at = np.clip(distance, -FURTHEST, FURTHEST)
        is_beyond = np.abs(distance) > FURTHEST
        ax.plot(at[~is_beyond], places[~is_beyond], "o", color=FLAGGED, label="this row")
        for marker, chosen in ((">", distance > FURTHEST), ("<", distance < -FURTHEST)):
            ax.plot(at[chosen], places[chosen], marker, color=FLAGGED)
        for place, x, value, beyond in zip(places, at, self.values, is_beyond, strict=True):
            is_edge = x == FURTHEST and beyond
            ax.annotate(
                _point_label(value, beyond),
                (x if np.isfinite(x) else 0.0, place),
                xytext=(-6 if is_edge else 6, 0),
                textcoords="offset points",
                ha="right" if is_edge else "left",
                va="center",
            )
        ax.set_yticks(places, [short(name) for name in self.columns])
        ax.invert_yaxis()
        ax.margins(x=0.15)
        left_out = first_of([short(name) for name in self.not_drawn])
        below = f"\nnot drawn: {left_out}" if left_out else ""
        ax.set(xlabel=f"distance from the median, in widths of the middle half{below}")
        ax.legend(loc="lower right")
        return self


def _point_label(value: float, is_beyond: bool) -> str:
    if not np.isfinite(value):
        return MISSING
    return f"{value:.4g} (beyond {FURTHEST:g})" if is_beyond else f"{value:.4g}"


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
        cells = explanation.data if explanation.shown is None else explanation.shown
        order = np.argsort(-excess, kind="stable")[:n_columns]
        return cls(
            [str(explanation.feature_names[k]) for k in order],
            excess[order],
            [cells[row, k] for k in order],
            float(explanation.values[row].sum()),
        ).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: "OutlierModel",
        X: object,
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
        is_hidden = np.isin(found.feature_names, list(detection.hidden))
        cells = np.where(is_hidden, HIDDEN, found.data if found.shown is None else found.shown)
        found = replace(found, shown=cells)
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
