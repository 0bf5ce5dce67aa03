"""``odefs detect`` where the file would not fit into memory: the same answer from passes over the file."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odefs._progress import stage, tell
from odefs.cli.in_parts import named_errors

if TYPE_CHECKING:
    import numpy as np

    from odefs.tables.detection import Detection
    from odefs.tables.readers.large_reading import LargeReading


def find_large(file: str, model: Any, folder: Path, chosen: dict[str, Any]) -> tuple["LargeReading", "Detection"]:
    """The file as a table that is read in batches, and what was found in it; ``folder`` is for what lies in files meanwhile."""
    with named_errors(file):
        return _find(file, model, folder, chosen)


def _find(file: str, model: Any, folder: Path, chosen: dict[str, Any]) -> tuple["LargeReading", "Detection"]:
    from odefs.cli.run import command_line, described, large_labels_of, require_columns, text_columns
    from odefs.tables.large_detection import detect_large, known_cases
    from odefs.tables.notes import Exclusion
    from odefs.tables.provenance import Provenance
    from odefs.tables.readers.large_reading import read_large

    label, known = chosen["label"], chosen["known"]
    taken_out = [column for column in (label, known) if column]
    with stage("reading"):
        tell(0, 0)
        form = {"sheet": chosen["sheet"], "delimiter": chosen["delimiter"], "header": not chosen["no_header"]}
        read = read_large(file, folder, text_columns=text_columns(chosen), **form)
        require_columns(read, [*taken_out, *chosen["hide"]])
        labels = large_labels_of(read.table, label) if label else None
        cases, note = known_cases(read.table, known) if known else ({}, None)
    options = ("contamination", "threshold", "flag", "hide", "top", "seed", "drop", "keep", "number", "category", "na")
    found = detect_large(
        read.table,
        model,
        id=chosen["identifier"],
        known=cases,
        ignore=taken_out,
        **{name: chosen[name] for name in options},
    )
    found = described(found, read, Provenance.of_model(model, command_line(), chosen["seed"]))
    return read, replace(
        found,
        left_out=dict.fromkeys(chosen["drop"], Exclusion("dropped")) | found.left_out,
        notes=[*found.notes, *([note] if note else [])],
        labels={} if labels is None else _measured(labels, model.outlier_scores_, list(cases.values())),
    )


def _measured(labels: "np.ndarray", scores: "np.ndarray", known: list["np.ndarray"]) -> dict[str, float]:
    """How well the scores agree with the labels, on the rows that the model is told nothing about."""
    import numpy as np

    from odefs.cli.run import require_measurable
    from odefs.tables.label_metrics import evaluate, without_rows

    told = np.concatenate(known) if known else np.empty(0, dtype=np.intp)
    if told.size:
        labels, scores = without_rows(labels, scores, told)
        require_measurable(labels)
    return evaluate(labels, scores)
