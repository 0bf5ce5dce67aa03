"""Data of the page's script: a summary with all its text formatted.

Values of rows and distributions of columns are also those of the review page.
"""

from collections.abc import Sequence
from typing import Any

from odefs.tables import messages
from odefs.tables.answers.file import FINGERPRINT, FINGERPRINT_DIGITS
from odefs.tables.answers.lines import report_header
from odefs.tables.messages.reasons import Cell, RowRecord

EXACT_INTEGERS = 2**53
"""Larger whole numbers are not exact as floats."""

SAME_CALL = "the same call of odefs.detect, its rule replaced by threshold="
"""How to repeat a run in Python: a call written out without all of its arguments would give other
scores, and show the values of hidden columns."""

LONGEST_NAME = 80
"""Characters of a column name or a value in sentences; longer ones are shortened."""


def page_data(summary: dict[str, Any], drawing: dict[str, Any]) -> dict[str, object]:
    """Return the data of the page's script, with all text already formatted."""
    by_name = {record["column"]: record for record in summary["distributions"]}
    columns = [by_name[name] for name in summary["values"]["columns"]]
    return {
        "rows": summary["rows"],
        "identifier": summary["identifier"],
        "file": summary["source"]["name"],
        "table": _fingerprint(summary["source"]["sha256"]),
        "page": drawing["identity"],
        "header": report_header(drawing["key"], summary["values"]["columns"]),
        "command": summary["commands"]["other_threshold"],
        "call": SAME_CALL,
        "scores": {
            key: summary["scores"][key] for key in ("scale", "edges", "counts", "choices", "chosen")
        },
        "flagged": summary["flagged"],
        "kinds": [messages.kind(kind, LONGEST_NAME) for kind in summary["kinds"]],
        "csv": drawing["csv"],
        "points": drawing["points"],
        "columns": [column_data(record) for record in summary["distributions"]],
        "charts": [chart_data(record) for record in drawing["charts"]],
        "nearest": nearest_data(columns, drawing["nearest"]),
        "top": [
            _top_row(row) | cells_data(columns, cells)
            for row, cells in zip(summary["top"], summary["values"]["rows"], strict=True)
        ],
        "training": {
            "columns": summary["training"]["columns"],
            "weights": summary["training"]["weights"],
            "objective": [part["objective"] for part in summary["training"]["components"]],
        },
    }


def _fingerprint(digest: str | None) -> str:
    """Return how saved answers name their table; empty if its content is not known."""
    return FINGERPRINT + digest[:FINGERPRINT_DIGITS] if digest else ""


def _top_row(row: RowRecord) -> dict[str, object]:
    return {
        "place": row["place"],
        "name": str(row["name"]),
        # Rounding is safe, because the page compares places, not scores.
        "score": float(f"{row['score']:.6g}"),
        "twins": [str(twin) for twin in row["twins"]],
        "count": row["count"],
        "kind": row["kind"],
        "agreement": row["agreement"],
        "reasons": [messages.sentence(reason, LONGEST_NAME) for reason in row["reasons"]],
        "checks": None if row["checks"] is None else messages.to_check(row["checks"]),
        "because": [reason["column"] for reason in row["reasons"]],
    }


def cells_data(columns: Sequence[dict[str, Any]], cells: Sequence[Cell]) -> dict[str, object]:
    """Return the cells of a row: which are missing, their positions, and their texts.

    ``columns`` are the distributions of their columns.
    """
    pairs = list(zip(columns, cells, strict=True))
    return {
        "missing": [k for k, cell in enumerate(cells) if cell is None],
        "cells": [_position(cell, column["kind"]) for column, cell in pairs],
        "shown": [
            messages.value(
                cell, column["kind"], context=ends_of(column), unit=column.get("unit", "")
            )
            for column, cell in pairs
        ],
    }


def _position(cell: Cell, of: str) -> float | None:
    """Return a number as it is, for drawing and for csv; times rounded; ``None`` for text."""
    if cell is None or of not in ("number", "time"):
        return None
    number = float(cell) if of == "number" else float(f"{cell:.12g}")
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number


def nearest_data(
    columns: Sequence[dict[str, Any]], nearest: dict[str, Any] | None
) -> dict[str, object] | None:
    """Return the nearest ordinary rows with their cells as text."""
    if nearest is None:
        return None
    cells = [cells_data(columns, values)["shown"] for values in nearest["values"]]
    return {
        "candidates": nearest["candidates"],
        "isSample": nearest["is_sample"],
        "rows": [
            [str(row["name"]), messages.score(row["score"]), shown]
            for row, shown in zip(nearest["rows"], cells, strict=True)
        ],
        "index": nearest["index"],
        "differs": nearest["differs"],
    }


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
    unit = record.get("unit", "")
    labels = [messages.value(end, of, 4, ends, unit) for end in ends] if ends else ["", ""]
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
    unit = record.get("unit", "")
    return found | {
        "low": record["low"],
        "high": record["high"],
        "labels": [messages.value(end, of, 4, ends_of(record), unit) for end in edges],
        "extremes": [messages.value(end, of, 4, ends_of(record), unit) for end in extremes],
        "counts": record["counts"],
        "beyond": [record["below"], record["above"]],
        "flaggedCounts": record["flagged_counts"],
        "flaggedBeyond": [record["flagged_below"], record["flagged_above"]],
    }
