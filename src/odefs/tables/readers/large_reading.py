"""A file that is larger than memory as a table that is read in batches, with what is known of the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odefs.tables.large import LargeTable
from odefs.tables.notes import Note
from odefs.tables.readers.columnar_limits import require_modest_parquet
from odefs.tables.readers.file_names import named_for_arrow, readable
from odefs.tables.readers.limits import require_height, require_width
from odefs.tables.readers.memory_estimate import parquet_parts
from odefs.tables.readers.open import check_asked, ending_of, fingerprint, require_modest, table_name
from odefs.tables.readers.text_to_parquet import LINE, spool_to_parquet


@dataclass(frozen=True, eq=False)
class LargeReading:
    """A table in files, where it came from, and notes on the reading."""

    table: LargeTable
    name: str
    n_bytes: int
    sha256: str
    notes: tuple[Note, ...] = ()
    has_header: bool = True

    @property
    def columns(self) -> list[str]:
        return self.table.names

    @property
    def n_rows(self) -> int:
        return self.table.n_rows


def read_large(
    path: str | Path,
    folder: Path,
    sheet: str | None = None,
    text_columns: Sequence[str] = (),
    delimiter: str | None = None,
    least_rows: int = 2,
    header: bool | None = True,
) -> LargeReading:
    """The same as ``read_table``; files that are not parquet are turned into it in ``folder``."""
    name = readable(table_name(path))
    parts = parquet_parts(path)
    check_asked(name, ".parquet" if parts else ending_of(Path(path)), sheet, delimiter, header)
    size, digest = fingerprint(parts if len(parts) > 1 or Path(path).is_dir() else Path(path))
    notes: tuple[Note, ...] = ()
    has_header = True
    if parts:
        require_modest_parquet(parts, name)
        table = LargeTable(tuple(named_for_arrow(part, folder) for part in parts))
    else:
        require_modest(Path(path), ending_of(Path(path)), name)
        spooled = spool_to_parquet(Path(path), folder, text_columns, delimiter, header)
        table = LargeTable((spooled.path,), LINE if spooled.has_lines else None)
        notes, has_header = spooled.notes, spooled.has_header
    require_height(table.n_rows, path, least_rows)
    require_width(len(table.names), path)
    return LargeReading(table, name, size, digest, notes, has_header)
