"""Conversion of arrays and of data frames (through narwhals) to :class:`Columns`."""

import datetime
import decimal
import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsFloat

import narwhals as nw
import numpy as np

from odefs.engines.other_arrays import local_table
from odefs.engines.row_blocks import unmasked
from odefs.exceptions import TableError
from odefs.system.threads import available_threads, share_tasks
from odefs.tables.frames.arrow import (
    arrow_of,
    cells_of,
    decoded,
    floats_of,
    is_coded,
    seconds_of,
    seconds_since,
)
from odefs.tables.frames.columns import LARGE, SECONDS_PER_DAY, Column, Columns
from odefs.tables.frames.time_zones import zone_of_object, zone_of_type
from odefs.tables.polars_names import nameless

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN_NUMBERS = (numbers.Real, decimal.Decimal)
"""Decimals are numbers, but Python does not register them as real ones."""
PLAIN_CELLS = (str, numbers.Number, datetime.date, datetime.time)
PANDAS_MISSING = ("NaTType", "NAType")
"""Names of pandas' missing values, so that pandas need not be imported."""

EPOCH = datetime.date(1970, 1, 1)
READERS = 4
"""Maximum number of threads that convert columns: each holds its own copies."""
SHORT_COLUMN_ROWS = 1000
"""Columns up to this length are encoded here: data frame methods have a cost per call, which wide
tables would pay thousands of times."""

Series = nw.Series[Any]


def columns_of(frame: object, wanted: Callable[[str], bool] = lambda name: True) -> Columns:
    """Convert a frame: numbers, booleans and times keep their kind, text becomes categories.

    Columns of other types, and those not ``wanted``, are not read.
    """
    frame = local_table(frame)
    if isinstance(frame, Columns):
        return frame
    if isinstance(frame, np.ndarray):
        return _columns_of_array(frame)
    native = checked_frame(frame)
    n_rows = len(native)

    def read(series: Series) -> Column:
        return _column(series) if wanted(str(series.name)) else unread(str(series.name), n_rows)

    return Columns(tuple(share_tasks(read, list(native.iter_columns()), _readers(native))), n_rows)


def checked_frame(frame: object) -> "nw.DataFrame[Any]":
    """Wrap a data frame in narwhals; raise if it is not one, or if names repeat."""
    if hasattr(frame, "toarray"):
        raise TableError("sparse input is not supported here: pass a data frame.")
    advice = _how_to_make_one(frame)
    # A lazy frame would have to run its query to know its names.
    names = [] if advice else frame_names(frame) or []
    if not advice and getattr(getattr(frame, "columns", None), "nlevels", 1) > 1:
        raise TableError(
            "column names of several levels are not supported: flatten them first, as in "
            "frame.columns = ['.'.join(map(str, name)) for name in frame.columns]."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"two columns are called {twice!r}: rename one of them.")
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TableError(
            "a data frame of pandas, polars or pyarrow is needed, not "
            f"{type(frame).__name__}{advice}."
        ) from error


def _how_to_make_one(given: object) -> str:
    """Return how to make a data frame of something else; nothing if it may be one."""
    if type(given).__module__.startswith("polars") and hasattr(given, "collect"):
        return ": .collect() makes one"
    if isinstance(given, dict | list | tuple):
        return ": pandas.DataFrame(...) or polars.DataFrame(...) makes one; arrays are accepted too"
    return ""


def _readers(native: "nw.DataFrame[Any]") -> int:
    """Return the number of threads to read a frame with.

    One for pandas, which changes the process-wide warning filters while it converts.
    """
    is_arrow = native.implementation.is_polars() or native.implementation.is_pyarrow()
    return min(READERS, available_threads()) if is_arrow and len(native) > SHORT_COLUMN_ROWS else 1


def frame_names(frame: object) -> list[str] | None:
    """Return the column names, or ``None``. pyarrow's ``columns`` are arrays, not names."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    return None if names is None else [str(name) for name in names]


def column_cells(frame: Any, name: str) -> list[Any]:
    """Return the cells of one column, unconverted; those of an array as Python numbers."""
    if isinstance(frame, Columns):
        return _numbers_of(frame[name])
    native = nw.from_native(frame, eager_only=True)
    if hasattr(frame, "iloc"):
        # By position: names in pandas frames need not be text.
        series = native[:, [str(own) for own in frame.columns].index(name)]
    else:
        series = native[name]
    arrow = arrow_of(series)
    return _python_cells(series) if arrow is None else cells_of(arrow)


def _python_cells(series: Series) -> list[object]:
    """Return the cells as Python objects; times outside Python's range as text."""
    try:
        return list(series.to_list())
    except (ValueError, OverflowError):
        return [_python_cell(series[row : row + 1]) for row in range(len(series))]


def _python_cell(series: Series) -> object:
    try:
        return series.item()
    except (ValueError, OverflowError):
        # polars marks years of more than four digits.
        return str(series.cast(nw.String).item()).removeprefix("+")


def _numbers_of(column: Column) -> list[object]:
    """Return the numbers of a column of an array; integers if all are, with all their digits."""
    exact = column if column.exact is None else column.exact
    cells = [exact.at(row) for row in range(len(column))]
    are_whole = column.exact is not None or all(cell is None or cell % 1 == 0 for cell in cells)
    return [int(cell) if are_whole and cell is not None else cell for cell in cells]


def _columns_of_array(array: np.ndarray) -> Columns:
    # The first three messages are worded as scikit-learn's estimator checks expect them.
    if array.ndim != 2:
        raise TableError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data.")
    if array.shape[1] == 0:
        raise TableError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.dtype.kind == "c":
        raise TableError("Complex data not supported.")
    if array.dtype.kind not in "biuf":
        raise TableError(f"an array of {array.dtype} is not a table of numbers: pass a data frame.")
    return Columns(
        tuple(_of_array(f"x{k}", array[:, k]) for k in range(array.shape[1])), len(array)
    )


def _of_array(name: str, cells: np.ndarray) -> Column:
    column = _numbers(name, unmasked(cells))
    if cells.dtype.kind not in "iu" or not has_large(column.values):
        return column
    # tolist() of a masked array returns None for masked cells.
    return replace(
        column, exact=_coded(name, [None if cell is None else str(cell) for cell in cells.tolist()])
    )


def _column(series: Series) -> Column:
    name, series = str(series.name), nameless(series)
    if series.dtype.is_integer():
        return _integers(name, series)
    # Arrow's own types are looked at first where narwhals would refuse or round.
    arrow = arrow_of(series)
    for read in (_number_column, _arrow_column, _time_column):
        found = read(name, series, arrow)
        if found is not None:
            return found
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):
        return _category(name, series)
    if series.dtype == nw.Object:
        return _mixed(name, series.to_list())
    return unread(name, len(series), opaque=series.null_count() < len(series))


def _number_column(name: str, series: Series, arrow: "pa.ChunkedArray | None") -> Column | None:
    """Convert floats, decimals and booleans; ``None`` for other types."""
    if arrow is not None and (floats := floats_of(arrow)) is not None:
        return _decimals(name, series, floats, arrow.type.scale == 0)
    if series.dtype.is_numeric():
        kind = getattr(series.to_native(), "dtype", None)  # polars decimals have a scale
        values = _as_floats(series)
        if _were_integers(series, values):
            return _numbers(name, values, whole=True)
        return _decimals(name, series, values, getattr(kind, "scale", None) == 0)
    return Column(name, "boolean", _as_floats(series)) if series.dtype == nw.Boolean else None


def _arrow_column(name: str, series: Series, arrow: "pa.ChunkedArray | None") -> Column | None:
    """Convert what narwhals would not: Arrow's times, dictionaries, and sparse pandas columns."""
    if arrow is not None:
        seconds = seconds_of(arrow)
        if seconds is not None:
            zone = zone_of_type(getattr(arrow.type, "tz", None))
            return Column(name, "time", seconds, zone=zone)
        if is_coded(arrow):
            return _column(nw.from_native(decoded(arrow), series_only=True).alias(name))
    elif hasattr(series.to_native(), "sparse"):
        return _column(nw.from_native(series.to_native().sparse.to_dense(), series_only=True))
    return None


def _time_column(name: str, series: Series, arrow: "pa.ChunkedArray | None") -> Column | None:
    """Convert times, durations and dates of polars and pandas; ``None`` for other types."""
    dtype = series.dtype
    if dtype == nw.Time:
        times = [
            np.nan if t is None else t.hour * 3600 + t.minute * 60 + t.second
            for t in series.to_list()
        ]
        return Column(name, "time", np.array(times, dtype=np.float64))
    if dtype == nw.Duration:
        seconds = _as_floats(series.dt.total_microseconds()) / 1e6
        return replace(_numbers(name, seconds), is_duration=True)
    native = series.to_native()
    zone = getattr(getattr(native, "dtype", None), "tz", None)
    if zone is not None:
        # narwhals does not know all zones of pandas.
        stamps = nw.from_native(native.dt.tz_convert("UTC"), series_only=True)
        return Column(name, "time", _microseconds(stamps, "UTC"), zone=zone_of_object(zone))
    if not dtype.is_temporal():
        return None
    own = getattr(dtype, "time_zone", None)
    is_polars = hasattr(native, "to_physical")
    seconds = _polars_seconds(series) if is_polars else _microseconds(series, own)
    return Column(name, "time", seconds, zone=zone_of_type(own))


def _microseconds(series: Series, zone: str | None) -> np.ndarray:
    """Return seconds since 1970, floored to microseconds."""
    return _as_floats(series.cast(nw.Datetime("us", zone)).dt.timestamp("us")) / 1e6


def _were_integers(series: Series, values: np.ndarray) -> bool:
    """Whether pandas has made floats of integers, which it does if cells are missing.

    The same column of a file, or in polars, is one of integers.
    """
    missing = np.isnan(values)
    if not hasattr(series.to_native(), "iloc") or not missing.any() or missing.all():
        return False
    known = values[~missing]
    return bool((known == np.round(known)).all()) and not has_large(known)


def _as_floats(series: Series) -> np.ndarray:
    floats = series if series.dtype == nw.Float64 else series.cast(nw.Float64)
    return np.asarray(floats.to_numpy(), dtype=np.float64)


def _decimals(name: str, series: Series, values: np.ndarray, whole: bool) -> Column:
    """Make a column of floats, or of integers with their exact values if float64 is too short."""
    column = _numbers(name, values, whole)
    return (
        replace(column, exact=_category(name, series))
        if whole and has_large(column.values)
        else column
    )


def _polars_seconds(series: Series) -> np.ndarray:
    """Convert physical values: casting to microseconds would overflow for distant dates."""
    native = series.to_native()
    whole = native.to_physical().cast(int).fill_null(0).to_numpy()
    unit = getattr(native.dtype, "time_unit", None)
    seconds = (
        whole.astype(np.float64) * SECONDS_PER_DAY if unit is None else seconds_since(whole, unit)
    )
    return np.where(native.is_null().to_numpy(), np.nan, seconds)


def _integers(name: str, series: Series) -> Column:
    """Make a column of integers, with their exact values if float64 is too short."""
    try:
        values = np.asarray(series.to_numpy())
    except Exception:  # 128-bit integers, which NumPy lacks
        values = _as_floats(series)
    column = _numbers(name, values, whole=True)
    return replace(column, exact=_category(name, series)) if has_large(column.values) else column


def _numbers(name: str, values: np.ndarray, whole: bool = False) -> Column:
    """Make a column of numbers; non-finite values count as missing."""
    values = np.asarray(values, dtype=np.float64)
    infinite = np.isinf(values)
    n_infinite = int(infinite.sum())
    return Column(
        name,
        "number",
        np.where(infinite, np.nan, values) if n_infinite else values,
        whole=whole,
        n_infinite=n_infinite,
        infinite=np.where(infinite, values, np.nan) if n_infinite else None,
    )


def has_large(values: np.ndarray) -> bool:
    """Whether some values are so large that float64 does not represent every integer."""
    return bool(values.size and (np.abs(values) >= LARGE).any())


def unread(name: str, n_rows: int, opaque: bool = True) -> Column:
    """Return a column without values."""
    return Column(name, "category", codes=np.full(n_rows, -1, dtype=np.int32), opaque=opaque)


def _category(name: str, series: Series) -> Column:
    labels = getattr(getattr(series.to_native(), "cat", None), "categories", None)
    if labels is not None and labels.dtype.kind in "iufb":
        codes = np.asarray(series.to_native().cat.codes)
        return _labelled(
            _column(nw.from_native(labels.to_series(name=name), series_only=True)), codes
        )
    # Before the cast: older versions of narwhals cast missing pandas cells to words.
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
    """Make a column from codes into numbers or booleans, -1 if missing."""
    if not len(labels):
        return unread(labels.name, codes.size, opaque=False)
    taken = labels.take(codes)  # -1 takes the last one, which is replaced below
    exact = taken.exact and replace(
        taken.exact, codes=np.where(codes < 0, -1, taken.exact.category_codes)
    )
    return replace(taken, numbers=np.where(codes < 0, np.nan, taken.values), exact=exact)


def _mixed(name: str, given: list[object]) -> Column:
    """Convert Python objects: booleans, numbers or dates if all are, else text if all are plain.

    A column with any other object is not read.
    """
    cells = [None if _is_missing(cell) else cell for cell in given]
    known = [cell for cell in cells if cell is not None]
    for is_of_kind, convert in CONVERSIONS:
        if known and all(map(is_of_kind, known)):
            return convert(name, cells)
    if not all(isinstance(cell, PLAIN_CELLS) for cell in known):
        return unread(name, len(cells))
    return _as_text(name, cells)


def _is_missing(cell: object) -> bool:
    is_nan = isinstance(cell, float) and cell != cell
    return is_nan or type(cell).__name__ in PANDAS_MISSING


def _is_boolean(cell: object) -> bool:
    return isinstance(cell, bool | np.bool_)


def _is_number(cell: object) -> bool:
    return isinstance(cell, PLAIN_NUMBERS) and not _is_boolean(cell)


def _is_date(cell: object) -> bool:
    # Not isinstance: datetimes are dates, too, and would lose their time.
    return type(cell) is datetime.date


def _booleans(name: str, cells: list[bool | None]) -> Column:
    values = [np.nan if cell is None else float(cell) for cell in cells]
    return Column(name, "boolean", np.array(values))


def _dates(name: str, cells: list[datetime.date | None]) -> Column:
    days = [np.nan if cell is None else (cell - EPOCH).days for cell in cells]
    return Column(name, "time", np.array(days) * 86_400.0)


def _objects(name: str, cells: list[SupportsFloat | None]) -> Column:
    """Convert Python numbers, such as decimals."""
    whole = all(cell is None or isinstance(cell, numbers.Integral) for cell in cells)
    values = [np.nan if cell is None else _as_float(cell) for cell in cells]
    column = _numbers(name, np.array(values), whole)
    exact = whole and (has_large(column.values) or bool(column.n_infinite))
    # Integers beyond the largest float are not infinite.
    return replace(column, exact=_as_text(name, cells), infinite=None) if exact else column


CONVERSIONS: tuple[tuple[Callable[[object], bool], Callable[[str, list[Any]], Column]], ...] = (
    (_is_boolean, _booleans),
    (_is_number, _objects),
    (_is_date, _dates),
)
"""Kinds of Python objects, and the function for columns that hold this kind only."""


def _as_float(cell: SupportsFloat) -> float:
    try:
        return float(cell)
    except OverflowError:
        return float("inf")
    except ValueError:  # a signaling NaN of the decimal module
        return float("nan")


def _as_text(name: str, cells: Sequence[object]) -> Column:
    return _coded(name, [None if cell is None else str(cell) for cell in cells])


def _coded(name: str, cells: list[str | None]) -> Column:
    levels = tuple(sorted({cell for cell in cells if cell is not None}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if cell is None else place[cell] for cell in cells]
    return Column(name, "category", codes=np.array(codes, dtype=np.int32), levels=levels)
