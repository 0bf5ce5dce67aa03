"""Scoring with a saved model, as used by ``score``, ``explain`` and ``report``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.sheets import SheetRun, of_sheet, with_sheet

if TYPE_CHECKING:
    from odefs.inspection.conformal import Reference
    from odefs.tables.model_files.tables import TableModel
    from odefs.tables.readers.open import Reading
    from odefs.tables.readers.options import ReadOptions
    from odefs.tables.readers.sources.locate import LocalTable
    from odefs.tables.records.drift import ColumnDrift
    from odefs.tables.results.detection import TableDetection


@dataclass(frozen=True, kw_only=True)
class ModelRun(SheetRun):
    """Options of a run that scores a file with a saved model."""

    model: Path
    file: str
    hide: tuple[str, ...] = ()
    flagging: options.Flagging = options.DEFAULT_FLAGGING
    jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Scored:
    """The model, the file that was read, its detection, and its drift from training."""

    model: "TableModel"
    read: "Reading"
    found: "TableDetection"
    drift: list["ColumnDrift"]


def open_table_model(path: Path) -> "TableModel":
    """Load a model of a table; raise ModelFileError if there is none."""
    from odefs.exceptions import ModelFileError
    from odefs.tables.model_files.tables import load_table_model

    if not path.is_file():
        raise ModelFileError(f"{path}: there is no such model file.")
    return load_table_model(path)


def _read_options(
    loaded: "TableModel", reading: options.Reading, hide: Sequence[str]
) -> "ReadOptions":
    """How to read a file for a model."""
    from odefs.cli.sources import read_options

    # As in training, whatever this file looks like: codes such as 007 would otherwise be numbers
    # and match none of the categories.
    text = [spec.name for spec in loaded.encoder.specs_ if spec.kind == "category" or spec.style]
    text += [name for name in (reading.identifier, loaded.identifier) if name]
    text += loaded.encoder.groups_.columns if loaded.encoder.groups_ else ()
    # None, not False, if training had no header: --no-header is an error for files other than text,
    # which such a model can score too.
    trained = None if loaded.source.get("header") is False else True
    header = False if reading.no_header else trained
    return replace(
        read_options(reading),
        text_columns=text,
        least_rows=1,
        header=header,
        expected_names=loaded.encoder.input_columns,
        named_columns=hide,
        keeps_spaces=_has_spaces(loaded),
    )


def _has_spaces(loaded: "TableModel") -> bool:
    """Whether categories of the training table have spaces around them."""
    levels = (level for spec in loaded.encoder.specs_ for level in (*spec.levels, spec.fill_level))
    return any(level != level.strip() for level in levels)


def score_file(
    run: ModelRun,
    file: "LocalTable",
    folder: Path | None = None,
    top: int = 10,
    writing: options.Writing | None = None,
    reference: "Reference | None" = None,
    level: float | None = None,
) -> Scored:
    """Load the model, read the table and score it; in batches if a ``folder`` is given.

    ``writing``: options of a file of scores, which include the hidden columns.
    """
    from odefs.cli.outputs import require_room_for
    from odefs.cli.run import described, named_errors, shared_command_line
    from odefs.inspection.conformal import LEVEL
    from odefs.tables.detect import score_table
    from odefs.tables.readers.open import open_table
    from odefs.tables.records.notes import Provenance

    loaded = open_table_model(run.model)
    loaded.model.set_params(n_jobs=run.jobs)
    hide = writing.hide if writing else run.hide
    hidden = (*loaded.hidden, *hide)
    with named_errors(file, writing.output if writing else None):
        with stage("reading"):
            report_progress(0, 0)
            read = open_table(file, _read_options(loaded, run.reading, hidden), folder)
            read = of_sheet(read, run.sheet)
            if writing:
                require_room_for(writing, read.table, hidden)
            read.table.require_columns(hide)
        # By default the id column of training, if this table has it.
        trained = loaded.identifier if loaded.identifier in read.table.names else None
        found, drift = score_table(
            read.table,
            loaded.model,
            loaded.encoder,
            id=run.reading.identifier or trained,
            contamination=run.flagging.contamination,
            threshold=run.flagging.threshold,
            flag=run.flagging.flag,
            hide=hidden,
            top=top,
            reference=reference,
            level=LEVEL if level is None else level,
            training=loaded.training,
        )
    provenance = Provenance.of_model(loaded.model, shared_command_line())
    found = with_sheet(described(found, read, provenance), run)
    return Scored(loaded, read, found, drift)


def reference_scores(run: ModelRun, file: str) -> "Reference":
    """Score a ``file`` of clean rows as the run scores its own file, without flags and ids."""
    from odefs.cli.run import named_errors
    from odefs.cli.sources import table_and_folder
    from odefs.exceptions import TableError
    from odefs.inspection.conformal import Reference

    reading = replace(run.reading, identifier=None, table=None, query=None)
    run = replace(run, reading=reading, flagging=options.DEFAULT_FLAGGING)
    # Quiet, because the caller shows the progress already.
    with table_and_folder(file, reading, quiet=True) as (local, folder):
        scored = score_file(run, local, folder, top=1)
        with named_errors(local, None):
            try:
                return Reference.of(scored.found.extent.scores)
            except ValueError as error:
                raise TableError(str(error)) from None
