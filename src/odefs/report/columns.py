"""Columns in the report: importance for the flagged rows, distribution, and weights in training.

Distributions come from a fixed sample of the rows. Of hidden columns only name and importance are
included. Charts, which the page draws on demand, are distributions with the values of flagged rows:
counted in the bins of the histogram, and below and above them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from odefs.report.rows import cell
from odefs.tables.encoder.text_formats import unit_of
from odefs.tables.frames.columns import Column
from odefs.tables.messages.reasons import Cell, RowRecord
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import Extent

SHOWN_COLUMNS = 60
SAMPLE_ROWS = 20_000
BINS = 24
NAMED_VALUES = 6
SHORT_TEXT = 48
"""Length to which texts are shortened where all columns of many rows are shown."""
WHOLE_BINS = 40
MAX_COMPONENTS, WEIGHTED_COLUMNS, MAX_ROUNDS = 60, 60, 40
TAIL_SHARE = 0.005
"""Share of ordinary rows below the lowest and above the highest bin of a histogram: with outliers
included, the bins of ordinary rows would be too narrow to see."""
LISTED_COLUMNS = 100
"""The most important columns, which have a chart in addition to those whose values are shown."""
FLAGGED_ROWS = 5_000


class Importance(TypedDict):
    """A column, its share in what makes rows stand out, and the share of components with it."""

    column: str
    importance: float
    stability: float
    hidden: bool


def collect_importances(detection: TableDetection) -> list[Importance]:
    """Return columns by importance, with the share of components that selected them."""
    model: Any = detection.model
    names, sources = detection.encoder.columns, detection.encoder.sources
    importances = detection.encoder.by_column(detection.feature_shares)
    selected = np.zeros(len(names))
    # A component that learned nothing uses all columns, but has selected none.
    weights = getattr(model, "feature_weights_", None)
    learned = (
        np.ones(len(model.feature_subsets_), dtype=bool) if weights is None else weights.any(axis=1)
    )
    for subset, useful in zip(model.feature_subsets_, learned, strict=True):
        selected[np.unique(sources[subset])] += useful
    stability = selected / len(model.feature_subsets_)
    return [
        {
            "column": names[k],
            "importance": float(importances[k]),
            "stability": float(stability[k]),
            "hidden": names[k] in detection.hidden,
        }
        # lexsort() sorts by its last key first: stability decides between equal importances.
        for k in np.lexsort((-stability, -importances))
    ]


def shown_columns(importances: Sequence[Importance], rows: Sequence[RowRecord]) -> list[str]:
    """Return the columns to show: those in most reasons, then the most important ones."""
    given = Counter(reason["column"] for row in rows for reason in row["reasons"])
    names = [record["column"] for record in importances if not record["hidden"]]
    return sorted(names, key=lambda name: -given[name])[:SHOWN_COLUMNS]


def collect_distributions(
    detection: TableDetection, extent: Extent, names: Sequence[str]
) -> list[dict[str, object]]:
    """Return the distribution of each named column on a sample of the rows."""
    rows = sample_rows(extent.drawn, SAMPLE_ROWS, seed=1)
    ordinary = ~detection.is_outlier[rows]
    units = {
        spec.name: unit_of(spec.style) or detection.table[spec.name].unit
        for spec in detection.encoder.specs_
    }
    return [
        _distribution(detection.table[name], rows, ordinary)
        | ({"unit": units[name]} if units.get(name) else {})
        for name in names
    ]


def collect_values(
    detection: TableDetection, names: Sequence[str], rows: Sequence[int]
) -> list[list[Cell]]:
    """Return the values of the named columns for each row."""
    at = np.array(rows, dtype=np.intp)
    by_column = [
        [cell(value, SHORT_TEXT) for value in detection.table[name].values[at]] for name in names
    ]
    return [[values[k] for values in by_column] for k in range(at.size)]


def sample_rows(rows: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Sample at most ``size`` of the rows, in order."""
    if rows.size <= size:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(rows.size, size, replace=False))]


def _distribution(column: Column, rows: np.ndarray, ordinary: np.ndarray) -> dict[str, object]:
    values = column.values[rows]
    record = {"column": column.name, "kind": column.kind, "rows": int(rows.size)}
    if column.kind in ("category", "boolean"):
        return record | _value_counts(values.tolist())
    known = np.isfinite(values)
    record["missing"] = int(np.count_nonzero(~known))
    measured = values[known]
    if measured.size == 0:
        return record | {"low": None, "high": None, "counts": []}
    least, most, edges = _bins(values[known & ordinary] if (known & ordinary).any() else measured)
    return record | {
        "least": least,
        "most": most,
        "low": float(edges[0]),
        "high": float(edges[-1]),
        "counts": [int(count) for count in np.histogram(measured, edges)[0]],
    }


def _value_counts(values: Sequence[object]) -> dict[str, object]:
    present = [value for value in values if value is not None and value == value]
    counts: Counter[Cell] = Counter()
    # Different texts may be equal once they are shortened.
    for value, n in Counter(present).items():
        counts[cell(value, SHORT_TEXT)] += n
    common = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return {
        "missing": len(values) - len(present),
        "distinct": len(common),
        "values": [[value, count] for value, count in common[:NAMED_VALUES]],
        "others": sum(count for _, count in common[NAMED_VALUES:]),
    }


def _bins(values: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the range of ordinary values and bin edges; a few integers get one bin each."""
    low, high = (
        float(bound)
        # nearest gives values of the table: the bins of whole numbers below start at one of them.
        for bound in np.quantile(values, [TAIL_SHARE, 1 - TAIL_SHARE], method="nearest")
    )
    if high <= low:
        low, high = float(values.min()), float(values.max())
    if high <= low:
        return low, high, np.array([low - 0.5, low + 0.5])
    if high - low < WHOLE_BINS and (values == np.round(values)).all():
        return low, high, np.arange(low - 0.5, high + 1)
    # Use halves if the range overflows.
    wide = not np.isfinite(high - low)
    return (
        low,
        high,
        2 * np.linspace(low / 2, high / 2, BINS + 1) if wide else np.linspace(low, high, BINS + 1),
    )


def collect_training(
    detection: TableDetection, importances: Sequence[Importance]
) -> dict[str, object]:
    """Return weights of at most 60 components and 60 columns; the largest per component is 1."""
    model: Any = detection.model
    encoder, info = detection.encoder, model.fit_info_
    shown = [record["column"] for record in importances[:WEIGHTED_COLUMNS]]
    place, sources = {name: k for k, name in enumerate(encoder.columns)}, encoder.sources
    weights = encoder.by_column(np.asarray(model.feature_weights_, dtype=float)[:MAX_COMPONENTS])
    largest = weights.max(axis=1, keepdims=True)
    weights = weights / np.where(largest > 0, largest, 1.0)
    components = range(min(MAX_COMPONENTS, len(model.feature_subsets_)))
    traces = info.get("objective_traces", [])
    kept = info.get("examples_kept", [])
    return {
        "components_trained": len(model.feature_subsets_),
        "trust": getattr(model, "trust_", None),
        "trust_given": model.trust != "auto",
        "trust_message": info.get("trust", {}).get("message"),
        "noise": list(detection.noise),
        "candidates": _number(info, "n_candidates"),
        "outlier_examples": _number(info, "n_outlier_examples"),
        "other_examples": _number(info, "n_unlabeled_examples"),
        "columns": shown,
        "weights": [[round(float(row[place[name]]), 3) for name in shown] for row in weights],
        "components": [
            {
                "component": i + 1,
                "columns": int(np.unique(sources[model.feature_subsets_[i]]).size),
                "loss": float(model.component_loss_[i]),
                "weight": float(model.component_weight_[i]),
                "kept": float(kept[i]) if i < len(kept) else None,
                "objective": [float(value) for value in traces[i][:MAX_ROUNDS]]
                if i < len(traces)
                else [],
            }
            for i in components
        ],
        "fallbacks": [
            str(getattr(fallback, "message", fallback)) for fallback in info.get("fallbacks", [])
        ],
    }


def _number(info: Mapping[str, int], name: str) -> int | None:
    return int(info[name]) if name in info else None


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
    # The rows of collect_distributions, so that the counts beyond the bins match those in them.
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
