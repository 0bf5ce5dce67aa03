"""From a data frame (pandas, polars, pyarrow) to a :class:`~odefs.tables.columns.Columns`; frames are read through narwhals."""

import datetime
import decimal
import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from odefs.exceptions import TableError
from odefs.kernels.masked_arrays import unmasked
from odefs.system.threads import available_threads, share_tasks
from odefs.tables.arrow_columns import (
    arrow_of,
    cells_of,
    decoded,
    floats_of,
    is_coded,
    seconds_of,
    seconds_since,
)
from odefs.tables.columns import LARGE, SECONDS_PER_DAY, Column, Columns
from odefs.tables.readers.polars_names import nameless

PLAIN_NUMBERS = (numbers.Real, decimal.Decimal)
PANDAS_MISSING = ("NaTType", "NAType")
"""Missing marks of pandas, by name: it is not needed here."""

EPOCH = datetime.date(1970, 1, 1)
READERS = 4
"""Threads that read columns at once, at most: each holds copies of its own."""
SHORT_COLUMN_ROWS = 1000
"""Columns up to this length are coded here: the data frame's own way has a price per column, which wide tables pay thousands of times."""


def columns_of(frame: Any, wanted: Callable[[str], bool] = lambda name: True) -> Columns:
    """Numbers, booleans and times as they are, text as categories.

    Cells of other types are not read, and neither are columns that are not wanted.
    """
    if isinstance(frame, Columns):
        return frame
    if isinstance(frame, np.ndarray):
        return _columns_of_array(frame)
    native = checked_frame(frame)
    n_rows = len(native)

    def read(series: Any) -> Column:
        return _column(series) if wanted(str(series.name)) else unread(str(series.name), n_rows)

    return Columns(tuple(share_tasks(read, list(native.iter_columns()), _readers(native))), n_rows)


def checked_frame(frame: Any) -> Any:
    """A data frame as narwhals wraps it; refused where it is none, or two columns share a name."""
    if hasattr(frame, "toarray"):
        raise TableError("sparse input is not supported here: give a data frame.")
    names = frame_names(frame) or []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"two columns are called {twice!r}.")
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TableError(
            f"a data frame of pandas, polars or pyarrow is needed, not {type(frame).__name__}."
        ) from error


def _readers(native: Any) -> int:
    """Threads to read a frame with. pandas changes the process's warning filters while it converts, which two threads at once would not put back."""
    is_arrow = native.implementation.is_polars() or native.implementation.is_pyarrow()
    return min(READERS, available_threads()) if is_arrow and len(native) > SHORT_COLUMN_ROWS else 1


def frame_names(frame: Any) -> list[str] | None:
    """Names of the columns; ``None`` for what has none. What pyarrow calls ``columns`` are their cells."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    return None if names is None else [str(name) for name in names]


def column_cells(frame: Any, name: str) -> list[Any]:
    """One column of a frame as it is, cell by cell."""
    series = nw.from_native(frame, eager_only=True)[name]
    arrow = arrow_of(series)
    return list(series.to_list() if arrow is None else cells_of(arrow))


def _columns_of_array(array: np.ndarray) -> Columns:
    if array.ndim != 2:
        raise TableError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data.")
    if array.shape[1] == 0:
        raise TableError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.dtype.kind == "c":
        raise TableError("Complex data not supported.")
    if array.dtype.kind not in "biuf":
        raise TableError(f"an array of {array.dtype} is not a table of numbers: give a data frame.")
    return Columns(
        tuple(_of_array(f"x{k}", array[:, k]) for k in range(array.shape[1])), len(array)
    )


def _of_array(name: str, cells: np.ndarray) -> Column:
    column = _numbers(name, unmasked(cells))
    if cells.dtype.kind not in "iu" or not has_large(column.values):
        return column
    # Of a masked array tolist() gives None for masked cells.
    return replace(
        column, exact=_coded(name, [None if cell is None else str(cell) for cell in cells.tolist()])
    )


def _column(series: Any) -> Column:
    name, dtype, series = str(series.name), series.dtype, nameless(series)
    if dtype.is_integer():
        return _integers(name, series)
    arrow = arrow_of(series)
    if arrow is not None and (floats := floats_of(arrow)) is not None:
        return _decimals(name, series, floats, arrow.type.scale == 0)
    if dtype.is_numeric():
        floats = np.asarray(series.cast(nw.Float64).to_numpy())
        kind = getattr(series.to_native(), "dtype", None)  # polars' own decimals have a scale
        return _decimals(name, series, floats, getattr(kind, "scale", None) == 0)
    if dtype == nw.Boolean:
        return Column(
            name, "boolean", np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        )
    if arrow is not None:
        # What Arrow would refuse to round.
        seconds = seconds_of(arrow)
        if seconds is not None:
            return Column(name, "time", seconds)
        if is_coded(arrow):
            return _column(nw.from_native(decoded(arrow), series_only=True).alias(name))
    elif hasattr(series.to_native(), "sparse"):
        return _column(nw.from_native(series.to_native().sparse.to_dense(), series_only=True))
    if dtype == nw.Time:
        times = [
            np.nan if t is None else t.hour * 3600 + t.minute * 60 + t.second
            for t in series.to_list()
        ]
        return Column(name, "time", np.array(times, dtype=np.float64))
    if dtype == nw.Duration:
        micro = series.dt.total_microseconds().cast(nw.Float64).to_numpy()
        return _numbers(name, np.asarray(micro) / 1e6)
    if dtype.is_temporal() and hasattr(series.to_native(), "to_physical"):
        return Column(name, "time", _polars_seconds(series.to_native()))
    if dtype.is_temporal():
        stamps = series.cast(nw.Datetime("us", getattr(dtype, "time_zone", None))).dt.timestamp(
            "us"
        )
        return Column(
            name, "time", np.asarray(stamps.cast(nw.Float64).to_numpy(), dtype=np.float64) / 1e6
        )
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _category(name, series)
    if dtype == nw.Object:
        return _mixed(name, series.to_list())
    return unread(name, len(series), opaque=series.null_count() < len(series))


def _decimals(name: str, series: Any, values: np.ndarray, whole: bool) -> Column:
    """Numbers with or without digits behind the point; of whole ones beyond the digits of float64, what they are exactly goes along."""
    column = _numbers(name, values, whole)
    return (
        replace(column, exact=_category(name, series))
        if whole and has_large(column.values)
        else column
    )


def _polars_seconds(series: Any) -> np.ndarray:
    """From the numbers behind dates: a cast to microseconds would end at the first moment that these have no room for."""
    whole = series.to_physical().cast(int).fill_null(0).to_numpy()
    unit = getattr(series.dtype, "time_unit", None)
    seconds = (
        whole.astype(np.float64) * SECONDS_PER_DAY if unit is None else seconds_since(whole, unit)
    )
    return np.where(series.is_null().to_numpy(), np.nan, seconds)


def _integers(name: str, series: Any) -> Column:
    """Whole numbers; where some have more digits than float64, what they are exactly goes along."""
    try:
        values = np.asarray(series.to_numpy())
    except Exception:  # integers of 128 bits, for which numpy has no type
        values = np.asarray(series.cast(nw.Float64).to_numpy())
    column = _numbers(name, values, whole=True)
    return replace(column, exact=_category(name, series)) if has_large(column.values) else column


def _numbers(name: str, values: np.ndarray, whole: bool = False) -> Column:
    """What is not a finite number counts as missing."""
    values = np.asarray(values, dtype=np.float64)
    infinite = np.isinf(values)
    n_infinite = int(infinite.sum())
    return Column(
        name,
        "number",
        np.where(infinite, np.nan, values) if n_infinite else values,
        whole=whole,
        n_infinite=n_infinite,
    )


def has_large(values: np.ndarray) -> bool:
    """Whether there are numbers of which float64 cannot tell all whole ones apart."""
    return bool(values.size and (np.abs(values) >= LARGE).any())


def unread(name: str, n_rows: int, opaque: bool = True) -> Column:
    """A column without cells."""
    return Column(name, "category", codes=np.full(n_rows, -1, dtype=np.int32), opaque=opaque)


def _category(name: str, series: Any) -> Column:
    labels = getattr(getattr(series.to_native(), "cat", None), "categories", None)
    if labels is not None and labels.dtype.kind in "iufb":
        codes = np.asarray(series.to_native().cat.codes)
        return _labelled(
            _column(nw.from_native(labels.to_series(name=name), series_only=True)), codes
        )
    # Asked before the cast, which turned missing cells of pandas into words in earlier versions of narwhals.
    missing = series.is_null().to_numpy()
    text = series.cast(nw.String)
    if len(series) <= SHORT_COLUMN_ROWS:
        cells = zip(text.to_list(), missing.tolist(), strict=True)
        return _coded(
            name, [cell if isinstance(cell, str) and not absent else None for cell, absent in cells]
        )
    levels = sorted(series.drop_nulls().cast(nw.String).unique().to_list())
    if not levels:
        return Column(name, "category", codes=np.full(len(series), -1, dtype=np.int32))
    codes = text.replace_strict(
        levels, list(range(len(levels))), default=None, return_dtype=nw.Float64
    ).to_numpy()
    codes = np.where(missing | np.isnan(codes), -1, codes).astype(np.int32)
    return Column(name, "category", codes=codes, levels=tuple(levels))


def _labelled(labels: Column, codes: np.ndarray) -> Column:
    """Cells that are given as codes into numbers or truth values, -1 where missing."""
    if not len(labels):
        return unread(labels.name, codes.size, opaque=False)
    taken = labels.take(codes)  # -1 takes the last one, which goes again
    exact = taken.exact and replace(
        taken.exact, codes=np.where(codes < 0, -1, taken.exact.category_codes)
    )
    return replace(taken, numbers=np.where(codes < 0, np.nan, taken.values), exact=exact)


def _mixed(name: str, cells: list[Any]) -> Column:
    """A column of Python objects: truth values, numbers or dates if all are, text if all are plain, unread otherwise."""
    missing = [
        cell is None
        or (isinstance(cell, float) and cell != cell)
        or type(cell).__name__ in PANDAS_MISSING
        for cell in cells
    ]
    known = [cell for cell, gone in zip(cells, missing, strict=True) if not gone]
    if known and all(isinstance(cell, bool | np.bool_) for cell in known):
        values = [
            np.nan if gone else float(cell) for cell, gone in zip(cells, missing, strict=True)
        ]
        return Column(name, "boolean", np.array(values))
    if known and all(
        isinstance(cell, PLAIN_NUMBERS) and not isinstance(cell, bool | np.bool_) for cell in known
    ):
        return _objects(name, cells, missing)
    if known and all(type(cell) is datetime.date for cell in known):
        days = [
            np.nan if gone else (cell - EPOCH).days
            for cell, gone in zip(cells, missing, strict=True)
        ]
        return Column(name, "time", np.array(days) * 86_400.0)
    if any(
        not isinstance(cell, str | numbers.Number | datetime.date | datetime.time) for cell in known
    ):
        return unread(name, len(cells))
    return _coded(
        name, [None if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)]
    )


def _objects(name: str, cells: list[Any], missing: list[bool]) -> Column:
    """Numbers that are Python's own, as decimals are."""
    pairs = list(zip(cells, missing, strict=True))
    whole = all(gone or isinstance(cell, numbers.Integral) for cell, gone in pairs)
    column = _numbers(
        name, np.array([np.nan if gone else _as_float(cell) for cell, gone in pairs]), whole
    )
    exact = whole and (has_large(column.values) or bool(column.n_infinite))
    return (
        replace(column, exact=_coded(name, [None if gone else str(cell) for cell, gone in pairs]))
        if exact
        else column
    )


def _as_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return float("inf")
    except ValueError:  # decimals have a NaN that does not become one
        return float("nan")


def _coded(name: str, cells: list[str | None]) -> Column:
    levels = tuple(sorted({cell for cell in cells if cell is not None}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if cell is None else place[cell] for cell in cells]
    return Column(name, "category", codes=np.array(codes, dtype=np.int32), levels=levels)
