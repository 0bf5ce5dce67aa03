"""The cells of a table as numbers in a matrix, by what was learned of its columns.

Blocks of rows are filled one after the other: filled column by column, a matrix of many rows would pass through memory once for each of them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from odefs._ops.blocks import row_blocks
from odefs._ops.threads import available_threads, share_tasks
from odefs.tables.column_spec import FAR, ColumnSpec
from odefs.tables.columns import Column
from odefs.tables.units import DAY

ENCODED = np.dtype(np.float32)
BLOCK_CELLS = 2**21
"""Of the matrix, about. Measured: with more they leave the cache before the next column comes, with fewer the calls take longer than the cells."""
LEAST_ROWS, MOST_ROWS = 2**12, 2**16
"""Of a block: enough for a call, and few enough for all threads to have some."""

Filler = Callable[[slice, np.ndarray], None]
"""Writes some rows of a column into zeros."""


def encoded(specs: Sequence[ColumnSpec], columns: Sequence[Column], n_rows: int) -> np.ndarray:
    """One or several numbers for each cell, side by side."""
    ends = np.cumsum([len(spec.feature_names()) for spec in specs])
    out = np.zeros((n_rows, int(ends[-1]) if len(ends) else 0), dtype=ENCODED)
    fillers = [_filler(spec, column) for spec, column in zip(specs, columns, strict=True)]

    def fill(rows: slice) -> None:
        for filler, part in zip(fillers, np.split(out[rows], ends[:-1], axis=1), strict=True):
            filler(rows, part)

    height = min(MOST_ROWS, max(LEAST_ROWS, BLOCK_CELLS // max(1, out.shape[1])))
    share_tasks(fill, list(row_blocks(n_rows, height)), available_threads())
    return out


def _filler(spec: ColumnSpec, column: Column) -> Filler:
    return _of_categories(spec, column) if spec.kind == "category" else _of_numbers(spec, column)


def _of_numbers(spec: ColumnSpec, column: Column) -> Filler:
    def fill(rows: slice, out: np.ndarray) -> None:
        missing, values = column.missing[rows], column.values[rows]
        if missing.any():
            values = np.where(missing, spec.fill, values)
        if spec.kind == "boolean":
            no, yes = spec.units[:2]
            out[:, 0] = values * np.hypot(no, yes)
        else:
            # Counted from the median: float32 has too few digits for seconds since 1970.
            with np.errstate(over="ignore"):
                out[:, 0] = np.clip((values - spec.fill) / spec.units[0], -FAR, FAR)
        if spec.by_hour:
            out[:, 1] = values % DAY / spec.units[1]
        if spec.marks_missing:
            out[:, -1] = missing * spec.units[-1]

    return fill


def _of_categories(spec: ColumnSpec, column: Column) -> Filler:
    """One column per known value; unknown values join the rare ones, or have no column set where there are none."""
    place = {level: code for code, level in enumerate(spec.levels)}
    n_levels = len(spec.levels)
    rare = n_levels if spec.grouped else -1
    missing = n_levels + bool(spec.grouped) if spec.marks_missing else place[spec.fill_level]
    places = np.array([*(place.get(level, rare) for level in column.levels), missing], dtype=np.int64)
    units = np.array(spec.units, dtype=ENCODED)

    def fill(rows: slice, out: np.ndarray) -> None:
        codes = places[column.category_codes[rows]]
        known = np.flatnonzero(codes >= 0)
        out[known, codes[known]] = units[codes[known]]

    return fill
