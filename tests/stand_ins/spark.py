"""The part of Spark that the page on large tables uses: ``df.mapInArrow`` on files of rows.

Like Spark, it calls the function once per partition with an iterator of record batches, and
requires the columns of the declared schema from each batch that comes back.
"""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {"string": pa.string(), "double": pa.float64(), "boolean": pa.bool_()}


class DataFrame:
    def __init__(self, files):
        self._files = files

    def mapInArrow(self, function, schema):
        fields = [tuple(field.split()) for field in schema.split(", ")]
        declared = pa.schema([(name, TYPES[kind]) for name, kind in fields])
        assert len(self._files) > 1
        return [self._partition(function, declared, file) for file in self._files]

    def _partition(self, function, declared, file):
        table = _with_types_of_spark(pq.read_table(file))
        batches = list(function(iter(table.to_batches(max_chunksize=100))))
        for batch in batches:
            assert isinstance(batch, pa.RecordBatch)
            assert batch.schema.equals(declared), f"{batch.schema} instead of {declared}"
        assert sum(batch.num_rows for batch in batches) == table.num_rows
        return batches


def _with_types_of_spark(table):
    """Text of Spark is ``string`` in Arrow, whatever it is in the file."""
    wide = [pa.types.is_large_string(field.type) for field in table.schema]
    fields = zip(table.schema, wide, strict=True)
    return table.cast(
        pa.schema([field.with_type(pa.string()) if is_wide else field for field, is_wide in fields])
    )


df = DataFrame(sorted(Path(os.environ["ROWS"]).glob("*.parquet")))
