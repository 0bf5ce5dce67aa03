"""Whether a file would fit into memory once it is read, encoded and scored."""

import glob
from pathlib import Path

from odefs._ops.memory import memory_budget
from odefs.tables.read import ending_of

CELL_BYTES = 24
"""A cell as it was read, as a float64 of the table, and encoded."""

GROWTH = {".csv": 5, ".tsv": 5, ".txt": 5, ".gz": 30, ".ndjson": 3, ".jsonl": 3, ".arrow": 3, ".feather": 4, ".ipc": 3}
"""What a byte of a file becomes; text has about five characters a cell, and packed text is a sixth of it."""


def parquet_parts(path: str | Path) -> list[Path]:
    """The parquet files behind a path, a folder or a glob; none where it is something else."""
    found = Path(path)
    if found.is_dir():
        return sorted(found.glob("*.parquet"))
    if found.is_file():
        return [found] if found.suffix.lower() == ".parquet" else []
    return sorted(Path(part) for part in glob.glob(str(path)) if part.lower().endswith(".parquet"))


def bytes_in_memory(path: str | Path) -> int:
    """An estimate of what the whole run takes; 0 where nothing is known."""
    parts = parquet_parts(path)
    if parts:
        return sum(_parquet_bytes(part) for part in parts)
    found = Path(path)
    return found.stat().st_size * GROWTH.get(ending_of(found), 0) if found.is_file() else 0


def fits(path: str | Path) -> bool:
    """Whether the estimate is within the budget. Small files are not looked at: their metadata would cost time."""
    budget = memory_budget()
    found = parquet_parts(path) or [Path(path)]
    on_disk = sum(part.stat().st_size for part in found if part.is_file())
    return on_disk * 100 < budget or bytes_in_memory(path) <= budget


def _parquet_bytes(path: Path) -> int:
    """From the metadata: cells, and what text takes once it is decoded."""
    try:
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
    except ModuleNotFoundError:
        return 0
    except (OSError, ValueError):
        # Whoever reads it will say what is wrong with it.
        return 0
    text = 0
    for group in range(metadata.num_row_groups):
        columns = (metadata.row_group(group).column(k) for k in range(metadata.num_columns))
        text += sum(column.total_uncompressed_size for column in columns if column.physical_type == "BYTE_ARRAY")
    return metadata.num_rows * metadata.num_columns * CELL_BYTES + text
