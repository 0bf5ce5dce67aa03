"""Distributions of columns with the values of flagged rows, which the page draws on demand.

Values of flagged rows are counted in the bins of the column's histogram, and below and above them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from odefs.report.columns import (
    NAMED_VALUES,
    SAMPLE_ROWS,
    SHORT_TEXT,
    Importance,
    collect_distributions,
    sample_rows,
)
from odefs.report.rows import cell
from odefs.tables.columns import Column
from odefs.tables.detection import TableDetection
from odefs.tables.displayed_rows import Extent

LISTED_COLUMNS = 100
"""The most important columns, which have a chart in addition to those whose values are shown."""
FLAGGED_ROWS = 5_000


def collect_charts(
    detection: TableDetection,
    extent: Extent,
    importances: Sequence[Importance],
    known: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return the distributions ``known`` and those of important columns, with flagged values."""
    names = {record["column"] for record in known}
    more = [
        record["column"]
        for record in importances[:LISTED_COLUMNS]
        if not record["hidden"] and record["column"] not in names
    ]
    rows = sample_rows(extent.drawn, SAMPLE_ROWS, seed=1)
    flagged = sample_rows(extent.drawn_flagged, FLAGGED_ROWS, seed=6)
    return [
        record | _marked(detection.table[record["column"]], record, rows, flagged)
        for record in [*known, *collect_distributions(detection, extent, more)]
    ]


def _marked(
    column: Column, record: dict[str, Any], rows: np.ndarray, flagged: np.ndarray
) -> dict[str, Any]:
    """Return the number of flagged rows, and their counts in the bins or by value."""
    values = column.values[flagged]
    if column.kind in ("category", "boolean"):
        return {"flagged": int(flagged.size)} | _counted_values(values.tolist(), record)
    known = values[np.isfinite(values)]
    counted = {"flagged": int(flagged.size), "flagged_missing": int(values.size - known.size)}
    if record["low"] is None:
        return counted
    all_values = column.values[rows]
    low, high = record["low"], record["high"]
    # Halves, because the range may overflow.
    edges = 2 * np.linspace(low / 2, high / 2, len(record["counts"]) + 1)
    edges[0], edges[-1] = low, high
    return counted | {
        "below": int(np.count_nonzero(all_values < low)),
        "above": int(np.count_nonzero(all_values > high)),
        "flagged_counts": [int(n) for n in np.histogram(known, edges)[0]],
        "flagged_below": int(np.count_nonzero(known < low)),
        "flagged_above": int(np.count_nonzero(known > high)),
        "flagged_range": [float(known.min()), float(known.max())] if known.size else None,
    }


def _counted_values(values: Sequence[object], record: dict[str, Any]) -> dict[str, Any]:
    """Return flagged rows by value: those named for the column, then others, the common first."""
    present = [value for value in values if value is not None and value == value]
    counts = Counter(cell(value, SHORT_TEXT) for value in present)
    named = [value for value, _ in record["values"]]
    others = sorted(counts.keys() - named, key=lambda value: (-counts[value], str(value)))
    return {
        "flagged_missing": len(values) - len(present),
        "flagged_values": [counts[value] for value in named],
        "flagged_only": [[value, counts[value]] for value in others[:NAMED_VALUES]],
        "flagged_others": sum(counts[value] for value in others[NAMED_VALUES:]),
    }
