"""Summary of a detection as a plain dict.

Numbers are not formatted; typed records also have their message as ``message``.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from odefs.report import SCHEMA_VERSION
from odefs.report.checks import SHOWN_CHECKS, collect_checks
from odefs.report.columns import (
    collect_charts,
    collect_distributions,
    collect_importances,
    collect_training,
    collect_values,
    shown_columns,
)
from odefs.report.flagged_csv import collect_csv
from odefs.report.nearest_rows import collect_nearest
from odefs.report.outlier_groups import collect_kinds
from odefs.report.pca_map import collect_map
from odefs.report.rows import collect_rows, foremost_rows
from odefs.report.scores import collect_scores, mean_agreement, plain
from odefs.tables.answers.lines import key_name
from odefs.tables.messages.reasons import RowRecord
from odefs.tables.records.notes import as_plain
from odefs.tables.results.detection import TableDetection
from odefs.tables.results.displayed_rows import (
    Extent,
    RowTexts,
    extent_of,
    shown_checks,
    shown_id,
    shown_names,
    shown_notes,
)

CHOICES = "--threshold", "--contamination", "--flag"
"""Command line options that another threshold replaces."""

WRITING = "-o", "--output", "--save", "--report", "--checks-out"
"""Options that write files, which exist when the command is run again."""


def collect(
    detection: TableDetection, with_page: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the summary, and data that only the page uses, which are empty if not ``with_page``.

    The latter are points, identity, whether the model was trained on another table or has learned
    from answers, neighbours, charts of columns and csv lines.
    """
    names = RowTexts(detection)
    identifier = names.identifier
    checks = shown_checks(detection)
    extent = extent_of(detection)
    groups = foremost_rows(detection, extent.order)
    first = [group[0] for group in groups]
    rows = collect_rows(detection, extent, groups, names)
    kinds = collect_kinds(rows)
    importances = collect_importances(detection)
    shown = shown_columns(importances, rows)
    drawn = collect_map(detection, extent, first, names) or {}
    distributions = collect_distributions(detection, extent, shown)
    summary = {
        "schema_version": SCHEMA_VERSION,
        # A data frame has no file: its fields are null, so that all documents have the same keys.
        "source": {"name": "table", "columns": None, "bytes": None, "sha256": None}
        | _plain_dict(detection.source),
        "run": _plain_dict(detection.run.state()),
        "commands": {"other_threshold": _without_choice(detection.run.command)},
        "identifier": identifier,
        "rows": extent.n_rows,
        "sampled": _sampled(getattr(detection, "part", None)),
        "flagged": extent.n_flagged,
        "convention": as_plain(detection.convention),
        "labels": _plain_dict(getattr(detection, "labels", None) or {}),
        "agreement": mean_agreement(extent.agreement, extent.is_outlier),
        "columns_used": list(detection.encoder.columns),
        "kinds_of_columns": _column_kinds(detection),
        "left_out": {column: as_plain(why) for column, why in detection.left_out.items()},
        "notes": [as_plain(note) for note in shown_notes(detection)],
        "checks": collect_checks(checks),
        "checks_omitted": max(0, len(checks) - SHOWN_CHECKS),
        "hidden": sorted(detection.hidden),
        "scores": collect_scores(extent.scores, extent.is_outlier, detection.threshold),
        "kinds": kinds,
        "top": rows,
        "values": {
            "columns": shown,
            "rows": collect_values(detection, shown, first),
        },
        "importances": importances,
        "distributions": distributions,
        "map": _without_points(drawn),
        "training": collect_training(detection, importances),
    }
    if not with_page:
        return summary, {}
    return summary, {
        "points": drawn.get("points", []),
        "identity": _identity(summary),
        "of_training": getattr(detection, "training", None) is not None,
        "has_answers": getattr(detection, "has_answers", False),
        "key": "row" if _are_numbers(detection, rows) else key_name(identifier),
        "nearest": collect_nearest(detection, extent, first, names, shown),
        "charts": collect_charts(detection, extent, importances, distributions),
        "csv": collect_csv(detection, extent, groups, rows, kinds, shown_names(detection)[1]),
    }


def _are_numbers(detection: TableDetection, rows: Sequence[RowRecord]) -> bool:
    """Whether rows are named by their numbers; an id column or an index may also be called row."""
    return shown_id(detection) is None and all(row["name"] == row["row"] for row in rows)


def _without_points(drawn: Mapping[str, object]) -> dict[str, object] | None:
    of_points = "points", "clipped"
    return {key: value for key, value in drawn.items() if key not in of_points} or None


def _identity(summary: dict[str, Any]) -> str:
    """Return a name for the listed rows: it changes with the table, the rows and their scores.

    The page stores the reader's marks under this name, and finds them again in a later page that
    lists the same rows with the same scores, whatever its file name.
    """
    source = summary["source"]
    listed = [[row["row"], row["name"], row["score"]] for row in summary["top"]]
    known = [source["name"], source["sha256"], summary["identifier"], listed]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]


def _sampled(part: Extent | None) -> dict[str, int | None] | None:
    """Return, for a table larger than memory, how many rows were sampled for types and charts."""
    return None if part is None else {"judged_by": part.judged_by, "drawn": int(part.drawn.size)}


def _column_kinds(detection: TableDetection) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in detection.encoder.columns:
        kind = detection.table[name].kind
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _without_choice(command: str | None) -> str | None:
    """Return the command without options that set a threshold; None for results from Python."""
    if command is None or not command.startswith("odefs "):
        return None
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in CHOICES:
            next(words, None)
        elif word.partition("=")[0] not in CHOICES:
            kept.append(word)
    writes = any(word.partition("=")[0] in WRITING or re.match("-o.", word) for word in kept)
    if not writes:
        # The page itself is replaced without it.
        kept = [word for word in kept if word != "--force"]
    elif "--force" not in kept:
        kept.insert(2, "--force")  # after the subcommand, because options may end with --
    return shlex.join(kept)


def _plain_dict(values: Mapping[str, object]) -> dict[str, object]:
    return {str(key): _plain_value(value) for key, value in values.items()}


def _plain_value(value: object) -> object:
    if isinstance(value, Mapping):
        return _plain_dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [
            # Sets have no order of their own: sorted, equal results give equal bytes in every
            # process.
            _plain_value(part)
            for part in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)
        ]
    return plain(value)
