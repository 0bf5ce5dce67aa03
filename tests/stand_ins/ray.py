"""The part of Ray that the page on large tables uses: a function on the Arrow tables of files.

Like Ray, it calls the function once per file, and accepts only Arrow tables as its results.
"""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq


class Dataset:
    def __init__(self, files):
        self._files = files

    def map_batches(self, function, *, batch_format):
        assert batch_format == "pyarrow"
        tables = [pq.read_table(file) for file in self._files]
        found = [function(table) for table in tables]
        assert len(found) > 1
        assert all(isinstance(table, pa.Table) for table in found)
        assert [table.num_rows for table in found] == [table.num_rows for table in tables]
        return found


def _read_parquet(folder):
    return Dataset(sorted(Path(folder).glob("*.parquet")))


data = SimpleNamespace(read_parquet=_read_parquet)
