"""Distributions of columns as the page draws them, with all text formatted."""

from typing import Any

from odefs.tables import messages


def column_data(record: dict[str, Any]) -> dict[str, object]:
    """Return a distribution with its labels."""
    of = record["kind"]
    if of in ("category", "boolean"):
        values = [[messages.value(value, of), n] for value, n in record["values"]]
        return {
            "name": record["column"],
            "values": values,
            "rows": record["rows"],
            "others": record["others"],
            "missing": record["missing"],
        }
    ends = ends_of(record)
    labels = [messages.value(end, of, 4, ends) for end in ends] if ends else ["", ""]
    return {
        "name": record["column"],
        "kind": of,
        "low": record["low"],
        "high": record["high"],
        "labels": labels,
        "counts": record["counts"],
    }


def ends_of(record: dict[str, Any]) -> tuple[float, ...]:
    """Return the bounds of ordinary values of a column of numbers or times."""
    return () if record.get("low") is None else (record["least"], record["most"])


def chart_data(record: dict[str, Any]) -> dict[str, object]:
    """Return a distribution with the values of flagged rows."""
    of = record["kind"]
    found = {
        "name": record["column"],
        "kind": of,
        "rows": record["rows"],
        "missing": record["missing"],
        "flagged": record["flagged"],
        "flaggedMissing": record["flagged_missing"],
    }
    if of in ("category", "boolean"):
        named = zip(record["values"], record["flagged_values"], strict=True)
        return found | {
            "values": [[messages.value(value, of), n, flagged] for (value, n), flagged in named],
            "others": [record["others"], record["flagged_others"]],
            "only": [[messages.value(value, of), n] for value, n in record["flagged_only"]],
        }
    if record["low"] is None:
        return found | {"counts": []}
    edges = (record["low"], record["high"])
    extremes = record["flagged_range"] or edges
    return found | {
        "low": record["low"],
        "high": record["high"],
        "labels": [messages.value(end, of, 4, ends_of(record)) for end in edges],
        "extremes": [messages.value(end, of, 4, ends_of(record)) for end in extremes],
        "counts": record["counts"],
        "beyond": [record["below"], record["above"]],
        "flaggedCounts": record["flagged_counts"],
        "flaggedBeyond": [record["flagged_below"], record["flagged_above"]],
    }
