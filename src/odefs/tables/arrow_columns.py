"""Columns of Arrow as numbers, where Arrow's own conversions refuse to round: they end with an error at the first nanosecond."""

from typing import Any

import numpy as np

from odefs.tables.columns import SECONDS_PER_DAY

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MOST_EXACT_POWER = 22
"""The highest power of ten that float64 holds exactly."""


def arrow_of(series: Any) -> Any:
    """The chunked array behind a series of pyarrow, or of a pandas frame that keeps its columns in Arrow; ``None`` for others."""
    native = series.to_native()
    if hasattr(native, "dictionary_encode"):
        return native
    if type(getattr(native, "dtype", None)).__name__ == "ArrowDtype":
        return native.array.__arrow_array__()
    return None


def is_coded(column: Any) -> bool:
    """Whether it holds codes of something else than text."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(column.type)) and not is_text(column.type.value_type)


def decoded(column: Any) -> Any:
    """The values of a dictionary in the place of its codes."""
    return column.cast(column.type.value_type)


def seconds_of(column: Any) -> np.ndarray | None:
    """Dates and times as seconds since 1970, times of day as seconds since midnight, NaN where missing; ``None`` for other types.

    Cut off at microseconds, times of day at seconds, towards the past: as frames of pandas and polars are read.
    """
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind)):
        return None
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    whole = column.cast(pa.int64()).fill_null(0).to_numpy()
    if pa.types.is_date32(kind):
        seconds = whole.astype(np.float64) * SECONDS_PER_DAY
    elif pa.types.is_time(kind):
        seconds = (whole // PER_SECOND[kind.unit]).astype(np.float64)
    else:
        seconds = seconds_since(whole, "ms" if pa.types.is_date64(kind) else kind.unit)
    if column.null_count:
        seconds[np.asarray(column.is_null().to_numpy(), dtype=bool)] = np.nan
    return seconds


def seconds_since(whole: np.ndarray, unit: str) -> np.ndarray:
    """Moments that are counted in a unit, as seconds, cut off at microseconds."""
    per_second = PER_SECOND[unit]
    if per_second > 10**6:
        whole, per_second = whole // (per_second // 10**6), 10**6
    return whole.astype(np.float64) / per_second


def floats_of(column: Any) -> np.ndarray | None:
    """Decimals as the floats next to them, NaN where missing, as polars has them; ``None`` for other types. Arrow's own are often off by the last bit."""
    import pyarrow as pa

    kind = column.type
    if not pa.types.is_decimal(kind):
        return None
    if len(column) and kind.bit_width <= 128 and 0 <= kind.scale <= MOST_EXACT_POWER:
        cells = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
        cells = cells.cast(pa.decimal128(38, kind.scale)).combine_chunks()
        cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
        halves = np.frombuffer(cells.buffers()[1], dtype="<i8").reshape(-1, 2)[cells.offset :][
            : len(cells)
        ]
        low, high = halves[:, 0], halves[:, 1]
        missing = np.asarray(cells.is_null().to_numpy(zero_copy_only=False), dtype=bool)
        exact = (high == low >> 63) & (np.abs(low) <= 2**53)
        if bool((exact | missing).all()):
            # Both are whole numbers that a float holds, and one division is rounded once.
            return np.where(missing, np.nan, low / 10.0**kind.scale)
    return np.array(
        [np.nan if cell is None else float(cell) for cell in column.to_pylist()], dtype=np.float64
    )


def cells_of(column: Any) -> list[Any]:
    """Cell by cell as Python has them; times that Python cannot hold as text."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return list(column.cast(pa.string()).to_pylist())


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    views = {pa.string_view()}
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind in views)
