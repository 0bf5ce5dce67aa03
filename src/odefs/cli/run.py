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
    from odefs.tables.large import LargeTable
    from odefs.tables.provenance import Provenance
    from odefs.tables.readers.large_reading import LargeReading
    from odefs.tables.readers.open import Reading


def command_line() -> str:
    """The command as it was typed."""
    from odefs.tables.readers.file_names import readable

    return shlex.join(["odefs", *(readable(part) for part in sys.argv[1:])])


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
    from odefs.models.validation import detector_of

    # The encoder has brought all columns to one scale; the paper's own scaling is part of its profile.
    scaling = {} if profile == "paper" else {"scaling": "none"}
    chosen = {"random_state": seed, "n_jobs": jobs, **scaling, **parse_settings(settings)}
    unknown = sorted(set(chosen) - set(ODEFS().get_params()))
    if unknown:
        raise click.UsageError(
            f"ODEFS has no parameter {unknown[0]!r}: it has {', '.join(sorted(ODEFS().get_params()))}."
        )
    try:
        model = (ODEFS.paper() if profile == "paper" else ODEFS()).set_params(**chosen)
        # What ``fit`` would say, before anything is read.
        detector_of(model._parameters())
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--set: {error}") from error
    return model


def text_columns(chosen: Mapping[str, Any]) -> list[str]:
    """Columns of a text file that are not to be taken for numbers."""
    return [*chosen["category"], *([chosen["identifier"]] if chosen["identifier"] else [])]


def described(found: "Detection", read: "Reading | LargeReading", run: "Provenance") -> "Detection":
    """A detection that knows its file and its run."""
    source = {
        "name": read.name,
        "rows": read.n_rows,
        "columns": len(read.columns),
        "bytes": read.n_bytes,
        "sha256": read.sha256,
    }
    if not read.has_header:
        source["header"] = False
    return replace(found, source=source, run=run, notes=[*read.notes, *found.notes])


def labels_of(read: "Reading", name: str) -> Any:
    """A 0/1 column, checked before the model is fitted."""
    y = _labels(read.frame[name].to_numpy(), name)
    _require_both(y, f"column {name!r} has one kind of label only.")
    return y


def large_labels_of(table: "LargeTable", name: str) -> Any:
    """The same in a file."""
    import numpy as np

    from odefs.engines.out_of_core import Folder

    y = Folder().array((table.n_rows,), np.uint8)
    for start, part in table.batches([name]):
        y[start : start + part.num_rows] = _labels(part.column(0).to_numpy(), name)
    _require_both(y, f"column {name!r} has one kind of label only.")
    return y


def require_measurable(labels: Any) -> None:
    """Labels of the rows that the model is told nothing about."""
    _require_both(labels, "the rows that are not known have one kind of label only: nothing can be measured on them.")


def _labels(values: Any, name: str) -> Any:
    import numpy as np

    from odefs.datasets.store import DatasetError, read_labels
    from odefs.exceptions import TableError

    try:
        return read_labels(np.asarray(values), f"column {name!r}")
    except (DatasetError, TypeError, ValueError) as error:
        raise TableError(str(error)) from error


def _require_both(y: Any, otherwise: str) -> None:
    from odefs.exceptions import TableError

    if not 0 < int(y.sum(dtype=int)) < y.size:
        raise TableError(otherwise)


def require_columns(read: "Reading | LargeReading", names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    from odefs.exceptions import TableError

    for name in names:
        if name not in read.columns:
            raise TableError(f"there is no column {name!r}; the columns are {', '.join(read.columns)}.")
