"""The scores of a large table as a file, written a batch at a time."""

from pathlib import Path
from typing import Any

import numpy as np

from odefs.tables.columns import TableError
from odefs.tables.large_detection import LargeDetection
from odefs.tables.write import replacing

ENDINGS = (".parquet", ".csv")


def check_ending(path: Path) -> None:
    """Refuse other kinds of files before any work is done."""
    if not path.name.lower().endswith(ENDINGS):
        raise TableError(f"{path}: scores of a table that is larger than memory go to {' or '.join(ENDINGS)}.")


def write_scores(found: LargeDetection, path: Path) -> None:
    """The identifier or the row's number, the score, the agreement, and whether it is flagged."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    first = found.identifier or "row"
    name = f"{first} (id)" if found.identifier in ("score", "agreement", "outlier") else first
    column = found.identifier or found.table.schema.names[0]
    with replacing(path) as partial:
        writer: Any = None
        try:
            for start, part in found.table.batches([column]):
                rows = slice(start, start + part.num_rows)
                names = part.column(0) if found.identifier else pa.array(np.arange(start + 1, rows.stop + 1))
                flags = found.flagging.is_outlier[rows]
                columns = {name: names, "score": found.scores[rows]}
                if found.agreement is not None:
                    columns["agreement"] = found.agreement[rows]
                columns["outlier"] = ["yes" if f else "no" for f in flags]
                out = pa.table(columns)
                if writer is None:
                    make = pq.ParquetWriter if path.suffix.lower() == ".parquet" else pyarrow.csv.CSVWriter
                    writer = make(partial, out.schema)
                writer.write_table(out)
        finally:
            if writer is not None:
                writer.close()
