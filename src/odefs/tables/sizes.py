"""Whether a file would fit into memory once it is read, encoded and scored.

Files of one kind differ a hundredfold in what a byte of them becomes: a flag is an eighth of a byte in parquet, two bytes in a csv file, and 24 in a run. So cells are counted,
from metadata where a file has them and from its beginning where it is text.
"""

import glob
import zipfile
from collections.abc import Sequence
from pathlib import Path

from odefs._ops.memory import memory_budget
from odefs.engines.arrow import parquet_in
from odefs.tables.delimited import DELIMITERS, HEAD_BYTES
from odefs.tables.packing import unpacked_beginning, unpacked_growth
from odefs.tables.read import ARROW, EXCEL, LINES, TEXT, ending_of

CELL_BYTES = 24
"""A cell as it was read, as a float64 of the table, and encoded."""
TEXT_BYTES = 24
"""What a cell takes besides while it is text; whole numbers of a text file are text at first, too."""
ENCODED_TEXT = 100
"""What a cell of text is encoded into: a column of float32 for each of up to 50 values, taken to be 25."""
ARROW_GROWTH = 4
"""What a byte of an arrow file becomes at least: its text may be compressed."""
SHEET_GROWTH = 2
"""What a byte of a sheet's XML becomes: cells are 30 to 100 characters, and are held as they stand in the sheet and as a table at once."""
XLS_GROWTH = 12
"""The same of the old Excel files, which have 6 to 18 bytes a cell."""


def parquet_parts(path: str | Path) -> list[Path]:
    """The parquet files behind a path, a folder or a glob; none where it is something else."""
    found = Path(path)
    if found.is_dir():
        return parquet_in(found)
    if found.is_file():
        return [found] if found.suffix.lower() == ".parquet" else []
    return sorted(Path(part) for part in glob.glob(str(path)) if part.lower().endswith(".parquet"))


def bytes_in_memory(path: str | Path, delimiter: str | None = None) -> int:
    """An estimate of what the whole run takes; 0 where nothing is known."""
    parts = parquet_parts(path)
    if parts:
        return sum(_parquet_bytes(part) for part in parts)
    found = Path(path)
    try:
        return _file_bytes(found, delimiter) if found.is_file() else 0
    except OSError:
        # Whoever reads it will say what is wrong with it.
        return 0


def fits(path: str | Path, delimiter: str | None = None) -> bool:
    """Whether the estimate is within the budget."""
    return bytes_in_memory(path, delimiter) <= memory_budget()


def _file_bytes(path: Path, delimiter: str | None) -> int:
    ending = ending_of(path)
    if ending in TEXT:
        return _text_bytes(path, [delimiter] if delimiter else DELIMITERS)
    if ending in LINES:
        return _text_bytes(path, ['":'])
    if ending in ARROW:
        return _arrow_bytes(path)
    if ending in EXCEL:
        return _excel_bytes(path)
    return _parquet_bytes(path) if ending == ".parquet" else 0


def _parquet_bytes(path: Path) -> int:
    """From the metadata: cells, and what text takes once it is decoded."""
    try:
        import pyarrow.parquet as pq

        with open(path, "rb") as file:
            metadata = pq.read_metadata(file)
    except ModuleNotFoundError:
        return 0
    except (OSError, ValueError):
        return 0
    columns = [k for k in range(metadata.num_columns) if metadata.schema.column(k).physical_type == "BYTE_ARRAY"]
    groups = (metadata.row_group(group) for group in range(metadata.num_row_groups)) if columns else ()
    text = sum(group.column(k).total_uncompressed_size for group in groups for k in columns)
    cells = metadata.num_columns * CELL_BYTES + len(columns) * (TEXT_BYTES + ENCODED_TEXT)
    return int(metadata.num_rows * cells + text)


def _text_bytes(path: Path, marks: Sequence[str]) -> int:
    """From the first lines: each cell ends in a mark or a line break. The mark that occurs most is taken: too many cells are better than too few."""
    head = unpacked_beginning(path, HEAD_BYTES)
    if not head:
        return 0
    cells = max(head.count(mark.encode()) for mark in marks) + head.count(b"\n")
    size = path.stat().st_size * unpacked_growth(path)
    return int(size * (1 + cells / len(head) * (CELL_BYTES + TEXT_BYTES)))


def _arrow_bytes(path: Path) -> int:
    """From the metadata, which tells rows and columns but not how long text is."""
    least = path.stat().st_size * ARROW_GROWTH
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds

        with open(path, "rb") as file:
            table = ds.IpcFileFormat().make_fragment(file)
            n_rows, types = table.count_rows(), table.physical_schema.types
    except (ModuleNotFoundError, OSError, ValueError):
        return least
    n_text = sum(not pa.types.is_primitive(kind) for kind in types)
    return max(least, int(n_rows * (len(types) * CELL_BYTES + n_text * (TEXT_BYTES + ENCODED_TEXT))))


def _excel_bytes(path: Path) -> int:
    """From the directory of the packed file, which tells how long its parts are."""
    try:
        with zipfile.ZipFile(path) as parts:
            return SHEET_GROWTH * sum(part.file_size for part in parts.infolist() if part.filename.endswith(".xml"))
    except (OSError, ValueError, zipfile.BadZipFile):
        return XLS_GROWTH * path.stat().st_size
