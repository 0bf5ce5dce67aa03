"""Notes on the cells of a column: its text format, limits, unreadable cells, missing codes."""

from dataclasses import replace

import numpy as np

from odefs.tables.encoder.detection_limits import is_limit
from odefs.tables.encoder.format_details import format_details
from odefs.tables.encoder.missing import MAX_UNREADABLE_SHARE
from odefs.tables.encoder.text_formats import TEXT_FORMATS, TextFormat, has_limits, read_levels
from odefs.tables.frames.columns import Column
from odefs.tables.records.notes import Note

SENTINELS = (-999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0, -99.0, -1.0)


def reading_notes(column: Column, read: Column, style: TextFormat, known: int) -> list[Note]:
    """Return notes on the format of text, and on cells that it cannot read.

    ``known`` is the number of cells with text.
    """
    details = format_details(column.levels, style)
    as_read = [Note("text_format", column.name, format=style.name, details=details)]
    if has_limits(style.name):
        as_read += _limit_notes(column, read)
    lost = read.missing & ~column.missing
    if not lost.any():
        return as_read
    row, count = int(np.flatnonzero(lost)[0]), int(lost.sum())
    example = Note(
        "unreadable_cells",
        column.name,
        row=row,
        count=count,
        value=column.at(row),
        format=style.name,
    )
    if count > MAX_UNREADABLE_SHARE * known:
        return [replace(example, kind="few_numbers", count=known - count, limit=known)]
    return [*as_read, example]


def _limit_notes(column: Column, read: Column) -> list[Note]:
    """Return a note on the cells that are limits such as ``<0.5`` instead of numbers."""
    limits = np.append([is_limit(level) for level in column.levels], False)
    rows = np.flatnonzero(limits[column.category_codes] & ~read.missing)
    if not rows.size:
        return []
    first = int(rows[0])
    return [Note("limits", column.name, row=first, count=rows.size, value=column.at(first))]


def half_numbers(column: Column, counts: np.ndarray) -> list[Note]:
    """Return a note if the column holds both text and numbers."""
    if not counts.sum() or len(column.levels) > 100_000:
        return []
    numbers = ~np.isnan(read_levels(column.levels, TEXT_FORMATS["numbers"]))
    share = counts[numbers].sum() / counts.sum()
    if not 0.1 <= share <= 0.9:
        return []
    is_number = np.append(numbers, False)[column.category_codes]
    change = int(np.flatnonzero(is_number != is_number[0])[0])
    return [Note("mixed_cells", column.name, row=change, share=float(share))]


def infinite_cells(column: Column) -> list[Note]:
    return (
        [Note("infinite_cells", column.name, count=column.n_infinite)] if column.n_infinite else []
    )


def missing_codes(column: Column) -> list[Note]:
    """Return notes on values that look like codes for "missing": extreme, repeated, isolated."""
    values = column.values[~column.missing]
    if values.size < 20:
        return []
    found = []
    ends = float(values.min()), float(values.max())
    for code in (code for code in SENTINELS if code in ends):
        count = int((values == code).sum())
        others = values[values != code]
        if count >= 2 and others.size and _is_apart(code, others):
            found.append(Note("missing_code", column.name, count=count, value=code))
    return found


def _is_apart(code: float, others: np.ndarray) -> bool:
    """Whether a code is far from all other values; -1 need not be as far from positive ones."""
    spread = max(float(others.max() - others.min()), 1e-12)
    gap = max(float(others.min()) - code, code - float(others.max()))
    if code == -1:
        return bool(others.min() > 0) and gap > 0.1 * spread
    return gap > 0.5 * spread
