"""Reasons why rows stand out, and the explanations returned by ``explain`` that hold them.

A column is a reason for a row's score as far as its contribution exceeds the usual one: a noisy
column contributes much to every row and explains none.
"""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from odefs._row_selection import read_rows
from odefs.inspection.explanation_table import ROWS, Line, as_html, as_text, cell_text
from odefs.inspection.resemblances import AnswerParts, Resemblance


@dataclass(frozen=True, slots=True)
class Reason:
    """A column that made a row stand out.

    Explanations of estimators know the first four fields. Detections also know the column's kind
    and how the value compares with the other rows.

    Attributes
    ----------
    column : str
        Name of the column.
    value : object
        The row's value there; None if it is missing.
    contribution : float
        The part of the row's outlier score that comes from this column.
    excess : float
        The contribution above the usual one of this column; reasons are sorted by it.
    kind : {"number", "boolean", "category", "time", ""}
        Kind of the column; empty if unknown.
    share : float or None
        The contribution divided by the row's score.
    percentile : float or None
        Percentage of the column's values that are lower, plus half of the equal ones; for numbers
        and times.
    frequency : float or None
        Share of the rows that have this value; for categories, booleans and missing values.
    usual : tuple or None
        Lower and upper quartile among similar ordinary rows (for times the nearest values that
        occur); for categories and booleans the most common value there and its share.
    equal : float or None
        Percentage of the column's values that are equal; for numbers and times.
    group : tuple or None
        Names and values of the columns that define the row's group, if values are compared within
        groups and the group is known. Percentile, frequency, usual values and equal values are then
        those of the group.
    alone : bool
        Whether no other row of the table belongs to the group. Values are then compared with the
        whole table.
    of_training : bool
        Whether the row is compared with the training rows of a model, because it is of another
        table. Percentile, frequency, usual values and equal values are then those of training, as
        far as the model file has them; the frequency of a value that never occurred there is 0.
        Of more than 256 training rows, the file has some numbers only: ``equal`` is then the
        largest possible percentage, and ``beyond`` the smallest.
    unit : str
        Unit of a number that the table has as text, such as ``kg``; ``%`` if ``value`` and
        ``usual`` are fractions that it has as percentages. For a time, the zone of its column,
        such as ``Europe/Berlin`` or ``+02:00``, if that is not UTC; ``UTC`` for text with several
        offsets. ``duration`` for seconds of a column of durations. Empty for other columns.
    """

    column: str
    value: object
    contribution: float
    excess: float
    kind: str = ""
    share: float | None = None
    percentile: float | None = None
    frequency: float | None = None
    usual: tuple[Any, Any] | None = None
    equal: float | None = None
    group: tuple[tuple[str, str | None], ...] | None = None
    of_training: bool = False
    unit: str = ""
    alone: bool = False

    @property
    def beyond(self) -> float | None:
        """Percentage of the column's values that are less extreme.

        These are the lower values for a high value, and the higher values for a low one.
        """
        if self.percentile is None:
            return None
        # Rounded, because a difference such as 99.9 - 0.05 shows its binary digits otherwise.
        return round(max(self.percentile, 100 - self.percentile) - (self.equal or 0) / 2, 6)


class _RowExplanations:
    """What explanations have in common: their length, array and display, and answered rows."""

    values: np.ndarray
    feature_names: np.ndarray
    answers: AnswerParts | None
    row_names: Sequence[object] | None
    shown: np.ndarray | None

    def __repr__(self) -> str:
        return as_text(self._title(), self._lines(), len(self))

    def _repr_html_(self) -> str:
        return as_html(self._title(), self._lines(), len(self))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype, copy=copy)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def reasons(self, rows: npt.ArrayLike | None = None, k: int = 3) -> list[list[Reason]]:
        raise NotImplementedError

    def resembles(self, rows: npt.ArrayLike | None = None) -> list[list[Resemblance]]:
        """Answered rows that rows resemble, and what this adds to their scores.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, optional
            As in :meth:`reasons`.

        Returns
        -------
        list of list of Resemblance
            One list for each row, largest amount first; empty for models without answers.
        """
        numbers = self._row_numbers(rows).tolist()
        return [[] if self.answers is None else self.answers.of(row) for row in numbers]

    def _title(self) -> str:
        rows, columns = len(self), self.feature_names.size
        counts = (
            f"{rows:,} {'row' if rows == 1 else 'rows'} and "
            f"{columns:,} {'column' if columns == 1 else 'columns'}"
        )
        return f"{type(self).__name__} of {counts}"

    def _lines(self) -> list[Line]:
        n_shown = min(len(self), ROWS)
        names = range(n_shown) if self.row_names is None else self.row_names[:n_shown]
        found = self._displayed().reasons(np.arange(n_shown), k=3)
        return [
            (name, [(reason.column, reason.value, reason.excess) for reason in reasons])
            for name, reasons in zip(names, found, strict=True)
        ]

    def _displayed(self) -> Self:
        """The same with the cells that are displayed."""
        made: Any = self
        return made if self.shown is None else replace(made, data=self.shown)

    def _row_numbers(self, rows: npt.ArrayLike | None) -> np.ndarray:
        """Positions among the explained rows; text names rows."""
        if rows is None:
            return np.arange(len(self))
        chosen = read_rows(rows)
        if chosen.kind == "numbers" and len(self):
            self._require_positions(chosen.values.tolist())
        return chosen.numbers(len(self), self.row_names)

    def _require_positions(self, rows: Sequence[int]) -> None:
        """Raise if numbers are not positions; the error shows how to pass names of rows."""
        wrong = next((row for row in rows if not 0 <= row < len(self)), None)
        if wrong is None or self.row_names is None:
            return
        is_name = str(wrong) in map(str, self.row_names)
        raise ValueError(
            f"rows holds {wrong}, but numbers are positions among the explained rows, 0 to "
            f"{len(self) - 1}, not their row_names: pass "
            + (f"{str(wrong)!r} as text for the row of that name." if is_name else "a position.")
        )


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(_RowExplanations):
    """Contributions of all columns; ``numpy.asarray`` of it is ``values``.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Each row adds up to the row's outlier score, without what answers add to it.
    baseline : array of shape (n_columns,)
        The usual contribution on training rows.
    data : the rows as they were given
    feature_names : array of str
    attribution : str
        How the detector's score is split over the columns.
    answers : AnswerParts or None
        For a model that has learned from answers: ``answers.total`` is what they add to each
        score. :meth:`resembles` names the answered rows.
    row_names : sequence or None
        Names of the rows in the table that they come from: ids, labels of a pandas index, or row
        numbers from 0. ``None`` if the rows were given as a matrix. :meth:`reasons` takes them as
        text.
    shown : array or None
        For a table: ``data`` as it is displayed, with dates and durations, which are seconds in
        ``data``, as text.
    """

    values: np.ndarray
    baseline: np.ndarray
    data: Any
    feature_names: np.ndarray
    attribution: str = ""
    filled: np.ndarray | None = None
    """For the input of a pipeline: which missing cells its steps replaced by numbers."""
    answers: AnswerParts | None = None
    row_names: Sequence[object] | None = None
    shown: np.ndarray | None = None
    library: Any = None
    """Data frame library of the table, for :meth:`to_frame`; ``None`` for arrays."""

    @property
    def excess(self) -> np.ndarray:
        """``values`` above ``baseline``; reasons rank by it."""
        return self.values - self.baseline

    def top(self, k: int) -> "TopExplanation":
        """The ``k`` columns of every row with the largest excess, reasons or not."""
        _require_count(k)
        columns = top_columns(self.excess, k)
        rows = np.arange(columns.shape[0])[:, None]
        cells = self.data[rows, columns]
        return TopExplanation(
            columns,
            self.values[rows, columns],
            self.baseline,
            # Sparse rows have no cells one after the other.
            cells.toarray() if hasattr(cells, "toarray") else cells,
            self.feature_names,
            self.attribution,
            None if self.filled is None else self.filled[rows, columns],
            self.answers,
            self.row_names,
            None if self.shown is None else self.shown[rows, columns],
            self.library,
        )

    def reasons(self, rows: npt.ArrayLike | None = None, k: int = 3) -> list[list[Reason]]:
        """Columns that contribute more than usual to the scores of rows.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, optional
            Integers are positions among the explained rows, from 0, even if :attr:`row_names` are
            integers too; booleans a mask with one value per row; text names rows by
            :attr:`row_names`. By default all rows.
        k : int
            The largest number of reasons for a row.

        Returns
        -------
        list of list of Reason
            One list for each row, largest excess first; a list of one for a single row. A row has
            fewer than ``k`` reasons if fewer columns contribute more than usual.
        """
        numbers = self._row_numbers(rows)
        filled = None if self.filled is None else self.filled[numbers]
        # Only the chosen rows are sorted.
        some = Explanation(
            self.values[numbers],
            self.baseline,
            self.data[numbers],
            self.feature_names,
            filled=filled,
        )
        return some.top(k).reasons()

    def to_frame(self) -> Any:
        """As a data frame with one line for each row and column, in the library of the table.

        For arrays it is a frame of pandas, polars or pyarrow, the first that is installed.

        Returns
        -------
        data frame
            ``row`` (name or number from 0), ``column``, ``value`` (the cell as text, missing if the
            cell is), ``contribution`` and ``excess``. Rows are in the order of the explanation, the
            columns of a row in descending order of excess.

        Examples
        --------
        >>> import polars as pl
        >>> import odefs
        >>> prices = [10.0 + i % 7 for i in range(99)] + [900.0]
        >>> frame = pl.DataFrame({"shop": ["a", "b"] * 50, "price": prices})
        >>> parts = odefs.detect(frame).explain([99]).to_frame()
        >>> parts.select("row", "column", "value").rows()
        [(99, 'price', '900'), (99, 'shop', 'b')]
        """
        return self.top(self.feature_names.size).to_frame()

    def to_shap(self) -> Any:
        """As a ``shap.Explanation``, for SHAP's plots (beeswarm, waterfall, bar, heatmap).

        Its ``values`` are :attr:`excess` and its ``base_values`` the sum of ``baseline``, the
        average score; together they add up to the row's outlier score, without what answers add
        to it. They are split as the detector splits them, and are not Shapley values.
        """
        from odefs.inspection.shap import to_shap

        return to_shap(self)


@dataclass(frozen=True, eq=False, repr=False)
class TopExplanation(_RowExplanations):
    """The top columns of each row: arrays have ``k`` columns, best first.

    ``columns`` holds their numbers.
    """

    columns: np.ndarray
    values: np.ndarray
    baseline: np.ndarray
    data: np.ndarray
    feature_names: np.ndarray
    attribution: str = ""
    filled: np.ndarray | None = None
    answers: AnswerParts | None = None
    row_names: Sequence[object] | None = None
    shown: np.ndarray | None = None
    library: Any = None

    @property
    def excess(self) -> np.ndarray:
        return self.values - self.baseline[self.columns]

    def reasons(
        self, rows: npt.ArrayLike | None = None, k: int | None = None
    ) -> list[list[Reason]]:
        """Columns that contribute more than usual to the scores of rows.

        Parameters
        ----------
        rows : int, str, or array-like of int, bool or str, optional
            Integers are positions among the explained rows, from 0, even if :attr:`row_names` are
            integers too; booleans a mask with one value per row; text names rows by
            :attr:`row_names`. By default all rows.
        k : int, optional
            The largest number of reasons for a row; by default all columns that were kept.

        Returns
        -------
        list of list of Reason
            As :meth:`Explanation.reasons`.
        """
        if k is not None:
            _require_count(k)
        return [self._reasons(row)[:k] for row in self._row_numbers(rows).tolist()]

    def to_frame(self) -> Any:
        """As a data frame with one line for each row and each of its top columns.

        Returns
        -------
        data frame
            As :meth:`Explanation.to_frame`.
        """
        from odefs.inspection.result_frame import as_frame

        n_rows, n_columns = self.columns.shape
        names = range(n_rows) if self.row_names is None else self.row_names
        cells = np.asarray(self._displayed().data, dtype=object).ravel().tolist()
        lines: dict[str, np.ndarray | Sequence[object]] = {
            "row": [name for name in names for _ in range(n_columns)],
            "column": [str(name) for name in self.feature_names[self.columns].ravel()],
            "value": [
                None if cell is None or _is_missing(cell) else cell_text(cell) for cell in cells
            ],
            "contribution": self.values.ravel(),
            "excess": self.excess.ravel(),
        }
        return as_frame(lines, self.library)

    def _reasons(self, row: int) -> list[Reason]:
        excess = self.excess[row]
        return [
            Reason(
                str(self.feature_names[k]),
                _plain(self.data[row, i]),
                float(self.values[row, i]),
                float(excess[i]),
            )
            for i, k in enumerate(self.columns[row])
            # A row without observed cells scores as an ordinary one, and no cell is a reason.
            if excess[i] > 0 and not self._is_unknown(row, i)
        ]

    def _is_unknown(self, row: int, place: int) -> bool:
        return _is_missing(self.data[row, place]) and (
            self.filled is None or not self.filled[row, place]
        )


def _require_count(k: object) -> None:
    if not isinstance(k, numbers.Integral) or k < 1:
        raise ValueError(f"k={k!r} is not a whole number of at least 1.")


def _is_missing(value: object) -> bool:
    return bool(isinstance(value, float | np.floating) and np.isnan(value))


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def top_columns(excess: np.ndarray, k: int) -> np.ndarray:
    """The ``k`` columns of each row with the largest excess, best first.

    Ties go to the lower column number.
    """
    return np.argsort(-excess, axis=1, kind="stable")[:, :k]
