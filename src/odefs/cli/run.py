"""Steps that commands share between reading a file and writing results."""

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
    from odefs.tables.notes import Provenance
    from odefs.tables.readers.open import Reading
    from odefs.tables.table import Table


def command_line() -> str:
    """The command line as the user typed it."""
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
    """The unfitted estimator that the options describe."""
    from odefs.models.odefs import ODEFSModel
    from odefs.models.validation import detector_of

    # The encoder brings all columns to one scale already; the paper profile has its own scaling.
    scaling = {} if profile == "paper" else {"scaling": "none"}
    chosen = {"random_state": seed, "n_jobs": jobs, **scaling, **parse_settings(settings)}
    unknown = sorted(set(chosen) - set(ODEFSModel().get_params()))
    if unknown:
        raise click.UsageError(
            f"ODEFS has no parameter {unknown[0]!r}: it has "
            f"{', '.join(sorted(ODEFSModel().get_params()))}."
        )
    try:
        model = (ODEFSModel.paper() if profile == "paper" else ODEFSModel()).set_params(**chosen)
        # Raises the errors of ``fit`` before a large file is read.
        detector_of(model._parameters())
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--set: {error}") from error
    return model


def text_columns(chosen: Mapping[str, Any]) -> list[str]:
    """Columns of a text file that must not be parsed as numbers."""
    return [*chosen["category"], *([chosen["identifier"]] if chosen["identifier"] else [])]


def described(found: "TableDetection", read: "Reading", run: "Provenance") -> "TableDetection":
    """The detection with its source file, provenance and reading notes filled in."""
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
    """A validated 0/1 column; backed by a temporary file if the table is not in memory."""
    import numpy as np

    from odefs.engines.out_of_core import Folder
    from odefs.tables.frames import column_cells

    table.require_columns([name])
    shape = (table.n_rows,)
    y = np.empty(shape, np.uint8) if table.is_in_memory else Folder().array(shape, np.uint8)
    for start, frame in table.batches([name]):
        y[start : start + len(frame)] = _labels(column_cells(frame, name), name)
    _require_both(y, f"column {name!r} must contain both 0 and 1, but all its labels are equal.")
    return y


def measure(
    labels: "np.ndarray", scores: "np.ndarray", known: "Iterable[np.ndarray]"
) -> dict[str, float]:
    """Accuracy of the scores, measured on rows that were not passed as known.

    Known rows would make the figures too optimistic.
    """
    import numpy as np

    from odefs.tables.known_cases import evaluate, without_rows

    known_rows = np.concatenate([np.empty(0, dtype=np.intp), *known])
    if known_rows.size:
        labels, scores = without_rows(labels, scores, known_rows)
        require_measurable(labels)
    return evaluate(labels, scores)


def require_measurable(labels: Any) -> None:
    """Raise TableError unless the labels of the rows not passed as known include 0 and 1."""
    _require_both(
        labels,
        "the rows not passed as known all have the same label, so accuracy cannot be measured.",
    )


def _labels(values: Any, name: str) -> Any:
    import numpy as np

    from odefs.datasets.store import DatasetError, read_labels
    from odefs.exceptions import TableError

    # NaN is rejected as a label; None would fail in the comparison with one.
    known = np.asarray([np.nan if cell is None else cell for cell in values])
    try:
        return read_labels(known, f"column {name!r}")
    except (DatasetError, TypeError, ValueError) as error:
        raise TableError(str(error)) from error


def _require_both(y: Any, otherwise: str) -> None:
    from odefs.exceptions import TableError

    if not 0 < int(y.sum(dtype=int)) < y.size:
        raise TableError(otherwise)
