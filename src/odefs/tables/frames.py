"""From a data frame (pandas, polars, pyarrow) to a :class:`~odefs.tables.columns.Table`; frames are read through narwhals."""

from typing import Any

import narwhals as nw
import numpy as np

from odefs.tables.columns import Column, Table, TableError


def table_of(frame: Any) -> Table:
    """Numbers, truth values and times as they are, everything else as categories; nested columns become empty."""
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, np.ndarray) and frame.ndim == 2 and frame.dtype.kind in "biuf":
        numbers = frame.astype(np.float64)
        return Table(
            tuple(Column(f"x{k}", "number", _finite(numbers[:, k])) for k in range(frame.shape[1])), len(frame)
        )
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TableError(f"a data frame of pandas, polars or pyarrow is needed, not {type(frame).__name__}.") from error
    return Table(tuple(_column(series) for series in native.iter_columns()), len(native))


def frame_index(frame: Any) -> Any:
    """The index of a pandas frame, ``None`` for others."""
    return getattr(frame, "index", None) if hasattr(frame, "iloc") else None


def _column(series: Any) -> Column:
    name, dtype = str(series.name), series.dtype
    if dtype.is_numeric():
        return Column(name, "number", _finite(series.cast(nw.Float64).to_numpy()), whole=dtype.is_integer())
    if dtype == nw.Boolean:
        return Column(name, "boolean", _finite(series.cast(nw.Float64).to_numpy()))
    if dtype == nw.Time:
        times = [np.nan if t is None else t.hour * 3600 + t.minute * 60 + t.second for t in series.to_list()]
        return Column(name, "time", np.array(times, dtype=np.float64))
    if dtype == nw.Duration:
        micro = series.dt.total_microseconds().cast(nw.Float64).to_numpy()
        return Column(name, "number", _finite(micro) / 1e6)
    if dtype.is_temporal():
        stamps = series.cast(nw.Datetime("us", getattr(dtype, "time_zone", None))).dt.timestamp("us")
        return Column(name, "time", _finite(stamps.cast(nw.Float64).to_numpy()) / 1e6)
    if dtype.is_nested():
        return Column(name, "category", codes=np.full(len(series), -1, dtype=np.int32))
    return _category(name, series)


def _category(name: str, series: Any) -> Column:
    if series.dtype == nw.Object:
        return _mixed(name, series.to_list())
    text = series.cast(nw.String)
    levels = sorted(text.drop_nulls().unique().to_list())
    if not levels:
        return Column(name, "category", codes=np.full(len(series), -1, dtype=np.int32))
    codes = text.replace_strict(levels, list(range(len(levels))), default=None, return_dtype=nw.Float64).to_numpy()
    return Column(name, "category", codes=np.where(np.isnan(codes), -1, codes).astype(np.int32), levels=tuple(levels))


def _mixed(name: str, cells: list[Any]) -> Column:
    """A column of Python objects: truth values if all are, text otherwise."""
    missing = [cell is None or cell != cell for cell in cells]
    known = [cell for cell, gone in zip(cells, missing, strict=True) if not gone]
    if known and all(isinstance(cell, bool | np.bool_) for cell in known):
        values = [np.nan if gone else float(cell) for cell, gone in zip(cells, missing, strict=True)]
        return Column(name, "boolean", np.array(values))
    levels = tuple(sorted({str(cell) for cell in known}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if gone else place[str(cell)] for cell, gone in zip(cells, missing, strict=True)]
    return Column(name, "category", codes=np.array(codes, dtype=np.int32), levels=levels)


def _finite(values: np.ndarray) -> np.ndarray:
    """What is not a finite number counts as missing."""
    values = np.asarray(values, dtype=np.float64)
    bad = ~np.isfinite(values)
    return np.where(bad, np.nan, values) if bad.any() else values
