"""What the commands do between reading a file and writing results."""

import ast
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np

    from odefs.models.odefs import ODEFSModel
    from odefs.tables.detection import TableDetection
    from odefs.tables.provenance import Provenance
    from odefs.tables.readers.open import Reading
    from odefs.tables.table import Table


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


def make_model(profile: str, settings: Sequence[str], seed: int, jobs: int | None) -> "ODEFSModel":
    """The estimator that a command asks for."""
    from odefs.models.odefs import ODEFSModel
    from odefs.models.validation import detector_of

    # The encoder has brought all columns to one scale; the paper's own scaling is part of its profile.
    scaling = {} if profile == "paper" else {"scaling": "none"}
    chosen = {"random_state": seed, "n_jobs": jobs, **scaling, **parse_settings(settings)}
    unknown = sorted(set(chosen) - set(ODEFSModel().get_params()))
    if unknown:
        raise click.UsageError(
            f"ODEFS has no parameter {unknown[0]!r}: it has {', '.join(sorted(ODEFSModel().get_params()))}."
        )
    try:
        model = (ODEFSModel.paper() if profile == "paper" else ODEFSModel()).set_params(**chosen)
        # What ``fit`` would say, before anything is read.
        detector_of(model._parameters())
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--set: {error}") from error
    return model


def text_columns(chosen: Mapping[str, Any]) -> list[str]:
    """Columns of a text file that are not to be taken for numbers."""
    return [*chosen["category"], *([chosen["identifier"]] if chosen["identifier"] else [])]


def described(found: "TableDetection", read: "Reading", run: "Provenance") -> "TableDetection":
    """A detection that knows its file and its run."""
    source = {
        "name": read.name,
        "rows": read.table.n_rows,
        "columns": len(read.table.names),
        "bytes": read.n_bytes,
        "sha256": read.sha256,
    }
    if not read.has_header:
        source["header"] = False
    return replace(found, source=source, run=run, notes=[*read.notes, *found.notes])


def labels_of(table: "Table", name: str) -> "np.ndarray":
    """A 0/1 column, checked before the model is fitted; in a file where the table is in files."""
    import numpy as np

    from odefs.engines.out_of_core import Folder
    from odefs.tables.frames import column_cells

    table.require_columns([name])
    shape = (table.n_rows,)
    y = np.empty(shape, np.uint8) if table.is_in_memory else Folder().array(shape, np.uint8)
    for start, frame in table.batches([name]):
        y[start : start + len(frame)] = _labels(column_cells(frame, name), name)
    _require_both(y, f"column {name!r} has one kind of label only.")
    return y


def measure(
    labels: "np.ndarray", scores: "np.ndarray", known: "Iterable[np.ndarray]"
) -> dict[str, float]:
    """How well scores agree with labels, on rows that the model is told nothing about.

    The others would flatter it.
    """
    import numpy as np

    from odefs.tables.label_metrics import evaluate, without_rows

    told = np.concatenate([np.empty(0, dtype=np.intp), *known])
    if told.size:
        labels, scores = without_rows(labels, scores, told)
        require_measurable(labels)
    return evaluate(labels, scores)


def require_measurable(labels: Any) -> None:
    """Labels of the rows that the model is told nothing about."""
    _require_both(
        labels,
        "the rows that are not known have one kind of label only: nothing can be measured on them.",
    )


def _labels(values: Any, name: str) -> Any:
    import numpy as np

    from odefs.datasets.store import DatasetError, read_labels
    from odefs.exceptions import TableError

    # A missing cell is no label; None could not be compared with one.
    known = np.asarray([np.nan if cell is None else cell for cell in values])
    try:
        return read_labels(known, f"column {name!r}")
    except (DatasetError, TypeError, ValueError) as error:
        raise TableError(str(error)) from error


def _require_both(y: Any, otherwise: str) -> None:
    from odefs.exceptions import TableError

    if not 0 < int(y.sum(dtype=int)) < y.size:
        raise TableError(otherwise)
