"""Which input column an output column depends on, found by changing one column at a time.

For transformers that do not name their output, such as a ``FunctionTransformer``. A few rows
suffice: an output column that changes with two input columns mixes them.
"""

import datetime
from collections.abc import Callable
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from odefs.tables.frames.convert import frame_names

MAX_ROWS = 64
SHIFT = datetime.timedelta(days=400, hours=5, minutes=7, seconds=9)
"""Added to dates: the year, the month, the day and the time change."""
Transform = Callable[[Any], Any]


class Rows(Protocol):
    """Rows of a table: a frame, an array or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class MixedColumnsError(Exception):
    """An output column depends on several input columns."""

    def __init__(self, columns: list[int]) -> None:
        super().__init__(columns)
        self.columns = columns


class UnknownOriginError(Exception):
    """The input column of an output column was not found."""


def sample_rows(rows: Any) -> Any:
    """Return a few rows, spread over the table."""
    n_rows = rows.shape[0]
    if n_rows <= MAX_ROWS:
        return rows
    chosen = np.linspace(0, n_rows - 1, MAX_ROWS).astype(np.intp)
    if hasattr(rows, "iloc"):
        return rows.iloc[chosen]
    if frame_names(rows) is None:
        return rows[chosen]
    return nw.from_native(rows, eager_only=True)[chosen, :].to_native()


def select_columns(rows: Any, chosen: np.ndarray) -> Any:
    if hasattr(rows, "iloc"):
        return rows.iloc[:, chosen]
    if frame_names(rows) is None:
        return rows[:, chosen]
    return nw.from_native(rows, eager_only=True)[:, chosen.tolist()].to_native()


def probe(transform: Transform, rows: Rows) -> np.ndarray:
    """Return the position of the one input column that each output column depends on.

    An output column that did not change with any input column, because that has one value in these
    rows, comes from the input column of its name.

    Raises
    ------
    MixedColumnsError
        If an output column depends on several input columns.
    UnknownOriginError
        If an output column has no such name, or the transformer did not take the changed rows, or
        its output is random.
    """
    before = _transformed(transform, rows)
    usual = _cells(before)
    # A step whose output is random changes with every column.
    if _differing(usual, _cells(_transformed(transform, rows))).any():
        raise UnknownOriginError
    n_in = rows.shape[1]
    depends = np.zeros((usual.shape[1], n_in), dtype=bool)
    for k in range(n_in):
        cells = _cells(_transformed(transform, _with_changed_column(rows, k)))
        if cells.shape != usual.shape:
            raise UnknownOriginError
        depends[:, k] = _differing(usual, cells)
    mixed = np.flatnonzero(depends.sum(axis=1) > 1)
    if mixed.size:
        raise MixedColumnsError(np.flatnonzero(depends[mixed[0]]).tolist())
    origins = depends.argmax(axis=1)
    for unchanged in np.flatnonzero(~depends.any(axis=1)).tolist():
        origins[unchanged] = _of_same_name(rows, before, unchanged)
    return origins


def _transformed(transform: Transform, rows: Rows) -> object:
    try:
        return transform(rows)
    except Exception as error:  # of another library, about cells that were changed
        raise UnknownOriginError from error


def _of_same_name(rows: object, output: object, column: int) -> int:
    names, given = frame_names(output), frame_names(rows)
    if names is None or given is None or names[column] not in given:
        raise UnknownOriginError
    return given.index(names[column])


def _with_changed_column(rows: Any, k: int) -> Any:
    """Return the rows with other values in one column, where possible in all of its cells."""
    if frame_names(rows) is None:
        changed: Any = rows.tolil() if hasattr(rows, "tolil") else np.array(rows)
        column = changed[:, [k]].toarray()[:, 0] if hasattr(rows, "tolil") else changed[:, k]
        values = _changed(column).astype(changed.dtype, copy=False)
        changed[:, [k]] = values[:, None]
        return changed.asformat(rows.format) if hasattr(rows, "tolil") else changed
    frame = nw.from_native(rows, eager_only=True)
    series = frame[:, k]
    other = _other_values(series)
    if hasattr(rows, "iloc"):
        copied = rows.copy()
        copied.isetitem(k, other.to_native().to_numpy() if _is_plain(other) else _unindexed(other))
        return copied
    return frame.with_columns(other.alias(series.name)).to_native()


def _other_values(series: Any) -> Any:
    """Return other values of the same type: in another order, and moved where that is possible.

    Text is kept as it is, since encoders may refuse what was not in training, unless all of it is
    the same.
    """
    dtype = series.dtype
    if dtype == nw.Boolean:
        return ~series
    turned = series[_rotation(len(series)).tolist()]
    if dtype.is_numeric():
        return (turned * 1.5 + 1 if dtype.is_float() else turned + 1).cast(dtype)
    if dtype == nw.Datetime:
        return turned + SHIFT
    if dtype == nw.String and series.n_unique() == 1:
        cells = [None if cell is None else f"{cell}~" for cell in series.to_list()]
        return nw.new_series("", cells, dtype, backend=series.implementation)
    return turned


def _is_plain(series: "nw.Series") -> bool:
    return isinstance(getattr(series.to_native(), "dtype", None), np.dtype)


def _unindexed(series: "nw.Series") -> object:
    return series.to_native().array


def _changed(column: np.ndarray) -> np.ndarray:
    # In another order as well: a function that standardises the rows it is given undoes a shift.
    turned = column[_rotation(column.size)]
    if column.dtype.kind == "f":
        return turned * 1.5 + 1
    if column.dtype.kind in "iu":
        return turned + 1
    if column.dtype.kind == "b":
        return ~column
    if column.dtype.kind == "O" and all(isinstance(cell, float | int) for cell in column):
        return np.array([cell * 1.5 + 1 for cell in turned], dtype=object)
    return turned


def _rotation(n_rows: int) -> np.ndarray:
    return np.roll(np.arange(n_rows), 1)


def _cells(output: object) -> np.ndarray:
    """Return the cells as numbers, or as text where they are of other types."""
    cells = np.asarray(output.toarray() if hasattr(output, "toarray") else output)
    if cells.ndim != 2:
        raise UnknownOriginError
    if cells.dtype.kind in "biuf":
        return cells
    return np.array([[repr(cell) for cell in row] for row in cells.tolist()], dtype=str).reshape(
        cells.shape
    )


def _differing(usual: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return which columns differ; missing cells are equal."""
    if usual.dtype.kind == "U" or cells.dtype.kind == "U":
        return (usual != cells).any(axis=0)
    return ~((usual == cells) | (np.isnan(usual) & np.isnan(cells))).all(axis=0)
