"""Common column types for a table stored in several files.

Whole numbers in one month may be floats in another, and a column without values has no type at
all. Numbers of any width and decimals have a common type, and so have timestamps of one time zone;
text and numbers do not, because there is no telling which one was intended. The rules are defined
on Arrow types and serve both readers, in memory and in batches.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from odefs.engines.parquet import require_same_columns
from odefs.exceptions import TableError
from odefs.tables.frames.arrow import floats_of

if TYPE_CHECKING:
    import pyarrow as pa

DType = TypeVar("DType")
"""A data type of polars or Arrow."""

MOST_DIGITS = 38
"""Precision of the longest decimal that polars and Arrow share."""


def common_types_of(
    files: Sequence[Path],
    schemas: Sequence[Mapping[str, DType]],
    none: DType,
    common: Callable[[DType, DType], DType | None],
) -> dict[str, DType]:
    """Return a type for each column of the first file; other files may order columns differently.

    ``none`` is the type of a column without values. ``common`` returns the common type of two
    types, or ``None`` if there is none.
    """
    require_same_columns(files, [list(schema) for schema in schemas])
    types = dict(schemas[0])
    giver = dict.fromkeys(types, files[0])
    for file, here in zip(files[1:], schemas[1:], strict=True):
        for name, kind in here.items():
            if kind == none:
                continue
            if types[name] == none:
                types[name], giver[name] = kind, file
                continue
            found = common(types[name], kind)
            if found is None:
                raise TableError(
                    f"{file}: its column {name!r} is of another type than in "
                    f"{giver[name].name}: write both with one type."
                )
            types[name] = found
    return types


def common_schema(files: Sequence[Path], schemas: Sequence["pa.Schema"]) -> "pa.Schema":
    """Return the schema of a table stored in several files; every column is nullable."""
    import pyarrow as pa

    first = schemas[0]
    held = [{field.name: field.type for field in schema} for schema in schemas]
    types = common_types_of(files, held, pa.null(), common_type) if len(files) > 1 else held[0]
    return pa.schema(
        [field.with_nullable(True).with_type(plain_type(types[field.name])) for field in first]
    )


def common_type(one: "pa.DataType", other: "pa.DataType") -> "pa.DataType | None":
    """Return a type that holds the values of both, or ``None``.

    String offsets (``string``, ``large_string``) and dictionary encoding make no difference.
    """
    import pyarrow as pa

    one, other = plain_type(one), plain_type(other)
    long = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    if long.get(one, one) == long.get(other, other):
        return one
    if _is_number(one) and _is_number(other):
        return _common_number(one, other)
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        # Nanoseconds cover only 1677 to 2262, and nothing here needs better than microseconds.
        return pa.timestamp("us", one.tz)
    if pa.types.is_time(one) and pa.types.is_time(other):
        return pa.time64("ns")
    return None


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _common_number(one: "pa.DataType", other: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    if pa.types.is_floating(one) or pa.types.is_floating(other):
        same = pa.types.is_floating(one) and pa.types.is_floating(other)
        return (
            pa.from_numpy_dtype(np.result_type(one.to_pandas_dtype(), other.to_pandas_dtype()))
            if same
            else pa.float64()
        )
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        found = pa.from_numpy_dtype(np.result_type(one.to_pandas_dtype(), other.to_pandas_dtype()))
        if pa.types.is_integer(found):
            return found
    # Signed with uint64: a float would merge neighbouring values, which may be ids.
    scale = max(_scale(one), _scale(other))
    digits = scale + max(_whole_digits(one), _whole_digits(other))
    return pa.decimal128(digits, scale) if digits <= MOST_DIGITS else pa.float64()


def _scale(kind: "pa.DataType") -> int:
    import pyarrow as pa

    return int(kind.scale) if pa.types.is_decimal(kind) else 0


def _whole_digits(kind: "pa.DataType") -> int:
    """Digits before the decimal point."""
    import pyarrow as pa

    return (
        int(kind.precision - kind.scale)
        if pa.types.is_decimal(kind)
        else len(str(2 ** int(kind.bit_width)))
    )


def plain_type(kind: "pa.DataType") -> "pa.DataType":
    """Return the logical type of a column, without the encoding that a file uses.

    Dictionary indices may be too narrow for the values of another file; Arrow has no kernels for
    views; UUIDs become bytes, as in the in-memory reader.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType) and pa.types.is_fixed_size_binary(kind.storage_type):
        return plain_type(kind.storage_type)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


def as_schema(part: "pa.Table", schema: "pa.Schema") -> "pa.Table":
    """Cast a table to a schema with the same columns."""
    import pyarrow as pa

    if part.schema.equals(schema):
        return part
    return pa.table(
        [_cast(part.column(k), field.type) for k, field in enumerate(schema)], schema=schema
    )


def _cast(column: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
    """Cast as polars does: long integers round to floats, timestamps round towards the past."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == kind:
        return column
    if pa.types.is_floating(kind):
        floats = floats_of(column)
        return (
            column.cast(kind, safe=False)
            if floats is None
            # NaN is what ``floats_of`` returns for missing cells.
            else pa.chunked_array([pa.array(floats, from_pandas=True)])
        )
    if (
        pa.types.is_timestamp(column.type)
        and column.type.unit == "ns"
        and kind == pa.timestamp("us", column.type.tz)
    ):
        # Arrow's own cast raises an error if digits are lost, or else rounds towards zero: times
        # before 1970 would differ from those that polars reads.
        nano = column.cast(pa.int64())
        micro = pc.divide(nano, 1000)  # towards zero
        column = pc.subtract(micro, pc.less(nano, pc.multiply(micro, 1000)).cast(pa.int64()))
    return column.cast(kind)
