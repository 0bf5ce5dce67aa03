"""Limits on a table: rows, columns, and memory relative to the size of its file.

Small files that expand to gigabytes are suspicious: they are read in batches, or refused.
"""

from collections.abc import Sequence
from pathlib import Path

from odefs.exceptions import TableError
from odefs.tables.error_messages import has_option, listed

MAX_COLUMNS = 20_000
ALWAYS_BYTES = 200 * 10**6
"""Tables up to this size are always allowed."""
LARGEST_GROWTH = 250
"""Bytes of memory per byte of a file; repeated values reach about 150 in xlsx, 20 elsewhere."""


def require_height(
    n_rows: int, name: str | Path, least_rows: int = 2, other_sheets: Sequence[str] = ()
) -> None:
    """Raise if there are too few rows; ``other_sheets`` of the workbook are named."""
    if n_rows < least_rows:
        least = "one row" if least_rows == 1 else "two rows"
        sheet = ", or the sheet of a workbook with --sheet" if has_option("sheet") else ""
        if sheet and other_sheets:
            sheet = f", or another sheet: {listed(other_sheets)} (--sheet NAME)"
        raise TableError(
            f"{name}: a table needs at least {least}, this one has {n_rows}: choose another file"
            f"{sheet}."
        )


def require_width(n_columns: int, name: str | Path) -> None:
    """Raise if there are more columns than supported."""
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"{name}: {n_columns:,} columns are more than the {MAX_COLUMNS:,} that are supported: "
            "remove columns, or save the table with rows and columns exchanged."
        )


def most_bytes(size: int) -> int:
    """Return the memory limit for a table in a file of this size."""
    return max(ALWAYS_BYTES, LARGEST_GROWTH * size)
