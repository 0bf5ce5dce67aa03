"""Rows written to a temporary parquet file, from which a table is read at once or in batches.

The rows come from files that polars can stream, or as Arrow batches from a database.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._progress import report_progress
from odefs.exceptions import TableError
from odefs.tables.error_messages import option
from odefs.tables.readers.limits import LARGEST_GROWTH

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

ROW_GROUP_CELLS = 2**20
BATCH_CELLS = 2**20


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

    # By position, because polars expands names such as ``^a.*$``.
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


def batch_rows(n_columns: int) -> int:
    """Return the number of rows to fetch at a time."""
    return max(256, min(2**16, BATCH_CELLS // max(1, n_columns)))


def write_batches(
    batches: "Iterable[pa.RecordBatch]",
    schema: "pa.Schema",
    target: Path,
    name: str,
    most: int | None = None,
) -> None:
    """Write batches as they come; raise if they take more than ``most`` bytes in memory."""
    import pyarrow.parquet as pq

    require_names(schema.names, name)
    total = 0
    with pq.ParquetWriter(target, schema) as writer:
        for batch in batches:
            total += batch.nbytes
            if most is not None and total > most:
                raise TableError(
                    f"{name}: its rows take over {LARGEST_GROWTH} times the size of the file in "
                    f"memory: choose columns or rows with {option('query')} if that is expected."
                )
            if batch.num_rows:
                writer.write_batch(batch)
            # The total is not known; the call only shows that the run goes on.
            report_progress(0, 0)


def require_names(names: list[str], source: str) -> None:
    """Raise if two columns of a result have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(
            f"{source}: two columns of the query are called {twice!r}: give one another name (AS)."
        )
