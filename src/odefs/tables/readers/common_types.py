"""Files of one table whose columns differ in type: the type that holds the cells of all of them.

Months without decimals have whole numbers where others have floats, and a column without any cell has no type at all. Numbers of any width and decimals have a type in common, and so have
time stamps of one zone; text and numbers have none, for which of the two was meant nobody can tell. The rules are about Arrow's types, and both readers, in memory and in parts, ask them.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from odefs.exceptions import TableError
from odefs.tables.arrow_columns import floats_of

MOST_DIGITS = 38
"""Digits of the longest decimal that both readers know."""


def common_types_of(
    files: Sequence[Path],
    schemas: Sequence[Mapping[str, Any]],
    none: Any,
    common: Callable[[Any, Any], Any],
) -> dict[str, Any]:
    """A type for each column of the first file, the others may have them in another order.

    ``none`` is the type of a column without cells, ``common`` gives the type of cells of two types, ``None`` where there is none.
    """
    types = dict(schemas[0])
    giver = dict.fromkeys(types, files[0])
    for file, here in zip(files[1:], schemas[1:], strict=True):
        if here.keys() != types.keys():
            raise TableError(f"{file}: its columns are not those of {files[0].name}.")
        for name, kind in here.items():
            if kind == none:
                continue
            if types[name] == none:
                types[name], giver[name] = kind, file
                continue
            found = common(types[name], kind)
            if found is None:
                raise TableError(
                    f"{file}: its column {name!r} is of another type than in {giver[name].name}: write both with one type."
                )
            types[name] = found
    return types


def common_schema(files: Sequence[Path], schemas: Sequence[Any]) -> Any:
    """The schema of a table in files with the given ones, in which every cell may lack."""
    import pyarrow as pa

    first = schemas[0]
    held = [{field.name: field.type for field in schema} for schema in schemas]
    types = common_types_of(files, held, pa.null(), common_type) if len(files) > 1 else held[0]
    return pa.schema(
        [field.with_nullable(True).with_type(plain_type(types[field.name])) for field in first]
    )


def common_type(one: Any, other: Any) -> Any:
    """A type that holds the cells of both, ``None`` where there is none. How long texts may be, and whether they are categories, is no part of a type."""
    import pyarrow as pa

    one, other = plain_type(one), plain_type(other)
    long = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    if long.get(one, one) == long.get(other, other):
        return one
    if _is_number(one) and _is_number(other):
        return _common_number(one, other)
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        # Nanoseconds have no room for other centuries, and nothing here is read to less than a microsecond.
        return pa.timestamp("us", one.tz)
    if pa.types.is_time(one) and pa.types.is_time(other):
        return pa.time64("ns")
    return None


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _common_number(one: Any, other: Any) -> Any:
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
    # Whole numbers of which some have a sign and others 64 bits are decimals: floats would make one of many, and they may be ids.
    scale = max(_scale(one), _scale(other))
    digits = scale + max(_whole_digits(one), _whole_digits(other))
    return pa.decimal128(digits, scale) if digits <= MOST_DIGITS else pa.float64()


def _scale(kind: Any) -> int:
    import pyarrow as pa

    return int(kind.scale) if pa.types.is_decimal(kind) else 0


def _whole_digits(kind: Any) -> int:
    """Digits before the point."""
    import pyarrow as pa

    return (
        int(kind.precision - kind.scale)
        if pa.types.is_decimal(kind)
        else len(str(2 ** int(kind.bit_width)))
    )


def plain_type(kind: Any) -> Any:
    """A column's type without the way in which a file holds it.

    The codes of a dictionary may be too small for the values of another file; views have no kernels; UUIDs are bytes, as the reader in memory has them.
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


def as_schema(part: Any, schema: Any) -> Any:
    """An Arrow table with its columns, which are those of the schema, in the schema's types."""
    import pyarrow as pa

    if part.schema.equals(schema):
        return part
    return pa.table(
        [_cast(part.column(k), field.type) for k, field in enumerate(schema)], schema=schema
    )


def _cast(column: Any, kind: Any) -> Any:
    """As polars casts: whole numbers that are too long for a float are rounded, times are cut off towards the past."""
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
            else pa.chunked_array([pa.array(floats, from_pandas=True)])
        )
    if (
        pa.types.is_timestamp(column.type)
        and column.type.unit == "ns"
        and kind == pa.timestamp("us", column.type.tz)
    ):
        nano = column.cast(pa.int64())
        micro = pc.divide(nano, 1000)  # towards zero
        column = pc.subtract(micro, pc.less(nano, pc.multiply(micro, 1000)).cast(pa.int64()))
    return column.cast(kind)
