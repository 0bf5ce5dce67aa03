"""HTML page of the report, rendered by jinja2 with autoescape; only this file imports jinja2.

Data are passed to the script as JSON in which ``<``, ``>``, ``&`` and line separators are escaped,
so that no value can end the script element. The content security policy allows the page's script
and style sheet by their hashes, so that nothing else in the page can run.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from odefs.report.scores import Cell
from odefs.tables import messages

TOP_INLINE = 10
FINGERPRINT_DIGITS = 16
"""Digits of the sha256 by which saved answers name their table."""
EXACT_INTEGERS = 2**53
SCRIPTS = (
    "state",
    "axes",
    "charts",
    "histogram",
    "map",
    "training",
    "csv",
    "threshold",
    "table",
    "row",
    "marks",
    "start",
)
"""Parts of the page's script in order; they share one scope."""


def render_page(summary: dict[str, Any], drawing: dict[str, Any]) -> str:
    """Render a self-contained HTML page."""
    style = _text("style.css")
    script = (
        '"use strict";\n(() => {\n'
        + "\n".join(_text(f"script/{name}.js") for name in SCRIPTS)
        + "})();\n"
    )
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            summary=summary,
            messages=messages,
            policy=Markup(content_policy(script, style)),
            style=Markup(style),
            script=Markup(script),
            data=Markup(safe_json(page_data(summary, drawing))),
        )
    )


def content_policy(script: str, style: str) -> str:
    """Return the content security policy: own script and style by hash, and embedded images."""
    allowed = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    return (
        f"default-src 'none'; script-src 'sha256-{allowed[0]}'; "
        f"style-src 'sha256-{allowed[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def page_data(summary: dict[str, Any], drawing: dict[str, Any]) -> dict[str, object]:
    """Return the data of the page's script, with all text already formatted."""
    formats = {
        record["column"]: (record["kind"], _ends(record)) for record in summary["distributions"]
    }
    shown = summary["values"]["columns"]
    return {
        "rows": summary["rows"],
        "identifier": summary["identifier"],
        "file": summary["source"]["name"],
        "table": (summary["source"]["sha256"] or "")[:FINGERPRINT_DIGITS],
        "page": drawing["identity"],
        "command": summary["commands"]["other_threshold"],
        "scores": {
            key: summary["scores"][key] for key in ("scale", "edges", "counts", "choices", "chosen")
        },
        "names": drawing["names"],
        "held": drawing["held_scores"],
        "apart": drawing["held_apart"],
        "points": [_point(point, len(drawing["names"])) for point in drawing["points"]],
        "columns": [_column(record) for record in summary["distributions"]],
        "top": [
            _top_row(row, [(cell, *formats[name]) for name, cell in zip(shown, cells, strict=True)])
            for row, cells in zip(summary["top"], summary["values"]["rows"], strict=True)
        ],
        "training": {
            "columns": summary["training"]["columns"],
            "weights": summary["training"]["weights"],
            "objective": [part["objective"] for part in summary["training"]["components"]],
        },
    }


def _top_row(
    row: dict[str, Any], cells: Sequence[tuple[Cell, str, tuple[float, ...]]]
) -> dict[str, object]:
    """Return a row with its cells, each given with the kind and the bounds of its column."""
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
        "missing": [k for k, (cell, _, _) in enumerate(cells) if cell is None],
        "cells": [_position(cell, of) for cell, of, _ in cells],
        "shown": [messages.value(cell, of, context=ends) for cell, of, ends in cells],
    }


def render_inline(page: str, summary: dict[str, Any], picture: str) -> str:
    """Render the page in a frame for a notebook.

    A picture and a table are included for viewers that support neither frames nor scripts.
    """
    return (
        _environment()
        .get_template("inline.html.j2")
        .render(
            summary=summary,
            messages=messages,
            page=page,
            picture=picture,
            top=summary["top"][:TOP_INLINE],
        )
    )


def safe_json(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _point(point: list[Any], held: int) -> list[Any]:
    """Return coordinates, place and score of a row; its name only if the page lacks it."""
    return point[:4] if point[2] < held else point


def _position(cell: Any, of: str) -> float | None:
    """Return a number as it is, for drawing and for csv; times rounded; ``None`` for text."""
    if cell is None or of not in ("number", "time"):
        return None
    number = float(cell) if of == "number" else float(f"{cell:.12g}")
    return int(number) if number.is_integer() and abs(number) < EXACT_INTEGERS else number


def _column(record: dict[str, Any]) -> dict[str, object]:
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


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> str:
    return (files("odefs.report") / "templates" / name).read_text(encoding="utf-8")
