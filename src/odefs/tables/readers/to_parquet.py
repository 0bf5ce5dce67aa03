"""Conversion of files that polars can stream to a parquet file that is read in batches."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odefs.exceptions import TableError

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP_CELLS = 2**20


def sink_parquet(rows: "pl.LazyFrame", target: Path) -> None:
    """Write rows to a parquet file without loading them all."""
    schema = rows.collect_schema()
    rows = without_wide_integers(rows)
    rows.sink_parquet(target, row_group_size=row_group_rows(len(schema)))


def row_group_rows(n_columns: int) -> int:
    """Return the number of rows per row group."""
    return max(1024, min(2**17, ROW_GROUP_CELLS // max(1, n_columns)))


def without_wide_integers(rows: "pl.LazyFrame") -> "pl.LazyFrame":
    """Cast 128-bit integers, which Arrow does not support, to a type that holds their values.

    These are 64-bit integers if they fit, as most do, then decimals, then text.
    """
    schema = rows.collect_schema()
    try:
        wide = [k for k, dtype in enumerate(schema.dtypes()) if str(dtype) in ("Int128", "UInt128")]
    except RecursionError:
        raise TableError("lists are nested too deeply: remove the column that has them.") from None
    return _narrowed(rows, wide, schema.names()) if wide else rows


def _narrowed(rows: "pl.LazyFrame", wide: Sequence[int], names: Sequence[str]) -> "pl.LazyFrame":
    import polars as pl

    bounds = [getattr(pl.nth(k), of)().alias(f"{of} {k}") for k in wide for of in ("min", "max")]
    found = rows.select(bounds).collect(engine="streaming").row(0, named=True)
    casts = []
    for k in wide:
        low, high = (found[f"{of} {k}"] or 0 for of in ("min", "max"))
        kind: pl.DataType
        kind = pl.UInt64() if low >= 0 and high < 2**64 else pl.Decimal(38, 0)
        kind = kind if max(-low, high) < 10**38 else pl.String()
        casts.append(pl.nth(k).cast(kind).alias(names[k]))
    return rows.with_columns(casts)
