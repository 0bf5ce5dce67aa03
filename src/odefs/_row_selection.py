"""Row selections given by a caller, interpreted in the same way everywhere.

Integers are row numbers from 0, booleans are a mask with one value per row, and text (or dates) are
labels: ids, or labels of a pandas index. A pandas index of integers names rows by its labels where
these cannot be row numbers. Ambiguous selections are rejected. ``read_rows`` checks
what does not depend on the table, ``RowSelection.numbers`` the rest.
"""

import datetime
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

WITHOUT_LABELS = "row numbers from 0 or one boolean per row"
ALLOWED = f"{WITHOUT_LABELS}, or labels where the table has an index or an id column"
MISSING_TYPES = ("NAType", "NaTType")
"""Missing values of pandas, by type name, so that pandas need not be imported."""
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")
"""Units of NumPy dates that ``tolist`` converts to integers."""
DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d|-?\d+ days)"
    r"(?P<time>[ T]\+?(?P<hour>\d\d)"
    r"(:(?P<minute>\d\d)(:(?P<second>\d\d)(\.(?P<fraction>\d+))?)?)?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
"""A date or duration as Python, NumPy and pandas write it. pandas omits midnight if a whole index
is at midnight.
"""
LABEL_CODES = ((0, 1, 1), (-1, 1, -1))
"""The two values in arrays of labels, and the one that marks outliers: PyOD's and
scikit-learn's.
"""
LABELS_FROM = 3
"""From this length on, integers that are all 0 or 1 are treated as labels: they repeat rows, which
row numbers need not, whereas two of them may be the rows of a table of two.
"""


@dataclass(frozen=True, eq=False)
class RowSelection:
    """Rows as given by the caller, before the table is known."""

    name: str
    """Name of the argument, for errors."""
    kind: Literal["mask", "numbers", "labels"]
    values: np.ndarray
    series_index: Any = None
    """Index of a pandas Series, by which a mask is aligned."""
    is_index: bool = False
    """Whether the values are themselves a pandas index."""

    def numbers(
        self, n_rows: int, labels: Iterable[object] | None = None, index: object = None
    ) -> np.ndarray:
        """Return row numbers in the given order, with repeats; those of a mask ascend.

        Parameters
        ----------
        n_rows : int
            Number of rows of the table.
        labels : iterable, optional
            Labels of the rows, if they have any.
        index : pandas index, optional
            Index of the table, if it is a pandas frame.
        """
        if self.kind == "mask":
            return self._of_mask(n_rows, index)
        if self.kind == "labels":
            return self._of_labels(labels)
        if self.is_index and index is not None and not _counts_rows(index):
            return self._of_index(n_rows, index)
        # astype, because comparisons of object arrays return objects.
        wrong = self.values[((self.values < 0) | (self.values >= n_rows)).astype(bool)]
        if wrong.size and not n_rows:
            raise ValueError(f"{self.name} holds {wrong[0]}, but the table has no rows.")
        if wrong.size:
            raise ValueError(
                f"{self.name} holds {wrong[0]}, but the {n_rows} rows are numbered 0 to "
                f"{n_rows - 1}."
            )
        return self.values.astype(np.intp)

    def _of_mask(self, n_rows: int, index: object) -> np.ndarray:
        if self.values.size != n_rows:
            raise ValueError(
                f"{self.name} is a boolean mask of length {self.values.size}, but the table has "
                f"{n_rows} rows: it needs one value per row."
            )
        own = self.series_index
        if not (own is None or index is None or _counts_rows(own) or own.equals(index)):
            raise ValueError(
                f"{self.name} is a boolean Series whose index is not that of the table: pass "
                "mask.reindex(frame.index), or mask.to_numpy() if it is in the order of the rows."
            )
        return np.flatnonzero(self.values)

    def _of_index(self, n_rows: int, index: Any) -> np.ndarray:
        """Return the rows with the labels of an index of integers, if it cannot mean numbers."""
        places = index.get_indexer(self.values) if index.is_unique else np.full(1, -1)
        # Ambiguous only if the integers could be row numbers and would then mean other rows.
        are_numbers = ((self.values >= 0) & (self.values < n_rows)).all()
        if (places < 0).any() or (are_numbers and (places != self.values).any()):
            raise ValueError(
                f"{self.name} is a pandas index of integers, which could mean labels or row "
                "numbers: pass frame.index.get_indexer(labels), or row numbers as an array."
            )
        return np.asarray(places, dtype=np.intp)

    def _of_labels(self, labels: Iterable[object] | None) -> np.ndarray:
        wanted = [str(label) for label in self.values]
        if labels is None:
            raise ValueError(
                f"{self.name} holds {wanted[0]!r}, but the rows have no labels: pass "
                f"{WITHOUT_LABELS}."
            )
        places = _rows_of_labels(wanted, labels)
        unknown = [label for label, rows in places.items() if not rows]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            raise ValueError(f"no row has the label {unknown[0]!r}{more}, which {self.name} holds.")
        for label, rows in places.items():
            if len(rows) > 1:
                raise ValueError(
                    f"{len(rows)} rows have the label {label!r}, which {self.name} holds (rows "
                    f"{rows[0]} and {rows[1]} from 0): pass row numbers or a boolean mask."
                )
        return np.array([places[label][0] for label in wanted], dtype=np.intp)


def read_rows(rows: object, name: str = "rows") -> RowSelection:
    """Read one row, or a sequence, an array or a Series (pandas, polars, pyarrow) of rows."""
    rows = _unwrapped(rows, name)
    if isinstance(rows, bool | np.bool_):
        raise TypeError(f"{name}={rows} is a single boolean; it takes {ALLOWED}.")
    if isinstance(rows, np.generic):
        return _of_array(name, np.array([rows]))
    if isinstance(rows, str | numbers.Number | datetime.date | datetime.timedelta):
        return _of_cells(name, [rows])
    if isinstance(rows, Sequence) and not isinstance(rows, bytes | bytearray):
        return _of_cells(name, rows)
    if hasattr(rows, "to_pylist"):  # of pyarrow
        return _of_cells(name, rows.to_pylist())
    if not hasattr(rows, "__array__"):
        raise TypeError(
            f"{name} is of type {type(rows).__name__}; it takes {ALLOWED}, in a list or an array."
        )
    return _of_series(name, rows)


def _unwrapped(rows: object, name: str) -> object:
    """Return the data of a masked array without masked entries, and the entry of a 0-d array."""
    if isinstance(rows, np.ma.MaskedArray):
        if np.ma.getmaskarray(rows).any():
            raise ValueError(
                f"{name} has masked entries: fill them first, as in mask.filled(False)."
            )
        rows = rows.data
    return rows[()] if isinstance(rows, np.ndarray) and rows.ndim == 0 else rows


def _of_series(name: str, rows: Any) -> RowSelection:
    """Read an array, or a Series or an index of pandas or polars."""
    array = np.asarray(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
    # Single pandas durations are formatted like those of its index; NumPy's are not.
    is_pandas = hasattr(rows, "iloc") or hasattr(rows, "get_indexer")
    found = (
        _of_cells(name, list(rows))
        if is_pandas and array.dtype.kind == "m"
        else _of_array(name, array)
    )
    series_index = rows.index if hasattr(rows, "iloc") else None
    return replace(found, series_index=series_index, is_index=hasattr(rows, "get_indexer"))


def frame_index(frame: object) -> Any:
    """Return the index of a pandas frame, ``None`` for other tables."""
    index = getattr(frame, "index", None) if hasattr(frame, "iloc") else None
    # The index of a Dask frame has no get_indexer: its labels are not on this machine.
    return index if hasattr(index, "get_indexer") else None


def index_labels(index: object) -> Any:
    """Return the labels of a pandas index; ``None`` if it only counts rows from 0."""
    return None if index is None or _counts_rows(index) else index


def _counts_rows(index: Any) -> bool:
    """Return whether an index is the default one of pandas."""
    # By name, so that pandas need not be imported.
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _of_array(name: str, rows: np.ndarray) -> RowSelection:
    if rows.ndim != 1:
        raise ValueError(
            f"{name} has {rows.ndim} dimensions; it takes {ALLOWED}, in one dimension."
        )
    if rows.dtype.kind == "b":
        return RowSelection(name, "mask", rows)
    if rows.dtype.kind in "iu":
        return _of_integers(name, rows)
    is_fine = rows.dtype.kind == "M" and np.datetime_data(rows.dtype)[0] in FINER_THAN_PYTHON
    return _of_cells(name, list(rows) if is_fine or rows.dtype.kind == "m" else rows.tolist())


def _of_cells(name: str, cells: Sequence[object]) -> RowSelection:
    """Read cell by cell: NumPy would convert booleans among numbers, and numbers among text."""
    if isinstance(cells, range):
        return _of_integers(name, np.asarray(cells))
    kinds = {_kind(cell) for cell in cells}
    if "nested" in kinds:
        raise ValueError(
            f"{name} has more than one dimension; it takes {ALLOWED}, in one dimension."
        )
    if "missing" in kinds:
        raise ValueError(f"{name} has missing values: fill or drop them; it takes {ALLOWED}.")
    if "floats" in kinds:
        _refuse_floats(name, cells)
    if len(kinds) > 1:
        raise TypeError(f"{name} mixes {' and '.join(sorted(kinds))}; it takes {ALLOWED}.")
    values = np.empty(len(cells), dtype=object)  # holds integers of any length
    values[:] = list(cells)
    if kinds == {"booleans"}:
        return RowSelection(name, "mask", values.astype(bool))
    return (
        RowSelection(name, "labels", values) if kinds == {"labels"} else _of_integers(name, values)
    )


def _of_integers(name: str, values: np.ndarray) -> RowSelection:
    if values.size >= LABELS_FROM:
        _refuse_codes(name, values)
    return RowSelection(name, "numbers", values)


def _refuse_floats(name: str, cells: Sequence[object]) -> None:
    if len(cells) > 1 and all(isinstance(cell, float) for cell in cells):
        _refuse_codes(name, np.array(cells))
    first = next(cell for cell in cells if _kind(cell) == "floats")
    raise TypeError(
        f"{name} holds {first}, a {type(first).__name__}; row numbers are integers from 0."
    )


def _refuse_codes(name: str, values: np.ndarray) -> None:
    """Reject labels of the rows, which would select the first two rows over and over."""
    for low, high, outlier in LABEL_CODES:
        if ((values == low) | (values == high)).all():
            # Rows 0 and 1 may really be intended, but a row -1 or a row 0.0 cannot be.
            is_rows = low == 0 and values.dtype.kind != "f"
            raise ValueError(
                f"{name} holds {values.size} values that are all {low} or {high}, as labels y are, "
                f"but it takes {WITHOUT_LABELS}: pass y == {outlier}, or "
                f"numpy.flatnonzero(y == {outlier})"
                f"{'; to select rows 0 and 1, name each of them once' if is_rows else ''}."
            )


def _rows_of_labels(wanted: Iterable[str], labels: Iterable[object]) -> dict[str, list[int]]:
    """Return the rows of each label; where none is the same text, those of the same date."""
    places: dict[str, list[int]] = {label: [] for label in wanted}
    for row, label in enumerate(labels):
        # A missing label is not the text "nan".
        if not _is_missing(label) and (found := places.get(str(label))) is not None:
            found.append(row)
    without = [label for label, rows in places.items() if not rows]
    return places | _rows_of_dates(without, labels)


def _rows_of_dates(wanted: Iterable[str], labels: Iterable[object]) -> dict[str, list[int]]:
    """Return the rows whose labels are the given dates or durations, in any notation.

    A day without a time is midnight. If that day has more rows it matches all of them, as it could
    mean either.
    """
    dates = {label: match for label in wanted if (match := DATE.fullmatch(label))}
    if not dates:
        return {}
    days = _rows_of_days({match["day"] for match in dates.values()}, labels)
    return {label: _rows_at(match, days[match["day"]]) for label, match in dates.items()}


def _rows_at(wanted: re.Match[str], same_day: Sequence[tuple[int, tuple[str, ...]]]) -> list[int]:
    """Return which rows of a day have the wanted time; all of them if it may mean the day."""
    rows = [row for row, time in same_day if time == _time_of(wanted)]
    return rows if wanted["time"] or not rows else [row for row, _ in same_day]


def _rows_of_days(
    wanted: Iterable[str], labels: Iterable[object]
) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
    """Return the rows of some days or durations, and the time of each row."""
    days: dict[str, list[tuple[int, tuple[str, ...]]]] = {day: [] for day in wanted}
    for row, label in enumerate(labels):
        match = None if _is_missing(label) else DATE.fullmatch(str(label))
        if match and match["day"] in days:
            days[match["day"]].append((row, _time_of(match)))
    return days


def _time_of(match: re.Match[str]) -> tuple[str, ...]:
    clock = (match[part] or "00" for part in ("hour", "minute", "second"))
    return (*clock, (match["fraction"] or "").rstrip("0"), match["zone"] or "")


def _kind(cell: object) -> Literal["booleans", "integers", "floats", "labels", "missing", "nested"]:
    if isinstance(cell, bool | np.bool_):
        return "booleans"
    if isinstance(cell, str | bytes):
        return "labels"
    if _is_missing(cell):
        return "missing"
    if isinstance(cell, numbers.Number) and not isinstance(cell, np.timedelta64):
        return "integers" if isinstance(cell, numbers.Integral) else "floats"
    return "nested" if isinstance(cell, Sequence | Set | Mapping | np.ndarray) else "labels"


def _is_missing(cell: object) -> bool:
    if cell is None or cell is np.ma.masked or type(cell).__name__ in MISSING_TYPES:
        return True
    return isinstance(cell, numbers.Number | np.datetime64 | np.timedelta64) and bool(cell != cell)
