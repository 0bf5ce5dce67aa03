"""Checks of what users hand to ``fit``: the detector, the cells of the table, and rows whose kind is known."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from odefs._row_selection import RowSelection, frame_index, index_labels, read_rows
from odefs.detectors import BUILT_IN, Detector, LeSiNNDetector
from odefs.ensemble.known_outliers import KnownCases

SHOWN = 3
OF_CONVERSION = ("convert", "float()", "promoted")
"""What errors say where cells are no numbers; columns of objects may be, and then something else is wrong."""


def detector_of(parameters: Mapping[str, Any]) -> Detector:
    """The detector that the checked parameters of an estimator describe."""
    detector = parameters.get("detector", LeSiNNDetector.name)
    if detector == LeSiNNDetector.name:
        detector = LeSiNNDetector(
            parameters["n_subsets"], parameters["subset_size"], parameters["metric"]
        )
    elif isinstance(detector, str):
        detector = BUILT_IN[detector]()
    if parameters["missing"] == "ignore" and not detector.handles_missing:
        raise ValueError(
            f"missing='ignore' needs a detector that handles missing values; {detector.name!r} does not."
        )
    found: Detector = detector
    return found


def hint_for(X: Any, error: Exception) -> str | None:
    """A sentence that helps further; ``None`` where there is none."""
    if "contains NaN" in str(error):
        return "missing='ignore' scores rows with missing cells by the others, as they are."
    return _not_numbers(X, error)


def require_no_dates(X: Any) -> None:
    """Refuse dates and durations, of which numpy and polars make whole numbers: of a unit that another table need not have, and of missing ones the lowest."""
    found = next((kind for kind in _kinds(X) if _is_date(kind)), None)
    if found is not None:
        raise ValueError(f"Dates and times ({found}) do not convert to numbers by themselves.")


def _kinds(X: Any) -> list[Any]:
    """Types of the columns of a frame or of the cells of an array."""
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "schema"):
        return list(X.schema.types)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        kinds = list(X.dtypes)
        return kinds + [
            kind
            for k, dtype in enumerate(kinds)
            if str(dtype) == "object"
            for kind in _of_cells(X.iloc[:, k])
        ]
    if hasattr(X, "collect") and not hasattr(
        X, "__len__"
    ):  # a frame of polars whose rows are not there yet
        return []
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return list(X.dtypes)
    dtype = getattr(X, "dtype", None)
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        return _of_cells(X.ravel())
    return [] if dtype is None else [dtype]


def _of_cells(cells: Any) -> list[Any]:
    """Types of dates and durations of numpy among Python's own objects."""
    found = set(map(type, cells.tolist())) & {np.datetime64, np.timedelta64}
    return [np.dtype(kind) for kind in found]


def _is_date(kind: Any) -> bool:
    if hasattr(kind, "is_temporal"):  # of polars
        return bool(kind.is_temporal())
    return getattr(kind, "kind", "") in ("m", "M") or str(kind).startswith(
        ("timestamp", "date", "time", "duration")
    )


def _not_numbers(X: Any, error: Exception) -> str | None:
    """A sentence that names such columns of a data frame of pandas or polars, and who takes them; ``None`` where there are none."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return None
    if not any(word in str(error) for word in OF_CONVERSION):
        return None
    found = [
        f"{name!r} ({dtype})"
        for name, dtype in zip(X.columns, dtypes, strict=True)
        if not _is_number(dtype)
    ]
    if not found:
        return None
    more = ", ..." if len(found) > SHOWN else ""
    return f"Not numbers: {', '.join(found[:SHOWN])}{more}. odefs.detect takes such tables, and TableEncoder turns them into numbers."


def _is_number(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # of polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f", "c")


class NamedCases:
    """Both selections, checked as far as it goes without the number of rows; ``X`` may have labels for its rows."""

    def __init__(self, X: Any, outliers: Any, normal: Any) -> None:
        self.outliers = None if outliers is None else read_rows(outliers, "known_outliers")
        self.normal = None if normal is None else read_rows(normal, "known_normal")
        self.index = frame_index(X)

    def __call__(self, n_rows: int) -> KnownCases:
        """The rows of a table with ``n_rows`` rows."""
        bad, good = self._numbers(self.outliers, n_rows), self._numbers(self.normal, n_rows)
        both = np.intersect1d(bad, good)
        if both.size:
            more = f" and {both.size - 1} more" if both.size > 1 else ""
            raise ValueError(
                f"row {both[0]}{more} is in known_outliers and in known_normal: a row is one or the other."
            )
        if good.size == n_rows:
            raise ValueError("known_normal holds all rows: none is left that could be an outlier.")
        return KnownCases(bad, good)

    def _numbers(self, rows: RowSelection | None, n_rows: int) -> np.ndarray:
        if rows is None:
            return np.empty(0, dtype=np.intp)
        return np.unique(rows.numbers(n_rows, index_labels(self.index), self.index))
