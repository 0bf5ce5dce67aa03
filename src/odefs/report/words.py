"""Numbers, values and reasons in words. The page and the Markdown share these."""

import math
from collections.abc import Sequence
from typing import Any

from odefs.tables.wording import noise as noise
from odefs.tables.wording import number, say_value
from odefs.tables.wording import ordinary as ordinary
from odefs.tables.wording import trusted as trusted

HIDDEN = "(hidden)"
MISSING_WORD = "missing"


def count(value: int, noun: str = "", nouns: str = "") -> str:
    """A number of things: ``count(1, "row") == "1 row"``."""
    text = f"{value:,}"
    return text if not noun else f"{text} {noun if value == 1 else nouns or noun + 's'}"


def score(value: float) -> str:
    return f"{value:.2f}" if value < 1000 else number(value)


def percent(share: float) -> str:
    """A share as percent, never rounded to none or all of it."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    points = 100 * share
    if 99 < points < 100:
        return f"{math.floor(10 * points) / 10:g}%"
    return f"{points:.1f}%" if points < 10 and round(points, 1) != round(points) else f"{points:.0f}%"


def size(n_bytes: int) -> str:
    amount = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} GB"


def value(cell: Any, kind: str, digits: int = 6, beside: Sequence[Any] = ()) -> str:
    """A cell as people read it; ``beside`` are further values of its column."""
    if cell is None:
        return MISSING_WORD
    if kind == "boolean" and cell in (0, 1):
        return "yes" if cell else "no"
    if kind == "time":
        return say_value(cell, kind, beside)
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return number(float(cell), digits)
    return str(cell)


def listed(parts: Sequence[str], last: str = "and") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def labels(summary: dict[str, Any]) -> str:
    """How well the scores agree with the labels, if any are known."""
    found = summary.get("labels")
    if not found:
        return ""
    return f"Against the labels: AUC {found['auc']:.3f}, average precision {found['ap']:.3f}, p@k {found['p@k']:.3f}."


def sampled(summary: dict[str, Any]) -> str:
    """How a table was looked at that is larger than memory; nothing for others."""
    found = summary.get("sampled")
    if not found:
        return ""
    judged = found["judged_by"]
    columns = (
        "what is usual in a column"
        if judged is None
        else f"what a column holds was judged by {count(judged, 'row')}, and what is usual in it"
    )
    return f"The table is larger than memory: all its rows were scored, but {columns} is read off {count(found['drawn'], 'row')} drawn at random."


def headline(summary: dict[str, Any]) -> str:
    """What was found, in one sentence."""
    flagged, rows = summary["flagged"], summary["rows"]
    if not flagged:
        return f"None of {count(rows, 'row')} stands out."
    columns: list[str] = []
    for kind in summary["kinds"]:
        columns += [trait["column"] for trait in kind["traits"] if trait["column"] not in columns]
    stand = "stands" if flagged == 1 else "stand"
    return f"{count(flagged)} of {count(rows, 'row')} {stand} out" + (
        f", mostly by {listed(columns[:4])}." if columns else "."
    )


def convention(summary: dict[str, Any]) -> str:
    """How the flagged rows were chosen, as a sentence."""
    text = summary["convention"].rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def trait(record: dict[str, Any]) -> str:
    """A trait of a kind: "amount high", "country = PA or SG"."""
    column, what = record["column"], record["what"]
    if what == "hidden":
        return f"{column} {HIDDEN}"
    if what in ("value", "any"):
        if record["distinct"] > len(record["values"]):
            return f"rare {column}"
        return f"{column} = {listed([value(one, record['kind']) for one in record['values']], 'or')}"
    return f"{column} {({'within': 'unusual beside the rest'}).get(what, what)}"


def kind(record: dict[str, Any]) -> str:
    """A kind in words."""
    return listed([trait(one) for one in record["traits"]]) if record["traits"] else "other reasons"


def kind_details(record: dict[str, Any]) -> list[str]:
    """For each trait what its rows have and what ordinary rows have."""
    lines = []
    for one in record["traits"]:
        column, of, usual = one["column"], one["kind"], one.get("usual")
        if one.get("range"):
            said = span(one["range"], of, beside=usual or ())
            lines.append(f"{column}: {said}" + (f"; usually {span(usual, of, 4)}" if usual else ""))
        elif one["what"] in ("value", "any"):
            unnamed = one["distinct"] - len(one["values"])
            parts = [f"{', '.join(value(each, of) for each in one['values'])} and {unnamed:,} more"] if unnamed else []
            parts += [f"usually {value(usual[0], of)}"] if usual else []
            if parts:
                lines.append(f"{column}: {'; '.join(parts)}")
    return lines


def span(bounds: Sequence[Any], of: str, digits: int = 6, beside: Sequence[Any] = ()) -> str:
    low, high = (value(bound, of, digits, (*bounds, *beside) if of == "time" else ()) for bound in bounds)
    return low if low == high else f"{low} to {high}"


def short_reason(reason: dict[str, Any]) -> str:
    """A reason in a few words, for tables."""
    if reason["hidden"]:
        return f"{reason['column']} {HIDDEN}"
    if reason["direction"] == "missing":
        return f"{reason['column']} {MISSING_WORD}"
    text = f"{reason['column']} = {_own_value(reason)}"
    return f"{text} ({reason['direction']})" if reason["direction"] in ("high", "low") else text


def sentence(reason: dict[str, Any]) -> str:
    """A reason as a sentence."""
    part = f"{percent(min(1.0, max(0.0, reason['share'])))} of the score"
    if reason["hidden"]:
        return f"{reason['column']} {HIDDEN} gives {part}."
    usual = f"; {_usual(reason)}" if reason["usual"] else ""
    return f"{reason['column']} is {_own_value(reason)}, {_place(reason)}{usual}. It gives {part}."


def _own_value(reason: dict[str, Any]) -> str:
    usual = reason["usual"] if reason["kind"] == "time" else None
    return value(reason["value"], reason["kind"], beside=usual or ())


def _usual(reason: dict[str, Any]) -> str:
    usual, of = reason["usual"], reason["kind"]
    if of in ("number", "time"):
        return f"ordinary rows like it have {span(usual, of, 4)}"
    return f"ordinary rows like it most often have {value(usual[0], of)} ({percent(usual[1])})"


def _place(reason: dict[str, Any]) -> str:
    direction, at = reason["direction"], reason["percentile"]
    if direction in ("missing", "value"):
        return f"as in {percent(reason['frequency'])} of rows" if reason["frequency"] is not None else "a rare case"
    if direction == "within":
        return "not unusual by itself, but odd beside the rest of the row"
    high = direction == "high"
    if at is None:
        return "higher than usual" if high else "lower than usual"
    # Equal values are neither lower nor higher.
    beyond = round((at if high else 100 - at) - (reason["equal"] or 0) / 2, 6)
    if beyond >= 99.95:
        return f"among the {'highest' if high else 'lowest'} of all rows"
    return f"{'higher' if high else 'lower'} than {math.floor(10 * beyond) / 10:g}% of rows"
