"""Conversion of Arrow columns to numbers where Arrow refuses to round, e.g. nanoseconds."""

from typing import TYPE_CHECKING, Any

import numpy as np

from odefs.tables.frames.columns import SECONDS_PER_DAY

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MOST_EXACT_POWER = 22
"""The highest power of ten that float64 represents exactly."""


def arrow_of(series: "nw.Series[Any]") -> "pa.ChunkedArray | None":
    """Return the chunked array of a pyarrow or Arrow-backed pandas series, ``None`` for others."""
    # By its methods, so that pyarrow is not imported for frames of other libraries.
    native = series.to_native()
    if hasattr(native, "dictionary_encode"):
        return native
    if type(getattr(native, "dtype", None)).__name__ == "ArrowDtype":
        return native.array.__arrow_array__()
    return None


def is_coded(column: "pa.ChunkedArray") -> bool:
    """Whether it is dictionary-encoded, with values other than text."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(column.type)) and not is_text(column.type.value_type)


def decoded(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Replace dictionary codes by their values."""
    return column.cast(column.type.value_type)


def seconds_of(column: "pa.ChunkedArray") -> np.ndarray | None:
    """Convert dates to seconds since 1970 and times to seconds since midnight; NaN if missing.

    Dates are floored to microseconds and times to seconds, as for pandas and polars frames.
    Returns ``None`` for other types.
    """
    import pyarrow as pa

    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind)):
        return None
    # Arrow has no direct cast from these types to 64 bits.
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
    """Convert counts of a time unit to seconds, floored to microseconds."""
    per_second = PER_SECOND[unit]
    if per_second > 10**6:
        whole, per_second = whole // (per_second // 10**6), 10**6
    return whole.astype(np.float64) / per_second


def floats_of(column: "pa.ChunkedArray") -> np.ndarray | None:
    """Convert decimals to the nearest floats, as polars does; NaN if missing.

    Arrow's own conversion is often off by the last bit. Returns ``None`` for other types.
    """
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
        # A decimal is a 128-bit integer, which is small if its upper half repeats the sign of the
        # lower one.
        low, high = halves[:, 0], halves[:, 1]
        missing = np.asarray(cells.is_null().to_numpy(zero_copy_only=False), dtype=bool)
        exact = (high == low >> 63) & (np.abs(low) <= 2**53)
        if bool((exact | missing).all()):
            # Numerator and denominator are exact in float64, and one division rounds once.
            return np.where(missing, np.nan, low / 10.0**kind.scale)
    return np.array(
        [np.nan if cell is None else float(cell) for cell in column.to_pylist()], dtype=np.float64
    )


def cells_of(column: "pa.ChunkedArray") -> list[object]:
    """Return the cells as Python objects; times outside Python's range as text."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return list(column.cast(pa.string()).to_pylist())


def is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    views = {pa.string_view()}
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind in views)
