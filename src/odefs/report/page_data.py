"""Data of the page's script: a summary with all its text formatted.

Values and distributions of columns are also those of the review page.
"""

from collections.abc import Sequence
from typing import Any

from odefs.report.scores import Cell
from odefs.tables import messages
from odefs.tables.answer_lines import report_header
from odefs.tables.answers import FINGERPRINT, FINGERPRINT_DIGITS

EXACT_INTEGERS = 2**53
"""Larger whole numbers are not exact as floats."""


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
        "scores": {
            key: summary["scores"][key] for key in ("scale", "edges", "counts", "choices", "chosen")
        },
        "names": drawing["names"],
        "held": drawing["held_scores"],
        "apart": drawing["held_apart"],
        "points": [_point(point, len(drawing["names"])) for point in drawing["points"]],
        "columns": [column_data(record) for record in summary["distributions"]],
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


def _top_row(row: dict[str, Any]) -> dict[str, object]:
    return {
        "place": row["place"],
        "name": str(row["name"]),
        "score": float(f"{row['score']:.6g}"),
        "twins": [str(twin) for twin in row["twins"]],
        "count": row["count"],
        "kind": row["kind"],
        "agreement": row["agreement"],
        "reasons": [messages.sentence(reason) for reason in row["reasons"]],
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
            messages.value(cell, column["kind"], context=_ends(column)) for column, cell in pairs
        ],
    }


def _point(point: list[Any], held: int) -> list[Any]:
    """Return coordinates, place and score of a row; its name only if the page lacks it."""
    return point[:4] if point[2] < held else point


def _position(cell: Any, of: str) -> float | None:
    """Return a number as it is, for drawing and for csv; times rounded; ``None`` for text."""
    if cell is None or of not in ("number", "time"):
        return None
    number = float(cell) if of == "number" else float(f"{cell:.12g}")
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number


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
    ends = _ends(record)
    labels = [messages.value(end, of, 4, ends) for end in ends] if ends else ["", ""]
    return {
        "name": record["column"],
        "kind": of,
        "low": record["low"],
        "high": record["high"],
        "labels": labels,
        "counts": record["counts"],
    }


def _ends(record: dict[str, Any]) -> tuple[float, ...]:
    """Return the bounds of ordinary values of a column of numbers or times."""
    return () if record.get("low") is None else (record["least"], record["most"])
