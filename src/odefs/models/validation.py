"""Validation of the input of ``fit``: the detector, the types of the columns, and known rows."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from odefs._row_selection import RowSelection, frame_index, index_labels, read_rows
from odefs.detectors import BUILT_IN, Detector, LeSiNNDetector
from odefs.ensemble.component import KnownCases

MAX_SHOWN = 3
CONVERSION_WORDS = ("convert", "float()", "promoted")
"""Words in error messages about cells that are not numbers. Other errors need no hint on types."""
ARROW_NUMBERS = ("int", "uint", "halffloat", "float", "double", "decimal", "bool")
"""Beginnings of the names of Arrow's types of numbers."""

AUTO = "auto"
"""LeSiNN, with companions (:mod:`odefs.ensemble.companions`)."""


def detector_of(parameters: Mapping[str, Any]) -> Detector:
    """Detector described by the validated parameters of an estimator."""
    detector = parameters.get("detector", LeSiNNDetector.name)
    if detector in (AUTO, LeSiNNDetector.name):
        detector = LeSiNNDetector(
            parameters["n_subsets"], parameters["subset_size"], parameters["metric"]
        )
    elif isinstance(detector, str):
        detector = BUILT_IN[detector]()
    if parameters["missing"] == "ignore" and not detector.handles_missing:
        raise ValueError(
            f"missing='ignore' needs a detector that handles missing values, "
            f"but {detector.name!r} does not."
        )
    found: Detector = detector
    return found


def is_missing_error(error: Exception) -> bool:
    """Whether scikit-learn has found missing cells."""
    return "contains NaN" in str(error)


def missing_message(X: object, cells: Any) -> str:
    """Where missing cells are, and how to allow them; ``cells`` is ``X`` as a matrix."""
    if hasattr(cells, "tocoo"):
        stored = cells.tocoo()
        first = int(stored.col[np.isnan(stored.data)].min())
    else:
        first = int(np.isnan(cells).any(axis=0).argmax())
    names = column_names(X)
    name = repr(names[first]) if names else f"x{first}"
    return (
        "Input X contains NaN: with missing='ignore', rows are scored on their observed cells. "
        f"The first column with a missing cell is {name}."
    )


def require_no_dates(X: object) -> None:
    """Reject dates and durations, which NumPy and polars would convert to integers.

    Their unit may differ between tables, and missing dates would become the lowest integer.
    """
    found = next((kind for kind in _kinds(X) if _is_date(kind)), None)
    if found is not None:
        raise ValueError(f"Dates and times ({found}) are not converted to numbers automatically.")


def require_distinct_names(X: object) -> None:
    """Reject a data frame with two columns of the same name."""
    twice = next((name for name, count in Counter(column_names(X)).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"Two columns are called {twice!r}: rename one of them.")


def require_any_column(X: object) -> None:
    """Reject a data frame without columns, of which scikit-learn only reports the types."""
    is_frame = hasattr(X, "column_names") or hasattr(X, "columns")
    if is_frame and not column_names(X):
        raise ValueError("X is a data frame without columns: give at least one.")


def column_names(X: object) -> list[str]:
    """Names of the columns of a data frame; empty for arrays."""
    return [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]


def _kinds(X: object) -> list[object]:
    """Types of the columns of a data frame or of the cells of an array."""
    if _is_arrow(X):
        return [kind for _, kind in _types_by_name(X)]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _kinds_of_pandas(X)
    if hasattr(X, "collect") and not hasattr(X, "__len__"):  # a lazy frame of polars
        return []
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return list(X.dtypes)
    return _kinds_of_array(X)


def _kinds_of_pandas(X: Any) -> list[object]:
    """Types of the columns, and of dates among the cells of columns of objects."""
    kinds: list[object] = list(X.dtypes)
    return kinds + [
        kind
        for k, dtype in enumerate(kinds)
        if str(dtype) == "object"
        for kind in _of_cells(X.iloc[:, k].to_numpy())
    ]


def _kinds_of_array(X: object) -> list[object]:
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        return _of_cells(X.ravel())
    dtype = getattr(X, "dtype", None)
    return [] if dtype is None else [dtype]


def _of_cells(cells: np.ndarray) -> list[object]:
    """NumPy date and duration types among cells of type object."""
    found = set(map(type, cells.tolist())) & {np.datetime64, np.timedelta64}
    return [np.dtype(kind) for kind in found]


def _is_date(kind: object) -> bool:
    if hasattr(kind, "is_temporal"):  # of polars
        return bool(kind.is_temporal())
    return getattr(kind, "kind", "") in ("m", "M") or str(kind).startswith(
        ("timestamp", "date", "time", "duration")
    )


def hint_for(X: object, error: Exception) -> str | None:
    """A hint that names the columns of a data frame or Arrow table that are not numeric.

    ``None`` for other errors.
    """
    if not any(word in str(error) for word in CONVERSION_WORDS):
        return None
    found = [f"{name!r} ({dtype})" for name, dtype in _types_by_name(X) if not _is_number(dtype)]
    if not found:
        return None
    more = ", ..." if len(found) > MAX_SHOWN else ""
    return (
        f"Not numbers: {', '.join(found[:MAX_SHOWN])}{more}. "
        "Use odefs.detect for such tables, or convert them with TableEncoder."
    )


def _types_by_name(X: object) -> list[tuple[object, object]]:
    """Names and types of the columns of a frame; none for arrays."""
    if _is_arrow(X):
        schema: Any = getattr(X, "schema", None)
        return list(zip(schema.names, schema.types, strict=True))
    dtypes: Any = getattr(X, "dtypes", None)
    columns: Any = getattr(X, "columns", None)
    return [] if dtypes is None or columns is None else list(zip(columns, dtypes, strict=True))


def _is_arrow(X: object) -> bool:
    return type(X).__module__.startswith("pyarrow") and hasattr(X, "schema")


def _is_number(dtype: object) -> bool:
    if type(dtype).__module__.startswith("pyarrow"):
        return str(dtype).startswith(ARROW_NUMBERS)
    if hasattr(dtype, "is_numeric"):  # of polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f", "c")


class NamedCases:
    """Known outliers and normal rows, checked as far as possible without the number of rows.

    ``X`` may have an index with labels for its rows.
    """

    def __init__(self, X: object, outliers: object, normal: object) -> None:
        self.outliers = None if outliers is None else read_rows(outliers, "known_outliers")
        self.normal = None if normal is None else read_rows(normal, "known_normal")
        self.index = frame_index(X)

    def __call__(self, n_rows: int) -> KnownCases:
        """Row numbers in a table with ``n_rows`` rows."""
        bad, good = self._numbers(self.outliers, n_rows), self._numbers(self.normal, n_rows)
        both = np.intersect1d(bad, good)
        if both.size:
            more = f" and {both.size - 1} more" if both.size > 1 else ""
            raise ValueError(
                f"row {both[0]}{more} is in known_outliers and in known_normal: "
                "a row can be in only one of them."
            )
        if good.size == n_rows:
            raise ValueError(
                "known_normal holds all rows: leave out at least one possible outlier."
            )
        return KnownCases(bad, good)

    def _numbers(self, rows: RowSelection | None, n_rows: int) -> np.ndarray:
        if rows is None:
            return np.empty(0, dtype=np.intp)
        return np.unique(rows.numbers(n_rows, index_labels(self.index), self.index))
