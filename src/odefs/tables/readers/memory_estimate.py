"""Whether a file is read whole or in parts (``fits``), from estimates of the memory of a run.

File formats differ a hundredfold in what a byte expands to: a flag takes an eighth of a byte in
parquet, two bytes in a csv file, and 35 in a run. So cells are counted, from metadata where a file
has them and from its beginning if it is text.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from odefs.engines.parquet import parts_of
from odefs.exceptions import TableError
from odefs.system.memory import BASELINE, memory_budget
from odefs.tables.readers.compression import compression_ratio, text_beginning
from odefs.tables.readers.excel.limits import excel_bytes, is_zipped
from odefs.tables.readers.excel.sheets import choose_sheet
from odefs.tables.readers.file_kinds import ARROW, EXCEL, LINES, TEXT
from odefs.tables.readers.inputs import suffix_of
from odefs.tables.readers.limits import ALWAYS_BYTES, most_bytes
from odefs.tables.readers.text.dialect import DELIMITERS, HEAD_BYTES

CELL_BYTES = 35
"""Memory of a cell as read, as float64 in the table, and encoded, without the libraries."""
TEXT_BYTES = 24
"""Additional memory while a cell is text; integers in a text file are also text at first."""
ENCODED_TEXT = 100
"""Memory of an encoded text cell: one float32 column for each of up to 50 values, assumed 25."""
ARROW_GROWTH = 4
"""Lower bound on the growth of an arrow file, whose text may be compressed."""
KEY = re.compile(rb'"\s*:')
"""End of the key of a cell in ndjson."""
TEXT_VALUE = re.compile(rb'"\s*:\s*"')
NUMBER_LETTERS = re.compile(rb"(?<=[\d.])e(?=[-+]?\d)|\bnan\b", re.IGNORECASE)
"""Letters that occur in numbers."""
LETTERED_CELL = re.compile(rb"[A-Za-z\x80-\xff][^\n]*")
"""The first letter of a cell on its own line, and what follows it."""
XLSX = (".xlsx", ".xlsm")
XLS_GROWTH = 12
"""Growth of an xls file, which has 6 to 18 bytes per cell."""
LEAST_IN_PARTS = 380 * 10**6
"""Minimum memory of a run in batches, for up to ten columns.

Covers the libraries, two slabs of rows, a batch, and the rows that column types are inferred from.
"""
COLUMN_IN_PARTS = 4 * 10**6
"""Minimum memory for each additional column: 100,000 rows of ``CELL_BYTES``."""
MOST_COLUMNS = 256 * 10**6
"""Limit on the memory of all additional columns: wider tables are judged by fewer rows."""


def parquet_parts(path: str | Path) -> list[Path]:
    """Return the parquet files at a path, in a folder or of a glob; empty if there are none."""
    if Path(path).is_file():
        return [Path(path)] if Path(path).suffix.lower() == ".parquet" else []
    try:
        return [part for part in parts_of(path) if part.suffix.lower() == ".parquet"]
    except TableError:
        return []  # the reader reports that there are none


def bytes_in_memory(
    path: str | Path, delimiter: str | None = None, sheet: str | None = None
) -> int:
    """Estimate the memory of a run in memory; 0 if unknown."""
    parts = parquet_parts(path)
    if parts:
        return sum(_parquet_bytes(part) for part in parts)
    found = Path(path)
    try:
        return _file_bytes(found, delimiter, sheet) if found.is_file() else 0
    except OSError:
        # The reader reports what is wrong with the file.
        return 0


def fits(path: str | Path, delimiter: str | None = None, sheet: str | None = None) -> bool:
    """Whether to read the table at once: it fits into memory and is in proportion to its file."""
    needed = bytes_in_memory(path, delimiter, sheet)
    return needed <= memory_budget() and (
        needed <= ALWAYS_BYTES or needed <= most_bytes(_size(path))
    )


def least_memory(path: str | Path, delimiter: str | None = None, sheet: str | None = None) -> int:
    """Return the minimum memory of a run, in memory or in batches, including the libraries."""
    further = min(MOST_COLUMNS, COLUMN_IN_PARTS * max(0, _n_columns(path, delimiter) - 10))
    return min(BASELINE + bytes_in_memory(path, delimiter, sheet), LEAST_IN_PARTS + further)


def _size(path: str | Path) -> int:
    parts = parquet_parts(path)
    return sum(part.stat().st_size for part in parts or [Path(path)])


def _n_columns(path: str | Path, delimiter: str | None) -> int:
    """Estimate the number of columns; 0 if unknown."""
    parts = parquet_parts(path)
    try:
        if parts:
            import pyarrow.parquet as pq

            # Opened here: Arrow would assume that the file name is UTF-8.
            with open(parts[0], "rb") as file:
                return int(pq.read_metadata(file).num_columns)
        if not Path(path).is_file() or suffix_of(Path(path)) not in (*TEXT, *LINES):
            return 0
        head = text_beginning(Path(path), HEAD_BYTES)
        is_lines = suffix_of(Path(path)) in LINES
        n_marks = len(KEY.findall(head)) if is_lines else head.count(_mark(head, delimiter))
        return n_marks // max(1, head.count(b"\n")) + 1
    except (ModuleNotFoundError, OSError, ValueError):
        return 0


def _file_bytes(path: Path, delimiter: str | None, sheet: str | None) -> int:
    suffix = suffix_of(path)
    if suffix in TEXT:
        return _text_bytes(path, partial(_delimited_cells, delimiter=delimiter))
    if suffix in LINES:
        return _text_bytes(path, _keyed_cells)
    if suffix in ARROW:
        return _arrow_bytes(path)
    if suffix in EXCEL:
        return _excel_bytes(path, sheet)
    return _parquet_bytes(path) if suffix == ".parquet" else 0


def _parquet_bytes(path: Path) -> int:
    """Estimate from the metadata: number of cells, and decoded size of text."""
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
    """Estimate from the first lines, in which ``count`` returns the numbers of cells and texts."""
    head = text_beginning(path, HEAD_BYTES)
    if not head:
        return 0
    cells, texts = count(head)
    size = path.stat().st_size * compression_ratio(path)
    return int(size * (1 + (cells * (CELL_BYTES + TEXT_BYTES) + texts * ENCODED_TEXT) / len(head)))


def _delimited_cells(head: bytes, delimiter: str | None) -> tuple[int, int]:
    """Count delimiters and line breaks; below the header, cells with a letter are text."""
    mark = _mark(head, delimiter)
    # Lines of old Macs end in carriage returns.
    head = head if b"\n" in head else head.replace(b"\r", b"\n")
    below = NUMBER_LETTERS.sub(b"", head.partition(b"\n")[2])
    texts = len(LETTERED_CELL.findall(below.replace(mark, b"\n")))
    return head.count(mark) + head.count(b"\n"), texts


def _keyed_cells(head: bytes) -> tuple[int, int]:
    return len(KEY.findall(head)) + head.count(b"\n"), len(TEXT_VALUE.findall(head))


def _mark(head: bytes, delimiter: str | None) -> bytes:
    """Return the most frequent delimiter: overestimating the number of cells is safer."""
    return max(
        (mark.encode() for mark in ([delimiter] if delimiter else DELIMITERS)), key=head.count
    )


def _arrow_bytes(path: Path) -> int:
    """Estimate from the metadata, which has rows and columns but not the length of text."""
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
    if not is_zipped(path):
        return XLS_GROWTH * path.stat().st_size
    if path.suffix.lower() in XLSX:
        with suppress(TableError):  # the reader reports it; all sheets are counted
            sheet = choose_sheet(path, sheet)
    return excel_bytes(path, sheet)
