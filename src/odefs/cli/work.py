"""What the commands do between reading a file and writing results."""

import ast
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from odefs.tables.detection import Detection
    from odefs.tables.read import Reading

PACKAGES = ("odefs", "python", "numpy", "scipy", "scikit-learn", "polars")


def command_line() -> str:
    """The command as it was typed."""
    return shlex.join(["odefs", *sys.argv[1:]])


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """``name=value`` pairs; values are numbers, True, False, None, or text."""
    parsed = {}
    for setting in settings:
        name, mark, text = setting.partition("=")
        if not mark:
            raise click.UsageError(f"--set takes NAME=VALUE, not {setting!r}.")
        try:
            parsed[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            parsed[name] = text
    return parsed


def make_model(profile: str, settings: Sequence[str], seed: int, jobs: int | None) -> Any:
    """The estimator that a command asks for."""
    from odefs.estimators import ODEFS

    chosen = {"random_state": seed, "n_jobs": jobs, **parse_settings(settings)}
    unknown = sorted(set(chosen) - set(ODEFS().get_params()))
    if unknown:
        raise click.UsageError(
            f"ODEFS has no parameter {unknown[0]!r}: it has {', '.join(sorted(ODEFS().get_params()))}."
        )
    return ODEFS.paper(**chosen) if profile == "paper" else ODEFS(**chosen)


def run_record(model: Any, seed: int | None = None) -> dict[str, Any]:
    """Command, seed, parameters and versions, for the report, the JSON and the model. No time: equal runs leave equal bytes."""
    from odefs.versions import collect_versions

    versions = collect_versions()
    plain = (str, int, float, bool, type(None))
    parameters = {
        k: v if isinstance(v, plain) else repr(v)
        for k, v in model.get_params().items()
        if k not in ("n_jobs", "verbose")
    }
    return {
        "command": command_line(),
        "seed": seed if seed is not None else parameters.get("random_state"),
        "parameters": parameters,
        "versions": {name: versions[name] for name in PACKAGES},
    }


def described(found: "Detection", read: "Reading", run: Mapping[str, Any]) -> "Detection":
    """A detection that knows its file and its run."""
    source = {
        "name": read.name,
        "rows": read.frame.height,
        "columns": read.frame.width,
        "bytes": read.n_bytes,
        "sha256": read.sha256,
    }
    return replace(found, source=source, run=dict(run), notes=[*read.notes, *found.notes])


def measured(found: "Detection", labels: Any, name: str) -> dict[str, float]:
    """AUC, average precision and p@k against a 0/1 column."""
    import numpy as np

    from odefs.datasets.store import DatasetError, read_labels
    from odefs.experiments.metrics import evaluate
    from odefs.tables.columns import TableError

    try:
        y = read_labels(np.asarray(labels.to_numpy()), f"column {name!r}")
    except (DatasetError, TypeError, ValueError) as error:
        raise TableError(f"{found.source['name']}: {error}") from error
    if not 0 < y.sum() < y.size:
        raise TableError(f"{found.source['name']}: column {name!r} has one kind of label only.")
    return evaluate(y, found.scores)
