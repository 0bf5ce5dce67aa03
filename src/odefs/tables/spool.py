"""Files that are too large to be read at once, turned into parquet a part at a time (polars' streaming), so that they can be read in blocks."""

import os
from pathlib import Path
from typing import Any

from odefs.persist.replacing import error_number
from odefs.tables.columns import TableError
from odefs.tables.delimited import Dialect, sniff
from odefs.tables.read import ARROW, HEAD_ROWS, LINES, NULLS, TEXT


def spool_to_parquet(path: Path, folder: Path) -> Path:
    """A parquet file with the same table."""
    import polars as pl

    target = folder / "table.parquet"
    try:
        for lazy in _readings(pl, path):
            try:
                lazy.sink_parquet(target, row_group_size=2**17)
                return target
            except pl.exceptions.ComputeError as error:
                failed = error
        raise failed
    except (OSError, pl.exceptions.PolarsError) as error:
        number = error_number(error)
        if number is not None:
            raise TableError(
                f"{path}: the file is too large to be read at once, and cannot be turned into parquet in {folder.parent} ({os.strerror(number)}); "
                "TMPDIR names another folder."
            ) from error
        raise TableError(f"{path}: {str(error).strip().splitlines()[0].rstrip('.')}.") from error


def _readings(pl: Any, path: Path) -> list[Any]:
    """Ways to read the file, the next where one fails."""
    ending = path.suffix.lower()
    if ending in ARROW:
        return [pl.scan_ipc(path)]
    if ending in LINES:
        return [pl.scan_ndjson(path, infer_schema_length=HEAD_ROWS), pl.scan_ndjson(path, infer_schema_length=None)]
    if ending in TEXT and ending != ".gz":
        dialect = sniff(path, path.name)
        if dialect.encoding != "utf-8":
            raise TableError(
                f"{path}: the file is too large to be read at once, and in parts only utf-8 text can be read, not {dialect.encoding}: convert it first."
            )
        return [_scan(pl, path, dialect, HEAD_ROWS), _scan(pl, path, dialect, None)]
    raise TableError(
        f"{path}: the file is too large to be read at once, and in parts only parquet, csv, arrow and ndjson can be read: "
        "convert it, or raise ODEFS_MEMORY."
    )


def _scan(pl: Any, path: Path, dialect: Dialect, infer: int | None) -> Any:
    """Types from the first rows, or from all of them. Whole numbers with leading zeros among the first rows are codes and stay text."""
    common = {"separator": dialect.separator, "null_values": NULLS, "try_parse_dates": True}
    head = pl.scan_csv(path, infer_schema=False, n_rows=HEAD_ROWS, **{**common, "try_parse_dates": False}).collect()
    zeros = head.select(pl.all().str.contains(r"^\s*[-+]?0\d+$").any()).row(0)
    codes = {name: pl.String for name, zero in zip(head.columns, zeros, strict=True) if zero}
    return pl.scan_csv(path, infer_schema_length=infer, schema_overrides=codes, **common)
