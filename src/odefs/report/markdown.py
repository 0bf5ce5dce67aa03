"""Markdown rendering of the report's summary."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from odefs.tables import messages

SHOWN_ROWS, SHOWN_COLUMNS = 50, 20


def render_markdown(summary: dict[str, Any]) -> str:
    """Render headline, groups, input, top outliers, columns, and how to repeat the run."""
    agree = summary["agreement"] is not None
    opening = (
        messages.headline(summary),
        messages.rule(summary["convention"]["message"]),
        messages.labels(summary["labels"]),
    )
    blocks = [
        f"# {safe(messages.table_title(summary['source']))}",
        " ".join(safe(text) for text in opening).rstrip(),
        *_checks(summary),
        "## Kinds of outliers",
        *_kinds(summary),
        "## What was read",
        *_read(summary),
        "## Top outliers",
        _table(
            (
                "rank",
                summary["identifier"],
                "score",
                *(["agreement"] if agree else []),
                "outlier",
                "rows",
                "why",
            ),
            (
                (
                    row["rank"],
                    row["name"],
                    messages.score(row["score"]),
                    *([messages.percent(row["agreement"])] if agree else []),
                    "yes" if row["flagged"] else "no",
                    row["count"],
                    "; ".join(messages.short_reasons(row["reasons"])),
                )
                for row in summary["top"][:SHOWN_ROWS]
            ),
        ),
        "## Columns that set outliers apart",
        *_trusted(summary["training"]),
        _table(
            ("column", "importance", "selected by"),
            (
                (
                    one["column"],
                    messages.percent(one["importance"]),
                    f"{messages.percent(one['stability'])} of components",
                )
                for one in summary["importances"][:SHOWN_COLUMNS]
            ),
        ),
        "## How it was made",
        _table(("what", "value"), _made(summary)),
    ]
    return "\n\n".join(blocks) + "\n"


def safe(text: str) -> str:
    """Escape everything in text that Markdown or HTML would interpret."""
    # The ampersand first, since the other escapes introduce it. Line breaks become spaces, because
    # they would end the row of a table; GitHub and notebooks set text between dollar signs as a
    # formula.
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", re.sub(r"\s+", " ", text))


def _checks(summary: dict[str, Any]) -> list[str]:
    """Return the section on values to check; empty if there are none."""
    if not summary["checks"]:
        return []
    lines = []
    for check in summary["checks"]:
        rows = messages.first_rows(
            check["column"], check["rows"], check["names"], check["count"], summary["identifier"]
        )
        lines.append(f"- {safe(check['message'])} ({safe(rows)})")
    more = summary["checks_omitted"]
    if more:
        in_python = summary["run"]["command"] is None
        lines.append(f"- {safe(messages.more_checks(more, in_python))}")
    return [f"## {messages.CHECKS_TITLE}", messages.CHECKS_HINT, "\n".join(lines)]


def _kinds(summary: dict[str, Any]) -> list[str]:
    kinds = summary["kinds"]
    if not kinds:
        return ["No row stands out by this rule."]
    total = sum(kind["count"] for kind in kinds)
    basis = [messages.kinds_from(total)] if total < summary["flagged"] else []
    return [
        *basis,
        "\n".join(f"- {kind['count']} of {total}: {safe(messages.kind(kind))}" for kind in kinds),
    ]


def _read(summary: dict[str, Any]) -> list[str]:
    used = ", ".join(safe(name) for name in summary["columns_used"])
    rows = messages.count(summary["rows"], "row")
    columns = messages.count(len(summary["columns_used"]), "column")
    lines = [f"- {rows}, {columns} used: {used}"]
    lines += (
        [f"- {safe(messages.sampled(summary['rows'], **summary['sampled']))}"]
        if summary["sampled"]
        else []
    )
    lines += [f"- {safe(note['message'])}" for note in summary["notes"]]
    lines += [
        f"- left out: {safe(column)} ({safe(why['message'])})"
        for column, why in summary["left_out"].items()
    ]
    lines += [f"- hidden: {safe(column)}" for column in summary["hidden"]]
    return ["\n".join(lines)]


def _trusted(training: dict[str, Any]) -> list[str]:
    sentences = [safe(messages.noise(training["noise"]))] if training["noise"] else []
    if training["trust"] is not None:
        given, has_noise = training["trust_given"], bool(training["noise"])
        sentences.append(messages.trusted(training["trust"], given, has_noise))
    return [sentence for sentence in sentences if sentence]


def _made(summary: dict[str, Any]) -> Iterable[Sequence[object]]:
    run, source = summary["run"], summary["source"]
    for name in ("command", "seed"):
        if run[name] is not None:
            yield name, run[name]
    yield "threshold", summary["scores"]["threshold"]
    for name in ("bytes", "sha256"):
        if source[name] is not None:
            yield name, source[name]
    for name, version in run["versions"].items():
        yield f"version of {name}", version
    yield "components", summary["training"]["components_trained"]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head)]
    body = [[safe(str(cell)) for cell in row] for row in rows]
    return "\n".join(
        f"| {' | '.join(line)} |" for line in [[safe(one) for one in lines[0]], lines[1], *body]
    )
