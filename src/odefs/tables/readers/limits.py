"""Limits on the number of rows and columns of a table."""

from pathlib import Path

from odefs.exceptions import TableError

MAX_COLUMNS = 20_000


def require_height(n_rows: int, name: str | Path, least_rows: int = 2) -> None:
    """Raise if there are too few rows."""
    if n_rows < least_rows:
        least = "one row" if least_rows == 1 else "two rows"
        raise TableError(f"{name}: a table needs at least {least}, this one has {n_rows}.")


def require_width(n_columns: int, name: str | Path) -> None:
    """Raise if there are more columns than supported."""
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"{name}: {n_columns:,} columns are more than the {MAX_COLUMNS:,} that are supported."
        )
