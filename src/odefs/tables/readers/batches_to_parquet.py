"""Arrow batches written to a parquet file, from which a table is read at once or in parts."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._progress import report_progress
from odefs.exceptions import TableError
from odefs.tables.readers.limits import LARGEST_GROWTH
from odefs.tables.readers.option_names import option

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_CELLS = 2**20


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
            report_progress(0, 0)


def require_names(names: list[str], source: str) -> None:
    """Raise if two columns of a result have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(
            f"{source}: two columns of the query are called {twice!r}: give one another name (AS)."
        )
