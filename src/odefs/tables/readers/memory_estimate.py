"""What a file takes once it is read, encoded and scored, and whether that fits into memory.

Files of one kind differ a hundredfold in what a byte of them becomes: a flag is an eighth of a byte in parquet, two bytes in a csv file, and 35 in a run. So cells are counted,
from metadata where a file has them and from its beginning where it is text.
"""

import glob
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from odefs.engines.parquet import parquet_in
from odefs.system.memory import BASELINE, memory_budget
from odefs.tables.readers.dialect import DELIMITERS, HEAD_BYTES
from odefs.tables.readers.excel_limits import excel_bytes, is_packed
from odefs.tables.readers.gzip_files import unpacked_beginning, unpacked_growth
from odefs.tables.readers.open import ARROW, EXCEL, LINES, TEXT, ending_of
from odefs.tables.readers.size_ratio import ALWAYS_BYTES, most_bytes

CELL_BYTES = 35
"""A cell as it was read, as a float64 of the table, and encoded: what runs in memory take beyond the libraries."""
TEXT_BYTES = 24
"""What a cell takes besides while it is text; whole numbers of a text file are text at first, too."""
ENCODED_TEXT = 100
"""What a cell of text is encoded into: a column of float32 for each of up to 50 values, taken to be 25."""
ARROW_GROWTH = 4
"""What a byte of an arrow file becomes at least: its text may be compressed."""
KEY = re.compile(rb'"\s*:')
"""What ends the key of a cell in ndjson."""
TEXT_VALUE = re.compile(rb'"\s*:\s*"')
NUMBER_LETTERS = re.compile(rb"(?<=[\d.])e(?=[-+]?\d)|\bnan\b", re.IGNORECASE)
"""Letters in numbers."""
LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
XLS_GROWTH = 12
"""What a byte of the old Excel files becomes, which have 6 to 18 a cell."""
LEAST_IN_PARTS = 380 * 10**6
"""What a run in parts takes in any case: the libraries, two slabs of rows, a batch, and the rows that columns are judged by, of up to ten columns."""
COLUMN_IN_PARTS = 4 * 10**6
"""The same for each further column: 100,000 rows of ``CELL_BYTES``."""
MOST_COLUMNS = 256 * 10**6
"""All further columns together: wider tables are judged by fewer rows."""


def parquet_parts(path: str | Path) -> list[Path]:
    """The parquet files behind a path, a folder or a glob; none where it is something else."""
    found = Path(path)
    if found.is_dir():
        return parquet_in(found)
    if found.is_file():
        return [found] if found.suffix.lower() == ".parquet" else []
    return sorted(Path(part) for part in glob.glob(str(path)) if part.lower().endswith(".parquet"))


def bytes_in_memory(
    path: str | Path, delimiter: str | None = None, sheet: str | None = None
) -> int:
    """An estimate of what the whole run takes; 0 where nothing is known."""
    parts = parquet_parts(path)
    if parts:
        return sum(_parquet_bytes(part) for part in parts)
    found = Path(path)
    try:
        return _file_bytes(found, delimiter, sheet) if found.is_file() else 0
    except OSError:
        # Whoever reads it will say what is wrong with it.
        return 0


def fits(path: str | Path, delimiter: str | None = None, sheet: str | None = None) -> bool:
    """Whether the table may be read at once: memory has room for it, and it is in proportion to its file."""
    needed = bytes_in_memory(path, delimiter, sheet)
    return needed <= memory_budget() and (
        needed <= ALWAYS_BYTES or needed <= most_bytes(_size(path))
    )


def least_memory(path: str | Path, delimiter: str | None = None, sheet: str | None = None) -> int:
    """What a run on the file takes at least, in memory or in parts, with the libraries."""
    further = min(MOST_COLUMNS, COLUMN_IN_PARTS * max(0, _n_columns(path, delimiter) - 10))
    return min(BASELINE + bytes_in_memory(path, delimiter, sheet), LEAST_IN_PARTS + further)


def _size(path: str | Path) -> int:
    parts = parquet_parts(path)
    return sum(part.stat().st_size for part in parts or [Path(path)])


def _n_columns(path: str | Path, delimiter: str | None) -> int:
    """How many columns a file has, about; 0 where nothing is known."""
    parts = parquet_parts(path)
    try:
        if parts:
            import pyarrow.parquet as pq

            with open(parts[0], "rb") as file:
                return int(pq.read_metadata(file).num_columns)
        if not Path(path).is_file() or ending_of(Path(path)) not in (*TEXT, *LINES):
            return 0
        head = unpacked_beginning(Path(path), HEAD_BYTES)
        is_lines = ending_of(Path(path)) in LINES
        n_marks = len(KEY.findall(head)) if is_lines else head.count(_mark(head, delimiter))
        return n_marks // max(1, head.count(b"\n")) + 1
    except (ModuleNotFoundError, OSError, ValueError):
        return 0


def _file_bytes(path: Path, delimiter: str | None, sheet: str | None) -> int:
    ending = ending_of(path)
    if ending in TEXT:
        return _text_bytes(path, partial(_delimited_cells, delimiter=delimiter))
    if ending in LINES:
        return _text_bytes(path, _keyed_cells)
    if ending in ARROW:
        return _arrow_bytes(path)
    if ending in EXCEL:
        return _excel_bytes(path, sheet)
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
    columns = [
        k
        for k in range(metadata.num_columns)
        if metadata.schema.column(k).physical_type == "BYTE_ARRAY"
    ]
    groups = (
        (metadata.row_group(group) for group in range(metadata.num_row_groups)) if columns else ()
    )
    text = sum(group.column(k).total_uncompressed_size for group in groups for k in columns)
    cells = metadata.num_columns * CELL_BYTES + len(columns) * (TEXT_BYTES + ENCODED_TEXT)
    return int(metadata.num_rows * cells + text)


def _text_bytes(path: Path, count: Callable[[bytes], tuple[int, int]]) -> int:
    """From the first lines, in which ``count`` finds cells, and cells of text among them."""
    head = unpacked_beginning(path, HEAD_BYTES)
    if not head:
        return 0
    cells, texts = count(head)
    size = path.stat().st_size * unpacked_growth(path)
    return int(size * (1 + (cells * (CELL_BYTES + TEXT_BYTES) + texts * ENCODED_TEXT) / len(head)))


def _delimited_cells(head: bytes, delimiter: str | None) -> tuple[int, int]:
    """Each cell ends in a mark or a line break; one with a letter is text, but for the names of the columns."""
    mark = _mark(head, delimiter)
    below = NUMBER_LETTERS.sub(b"", head.partition(b"\n")[2])
    texts = sum(
        LETTER.search(cell) is not None for line in below.split(b"\n") for cell in line.split(mark)
    )
    return head.count(mark) + head.count(b"\n"), texts


def _keyed_cells(head: bytes) -> tuple[int, int]:
    return len(KEY.findall(head)) + head.count(b"\n"), len(TEXT_VALUE.findall(head))


def _mark(head: bytes, delimiter: str | None) -> bytes:
    """The delimiter that occurs most: too many cells are better than too few."""
    return max(
        (mark.encode() for mark in ([delimiter] if delimiter else DELIMITERS)), key=head.count
    )


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
    return max(
        least, int(n_rows * (len(types) * CELL_BYTES + n_text * (TEXT_BYTES + ENCODED_TEXT)))
    )


def _excel_bytes(path: Path, sheet: str | None) -> int:
    return excel_bytes(path, sheet) if is_packed(path) else XLS_GROWTH * path.stat().st_size
