"""Steps that commands share: whole or in parts, errors that name a file, the model, and labels."""

import ast
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs._extras import command
from odefs.cli import options

if TYPE_CHECKING:
    import numpy as np

    from odefs.models.odefs import ODEFSModel
    from odefs.tables.readers.open import Reading
    from odefs.tables.readers.sources.locate import LocalTable
    from odefs.tables.records.notes import Provenance
    from odefs.tables.results.detection import TableDetection
    from odefs.tables.table import Table


LOW_MEMORY = 1500 * 10**6
"""Available bytes below which readers use little memory, also for tables that fit."""


def is_large(
    file: "str | LocalTable", delimiter: str | None = None, sheet: str | None = None
) -> bool:
    """Whether the file must be read in parts; raises if memory is too small even for that."""
    from odefs.system.memory import available_memory, reduce_reader_memory
    from odefs.tables.readers.memory_estimate import fits
    from odefs.tables.readers.sources.locate import as_local

    path = as_local(file).path
    # What comes through a pipe can be read once only.
    if path == "-" or Path(path).is_fifo():
        return False
    with named_errors(file):
        require_memory(file, delimiter, sheet)
        in_parts = os.environ.get("ODEFS_IN_PARTS", "0").strip() not in ("", "0") or not fits(
            path, delimiter, sheet
        )
    if available_memory() < LOW_MEMORY:
        reduce_reader_memory(kept=2**17)
    elif in_parts:
        reduce_reader_memory()
    return in_parts


def require_memory(
    file: "str | LocalTable",
    delimiter: str | None = None,
    sheet: str | None = None,
    whole: bool = False,
) -> None:
    """Raise before any work if there is too little memory.

    ``whole``: the command cannot read the file in parts.
    """
    from odefs.exceptions import TableError
    from odefs.system.memory import BASELINE, available_memory, configured_limit
    from odefs.tables.readers.memory_estimate import bytes_in_memory, least_memory
    from odefs.tables.readers.sources.locate import as_local

    local = as_local(file)
    if local.path == "-":
        return
    of = local.path, delimiter, sheet
    needed = BASELINE + bytes_in_memory(*of) if whole else least_memory(*of)
    available = available_memory()
    if needed > available:
        limit = configured_limit()
        by_limit = limit is not None and limit <= available
        given = "are allowed by ODEFS_MEMORY" if by_limit else "are available"
        needs = f"{'about' if whole else 'at least'} {needed / 1e6:,.0f} MB of memory"
        raise TableError(
            f"{local.shown}: this run needs {needs}, but only {available / 1e6:,.0f} MB {given}."
        )


@contextmanager
def working_folder(large: bool) -> Iterator[Path | None]:
    """A temporary folder for the intermediate files of a large table, otherwise ``None``."""
    if not large:
        yield None
        return
    from odefs.system.tempfiles import temporary_folder

    with temporary_folder() as folder:
        yield folder


@contextmanager
def named_errors(file: "str | LocalTable", output: str | None = None) -> Iterator[None]:
    """Prefix errors with the name of the file, and name the package to install if one is missing.

    Errors that start with the name of the ``output`` concern that file and stay as they are.
    """
    from odefs.exceptions import TableError
    from odefs.tables.readers.sources.kinds import table_name
    from odefs.tables.readers.sources.locate import as_local

    local = as_local(file)
    shown, name = local.shown, table_name(file) if isinstance(file, str) else local.name
    named = (shown, name if shown == "-" else f"{name}:", *([f"{Path(output)}:"] if output else []))
    try:
        yield
    except ModuleNotFoundError as error:
        raise TableError(
            f"{shown}: reading it needs {error.name}, which is not installed: {command('cli')}"
        ) from error
    except ValueError as error:
        raise (
            error if str(error).startswith(named) else TableError(f"{shown}: {error}")
        ) from error


def command_line() -> str:
    """The command line as the user typed it, without the passwords of addresses."""
    from odefs.tables.polars_names import readable
    from odefs.tables.readers.sources.addresses import without_secrets

    return shlex.join(["odefs", *(without_secrets(readable(part)) for part in sys.argv[1:])])


def shared_command_line() -> str:
    """The command line for results that are passed on: no folder outside the working directory.

    Files in it have their path from there, others their name only, because folders such as the
    user's are nobody else's business.
    """
    context = click.get_current_context(silent=True)
    given = [] if context is None else context.command.params
    # A column name may contain a slash, so the values of these options stay as they are.
    texts = {name for option in given if _takes_text(option) for name in option.opts}
    words: list[str] = []
    for word in shlex.split(command_line()):
        is_text = (bool(words) and words[-1] in texts) or word.partition("=")[0] in texts
        words.append(word if is_text else _from_working_directory(word))
    return shlex.join(words)


def _takes_text(option: click.Parameter) -> bool:
    """Whether an option has a value other than a path."""
    is_path = isinstance(option.type, click.Path)
    return isinstance(option, click.Option) and not option.is_flag and not is_path


def _from_working_directory(word: str) -> str:
    """Return a path from the working directory, or the name of a file outside; others unchanged."""
    # The path may follow its option in the same word: --report=a/b.html, -oa/b.csv.
    option = re.match(r"--[^=]+=|-[a-z](?=.)", word)
    start = option[0] if option else ""
    path = word.removeprefix(start)
    if not os.path.isabs(path) and os.pardir not in Path(path).parts:
        return word
    folder, name = os.path.split(path.rstrip("/" + os.sep))
    return start + os.path.normpath(os.path.join(_below_working_directory(folder), name))


def _below_working_directory(folder: str) -> str:
    """Return the path of a folder from the working directory; empty if it is not in there."""
    try:
        # The working directory has no links in its path; a file keeps its name.
        here, there = Path.cwd(), Path(folder).resolve()
        holds_users = here in (Path(here.anchor), *Path.home().parents)
        return "" if holds_users else str(there.relative_to(here))
    except (OSError, RuntimeError, ValueError):
        return ""  # outside, a deleted working directory, or a user without a folder


def parse_settings(settings: Sequence[str]) -> dict[str, object]:
    """``name=value`` pairs; values are numbers, True, False, None, or text."""
    parsed: dict[str, object] = {}
    for setting in settings:
        name, mark, text = setting.partition("=")
        if not mark:
            raise click.UsageError(f"--set takes NAME=VALUE, not {setting!r}.")
        try:
            parsed[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            parsed[name] = text
    return parsed


def _flags(max_false_flags: float | None) -> dict[str, object]:
    if max_false_flags is None:
        return {}
    return {"contamination": "auto", "max_false_flags": max_false_flags}


def make_model(training: options.Training, by: Sequence[str] = ()) -> "ODEFSModel":
    """The unfitted estimator that the options describe; ``by`` are the group columns."""
    from odefs._known_options import suggestion
    from odefs.models.odefs import ODEFSModel
    from odefs.models.validation import detector_of

    # The encoder brings all columns to one scale already; the paper profile has its own scaling.
    paper = training.profile == "paper"
    chosen = {
        "random_state": training.seed,
        "n_jobs": training.jobs,
        **({} if paper else {"scaling": "none", "missing": "ignore"}),
        **_flags(training.max_false_flags),
        # Without the levels of groups, columns of clean tables look like noise.
        **({"noise_columns": "keep"} if by else {}),
        # Last, so that --set overrides everything above.
        **parse_settings(training.settings),
    }
    known = sorted(ODEFSModel().get_params())
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise click.UsageError(
            f"ODEFS has no parameter {unknown[0]!r}.{suggestion(unknown[0], known)} "
            f"It has {', '.join(known)}."
        )
    try:
        model = (ODEFSModel.paper() if paper else ODEFSModel()).set_params(**chosen)
        # Raises the errors of ``fit`` before a large file is read.
        detector_of(model._parameters())
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--set: {error}") from error
    return model


def described(found: "TableDetection", read: "Reading", run: "Provenance") -> "TableDetection":
    """The detection with its source file, provenance and reading notes filled in."""
    return replace(found, source=read.source, run=run, notes=[*read.notes, *found.notes])


def labels_of(table: "Table", name: str) -> "np.ndarray":
    """A validated 0/1 column; backed by a temporary file if the table is not in memory."""
    import numpy as np

    from odefs.engines.out_of_core import Folder
    from odefs.tables.frames.convert import column_cells

    table.require_columns([name])
    shape = (table.n_rows,)
    y = np.empty(shape, np.uint8) if table.is_in_memory else Folder().array(shape, np.uint8)
    for start, frame in table.batches([name]):
        y[start : start + len(frame)] = _labels(column_cells(frame, name), name)
    _require_both(y, f"column {name!r} must contain both 0 and 1, but all its labels are equal.")
    return y


def measure(
    labels: "np.ndarray", scores: "np.ndarray", known: Iterable["np.ndarray"]
) -> dict[str, float]:
    """Accuracy of the scores, measured on rows that were not passed as known.

    Known rows would make the figures too optimistic.
    """
    import numpy as np

    from odefs.tables.known_cases import evaluate, without_rows

    known_rows = np.concatenate([np.empty(0, dtype=np.intp), *known])
    if known_rows.size:
        labels, scores = without_rows(labels, scores, known_rows)
        _require_both(
            labels,
            "the rows not passed as known all have the same label, so accuracy cannot be measured.",
        )
    return evaluate(labels, scores)


def _labels(values: Iterable[object], name: str) -> "np.ndarray":
    import numpy as np

    from odefs.datasets.store import DatasetError, read_labels
    from odefs.exceptions import TableError

    # NaN is rejected as a label; None would fail in the comparison with one.
    known = np.asarray([np.nan if cell is None else cell for cell in values])
    try:
        return read_labels(known, f"column {name!r}")
    except (DatasetError, TypeError, ValueError) as error:
        raise TableError(str(error)) from error


def _require_both(y: "np.ndarray", otherwise: str) -> None:
    from odefs.exceptions import TableError

    if not 0 < int(y.sum(dtype=int)) < y.size:
        raise TableError(otherwise)
