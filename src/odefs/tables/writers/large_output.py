"""The result table of a large table, made and written a batch at a time: the same columns as in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from odefs._progress import tell
from odefs.engines.out_of_core import Folder
from odefs.exceptions import TableError
from odefs.kernels.ranks import fill_ranks
from odefs.tables.arrow_columns import cells_of
from odefs.tables.detection import Detection
from odefs.tables.displayed_rows import Extent
from odefs.tables.frames import columns_of
from odefs.tables.large import LargeTable
from odefs.tables.row_names import plain_cell
from odefs.tables.writers.batches import write_batches
from odefs.tables.writers.columns import arranged, as_yes_no, reason_texts, shows_names
from odefs.tables.writers.files import is_spreadsheet


def check_ending(path: Path) -> None:
    """Refuse a file that has no room, before any work is done."""
    if path.suffix.lower() == ".xlsx":
        raise TableError(
            f"{path}: an Excel sheet holds 1,048,576 rows: scores of a table that is larger than memory go to parquet, csv, arrow or ndjson."
        )


def write_large(
    table: LargeTable,
    found: Detection,
    path: Path | None,
    reasons: str,
    with_data: bool,
    excel: bool,
    raw: bool = False,
) -> None:
    """Scores of all rows of the table; ``None`` means csv to standard output."""
    assert found.part is not None
    ranks = fill_ranks(found.part.scores, Folder().array(found.part.scores.shape, np.int64))
    batches = _batches(table, found, found.part, ranks, reasons, with_data, is_spreadsheet(path))
    write_batches(path, batches, excel, raw)


def _batches(
    table: LargeTable,
    found: Detection,
    extent: Extent,
    ranks: np.ndarray,
    reasons: str,
    with_data: bool,
    spells: bool,
) -> Iterator[dict[str, Any]]:
    """Columns of Arrow arrays."""
    import pyarrow as pa

    named = [found.identifier] if shows_names(found) else []
    lines = [table.line_column] if table.line_column else []
    used = found.encoder.columns if reasons != "none" else []
    own = table.names if with_data else []
    read = list(dict.fromkeys([*named, *lines, *used, *own])) or table.names[:1]
    for start, part in table.batches(read):
        rows = slice(start, start + part.num_rows)
        flags = np.asarray(extent.is_outlier[rows])
        texts = None
        if reasons != "none":
            wanted = np.arange(flags.size) if reasons == "all" else np.flatnonzero(flags)
            texts = pa.array(_texts(found, part.select(used), extent.scores[rows], wanted), pa.string())
        results = {
            "row": pa.array(np.arange(start + 1, rows.stop + 1)),
            "line": part.column(lines[0]) if lines else None,
            "score": pa.array(np.asarray(extent.scores[rows])),
            "rank": pa.array(np.asarray(ranks[rows])),
            "agreement": None if extent.agreement is None else pa.array(np.asarray(extent.agreement[rows])),
            "outlier": pa.array(as_yes_no(flags).tolist(), pa.string()) if spells else pa.array(flags),
            "reasons": texts,
        }
        data = {name: part.column(name) for name in own}
        yield arranged(found, _names(part.column(named[0])) if named else None, results, data)
        tell(rows.stop, extent.n_rows)


def _names(column: Any) -> Any:
    """Numbers, flags and text as they are, dates and the like as text."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
    ):
        return column
    cells = [plain_cell(cell) for cell in cells_of(column)]
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


def _texts(found: Detection, part: Any, scores: np.ndarray, wanted: np.ndarray) -> list[str | None]:
    """Reasons of some rows of a batch."""
    if not wanted.size:
        return [None] * part.num_rows
    # The whole batch is read, for text is read by what most of it is; then only the rows that are wanted go on.
    table = found.encoder.recognised(columns_of(part, found.encoder.is_used), is_part=True).take(wanted)
    X = found.encoder.encode_table(table)
    reasons = found.finder.reasons(table, X, np.asarray(scores[wanted]), np.arange(wanted.size))
    return reason_texts(found.hidden, part.num_rows, wanted, reasons)
