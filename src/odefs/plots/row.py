"""One row: its reasons, and its values against the typical ones of their columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csc_array

from odefs._row_selection import MISSING_TYPES
from odefs.engines.row_blocks import is_sparse, unmasked
from odefs.plots.base import (
    FLAGGED,
    LONGEST_NAME,
    Display,
    add_legend,
    bar_height,
    ink,
    one_row,
    require_columns,
    require_model,
    set_xlabel,
    short,
    short_names,
    single_row,
    usual_color,
)
from odefs.tables.messages.values import MISSING, first_of
from odefs.tables.results.displayed_rows import RowTexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odefs.inspection.explanation import Explanation
    from odefs.models.base import OutlierModel
    from odefs.tables.results.detection import TableDetection


COLUMNS = 10
LONGEST_LIST = 72
"""Characters of the names of columns that are not drawn."""
LONGEST_LABEL, LONGEST_VALUE = 40, 20
"""Characters of a column with its value, and of the value."""
FURTHEST = 12.0
"""Values further away, in widths of the middle half, are drawn at the edge, as arrows."""


class RowDisplay(Display):
    """Values of a row in columns of numbers and dates, relative to the middle half of all rows.

    Parameters
    ----------
    columns : sequence of str
    values : array of shape (n_columns,)
    quartiles : array of shape (3, n_columns)
        Lower quartile, median and upper quartile of all rows.
    not_drawn : sequence of str
        Columns that cannot be drawn, because they hold text or are hidden; they are named below the
        axis.
    labels : sequence of str or None, optional
        Texts of values that are not shown as numbers, such as dates, whose values are seconds.
    name : object, optional
        Name or number of the row, for the title.
    """

    def __init__(
        self,
        columns: list[str],
        values: np.ndarray,
        quartiles: np.ndarray,
        not_drawn: Sequence[str] = (),
        labels: Sequence[str | None] | None = None,
        name: object = None,
    ) -> None:
        self.columns, self.not_drawn = columns, list(not_drawn)
        self.labels = [None] * len(columns) if labels is None else list(labels)
        self.name = name
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
        require_model(estimator)
        require_columns(n_columns)
        explanation = estimator.explain(one_row(X, row))
        order = np.argsort(-explanation.excess[0], kind="stable")[:n_columns]
        matrix = _floats(X, order)
        names = [str(explanation.feature_names[k]) for k in order]
        quartiles = np.nanquantile(matrix, [0.25, 0.5, 0.75], axis=0)
        return cls(names, matrix[row], quartiles, name=row).plot(ax)

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
        require_columns(n_columns)
        number = _row_of(detection, row)
        explanation = detection.explain(number)
        ranked = np.argsort(-explanation.excess[0], kind="stable")
        names = [str(explanation.feature_names[k]) for k in ranked]
        numbers = [name for name in names if _can_be_drawn(name, detection)]
        if not numbers:
            raise ValueError(
                "a plot of a row needs a column of numbers or dates that is not hidden."
            )
        shown, not_drawn = numbers[:n_columns], [name for name in names if name not in numbers]
        cells = np.array([detection.table[name].values for name in shown], dtype=float)
        quartiles = np.nanquantile(cells, [0.25, 0.5, 0.75], axis=1)
        texts = _cell_texts(explanation)
        return cls(
            shown,
            cells[:, number],
            quartiles,
            not_drawn,
            [texts[name] for name in shown],
            RowTexts(detection, first=0)[number],
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the middle half of each column as a bar, the row's value as a point.

        Values beyond the edge are arrows that say so.
        """
        ax = self._axes(ax, bar_height(len(self.columns)))
        low, middle, high = self.quartiles
        # If half of the values are equal, there is no width to measure by: distances are in the
        # unit of the column.
        width = np.where(high > low, high - low, 1.0)
        places = np.arange(len(self.columns))
        ax.barh(
            places,
            (high - low) / width,
            left=(low - middle) / width,
            color=usual_color(),
            label="middle half",
        )
        distance = (self.values - middle) / width
        at = np.clip(distance, -FURTHEST, FURTHEST)
        is_beyond = np.abs(distance) > FURTHEST
        ax.plot(at[~is_beyond], places[~is_beyond], "o", color=FLAGGED, label="this row")
        for marker, chosen in ((">", distance > FURTHEST), ("<", distance < -FURTHEST)):
            ax.plot(at[chosen], places[chosen], marker, color=FLAGGED)
        ax.margins(x=0.15)
        center = sum(ax.get_xlim()) / 2
        for place, x, value, text in zip(places, at, self.values, self.labels, strict=True):
            # A missing value has no place of its own: its label is at the median. In the right
            # half the label is on the left of its point, so that it stays inside the axes.
            x = x if np.isfinite(x) else 0.0
            is_right = x > center
            ax.annotate(
                _point_label(value, text, is_beyond[place]),
                (x, place),
                xytext=(-6 if is_right else 6, 0),
                textcoords="offset points",
                ha="right" if is_right else "left",
                va="center",
            )
        ax.set_yticks(places, short_names(self.columns))
        ax.invert_yaxis()
        if self.name is not None:
            ax.set_title(_title(self.name))
        left_out = first_of([short(name) for name in self.not_drawn], longest=LONGEST_LIST)
        below = f"\nnot drawn: {left_out}" if self.not_drawn else ""
        set_xlabel(ax, f"distance from the median, in widths of the middle half{below}")
        add_legend(ax)
        return self


def _can_be_drawn(name: str, detection: "TableDetection") -> bool:
    """Whether a column has numbers or dates that may be shown."""
    return detection.table[name].kind != "category" and name not in detection.hidden


def _cell_texts(explanation: "Explanation") -> dict[str, str | None]:
    """The text of each cell of the first row; ``None`` for those that are shown as numbers."""
    cells = explanation.data if explanation.shown is None else explanation.shown
    # Dates and durations are displayed as text.
    return {
        str(name): cell if isinstance(cell, str) else None
        for name, cell in zip(explanation.feature_names, cells[0], strict=True)
    }


def _point_label(value: float, text: str | None, is_beyond: bool) -> str:
    if not np.isfinite(value):
        return MISSING
    shown = f"{value:.4g}" if text is None else short(text)
    return f"{shown} (beyond {FURTHEST:g})" if is_beyond else shown


def _title(name: object) -> str:
    return f"row {short(str(name))}"


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
    name : object, optional
        Name or number of the row, for the title.
    """

    def __init__(
        self,
        columns: list[str],
        excess: np.ndarray,
        values: list[object],
        score: float,
        name: object = None,
    ) -> None:
        self.columns, self.values, self.score, self.name = columns, values, score, name
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
        require_columns(n_columns)
        row = single_row(explanation._row_numbers(row), row)
        names = explanation.row_names
        excess = explanation.excess[row]
        cells = explanation.data if explanation.shown is None else explanation.shown
        order = np.argsort(-excess, kind="stable")[:n_columns]
        added = 0.0 if explanation.answers is None else explanation.answers.total[row]
        return cls(
            [str(explanation.feature_names[k]) for k in order],
            excess[order],
            [cells[row, k] for k in order],
            float(explanation.values[row].sum() + added),
            row if names is None else names[row],
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
        require_model(estimator)
        found = replace(estimator.explain(one_row(X, row)), row_names=[row])
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
        found = detection.explain(_row_of(detection, row))
        return cls.from_explanation(found, n_columns=n_columns, ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the bars, largest at the top."""
        ax = self._axes(ax, bar_height(len(self.columns)))
        places = np.arange(len(self.columns))
        usual = usual_color()
        colors = [FLAGGED if one > 0 else usual for one in self.excess]
        ax.barh(places, self.excess, color=colors)
        ax.set_yticks(places, _column_labels(self.columns, self.values))
        ax.invert_yaxis()
        ax.axvline(0, color=ink(), linewidth=0.8)
        if self.name is not None:
            ax.set_title(_title(self.name))
        set_xlabel(ax, f"contribution above the usual (score {self.score:.3g})")
        return self


def _row_of(detection: "TableDetection", row: object) -> int:
    """The number of the row that is drawn, by default the most outlying one."""
    given = int(detection.order[0]) if row is None else row
    return single_row(detection.numbers(given), row)


def _column_labels(columns: Sequence[str], values: Sequence[object]) -> list[str]:
    """Columns with their values, of a length that leaves room for the bars."""
    cells = [short(_cell(value), LONGEST_VALUE) for value in values]
    room = LONGEST_LABEL - max(map(len, cells), default=0) - len(" = ")
    names = short_names(columns, min(LONGEST_NAME, room))
    return [f"{name} = {cell}" for name, cell in zip(names, cells, strict=True)]


def _floats(X: Any, columns: np.ndarray) -> np.ndarray:
    """Some columns of a matrix or frame as numbers; masked cells are missing."""
    if is_sparse(X):
        X = csc_array(X)[:, columns].toarray()
        return np.asarray(X, dtype=float)
    return np.asarray(unmasked(X), dtype=float)[:, columns]


def _cell(value: object) -> str:
    # NaN differs from itself; whether NA of pandas does is not known.
    if value is None or type(value).__name__ in MISSING_TYPES or value != value:
        return MISSING
    return f"{value:.5g}" if isinstance(value, float | np.floating) else str(value)
