"""Detection command, ``odefs detect FILE``: outliers of a table, their reasons and a report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.column_options import require_one_use
from odefs.cli.errors import reports_errors
from odefs.cli.option_records import as_record
from odefs.cli.output_options import require_their_outputs
from odefs.cli.parameter_options import require_one_source
from odefs.cli.sheets import (
    SheetResult,
    SheetRun,
    of_sheet,
    refuse_all,
    run_sheets,
    sheet_path,
    sheet_writing,
    with_sheet,
)
from odefs.cli.terminal.messages import say_warning
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.models.odefs import ODEFSModel
    from odefs.tables.answers.file import Answer
    from odefs.tables.readers.open import Reading
    from odefs.tables.readers.sources.locate import LocalTable
    from odefs.tables.results.detection import TableDetection


@dataclass(frozen=True)
class FitOptions:
    """Options that decide what is fitted to a table and what its result holds."""

    reading: options.Reading
    columns: options.Columns
    training: options.Training
    hide: tuple[str, ...]
    flagging: options.Flagging = options.DEFAULT_FLAGGING
    top: int = 10


@dataclass(frozen=True, kw_only=True)
class DetectRun(SheetRun):
    """Options of ``odefs detect``."""

    file: str | None
    writing: options.Writing
    model_path: Path | None
    answers: Path | None
    checks_path: Path | None
    no_checks: bool
    columns: options.Columns
    flagging: options.Flagging
    training: options.Training
    display: options.Display

    def of_sheet(self, sheet: str) -> Self:
        model, checks = self.model_path, self.checks_path
        return replace(
            super().of_sheet(sheet),
            writing=sheet_writing(self.writing, sheet),
            model_path=model and sheet_path(model, sheet),
            checks_path=checks and sheet_path(checks, sheet),
        )

    @property
    def fit(self) -> FitOptions:
        """The options that a review has as well."""
        return FitOptions(
            self.reading,
            self.columns,
            self.training,
            self.writing.hide,
            self.flagging,
            self.display.top,
        )


@click.command()
@click.argument("file", required=False)
@options.writing
@click.option(
    "--save",
    "model_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Save the model. The file contains rows of the table (all rows of a small one).",
)
@options.answers
@click.option(
    "--checks-out",
    "checks_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the values to check as csv, parquet, arrow, ndjson or xlsx, depending on the "
    "suffix.",
)
@click.option("--no-checks", is_flag=True, help="Do not look for values to check.")
@options.reading
@options.columns
@options.flagging
@options.training
@options.display
@reports_errors
@as_record(DetectRun)
def command(run: DetectRun) -> None:
    """Find the outliers of a table and the columns that reveal them.

    FILE is a csv, parquet, arrow, JSON, ndjson or Excel file, a zip archive, a SQLite or DuckDB
    database, a folder or glob of parquet files, - for standard input, or an address: https://,
    s3://, gs:// or postgresql://. Without FILE, a bundled example of card transactions is used.
    """
    from odefs.datasets.transactions import transactions_path

    require_one_source(run.training.settings)
    reading = run.reading
    if run.no_checks and run.checks_path:
        raise click.UsageError(
            "--checks-out and --no-checks are mutually exclusive: give only one of them."
        )
    require_their_outputs(run.writing, run.checks_path)
    file = run.file
    if file is None:
        file = str(transactions_path())
        reading = replace(reading, identifier=reading.identifier or "transaction")
        run = replace(run, reading=reading)
    require_one_use(reading.identifier, run.columns)
    if run.answers:
        refuse_all(reading.sheet, "--answers belongs to one table")
    run_sheets(file, run, partial(_detect, file), run.display.as_json, run.display.quiet)


def _detect(file: str, run: DetectRun) -> SheetResult:
    """Detect outliers in one table, and write and show what was found."""
    from odefs.cli.outputs import choose_targets, require_apart, require_room_for, write_outputs
    from odefs.cli.run import make_model, named_errors
    from odefs.cli.sources import table_and_folder
    from odefs.cli.terminal.screen import Screen, show_detection, show_files
    from odefs.report import build_report

    writing, display = run.writing, run.display
    targets = choose_targets(
        file,
        writing,
        display,
        run.reading,
        model_path=run.model_path,
        leaves_page=not display.as_json,
        checks_path=run.checks_path,
        sheet=run.sheet,
    )
    require_apart([targets.scores, targets.page, targets.model, targets.checks], [run.answers])
    model = make_model(run.training, run.columns.by)
    with table_and_folder(file, run.reading, display.quiet, targets.scores) as (local, folder):
        with progress(display.quiet):
            with named_errors(local, writing.output):
                read = of_sheet(read_input(local, folder, run.fit), run.sheet)
                require_room_for(writing, read.table, writing.hide)
            # Errors here are about the file of answers, so they must not begin with that of the
            # table.
            told = _read_answers(run.answers, read, run.fit) if run.answers else []
            with named_errors(local, writing.output):
                found = detect_input(read, model, run.fit, told, checks=not run.no_checks)
                found = with_sheet(found, run)
            notes = write_outputs(targets, read.table, found, writing)
        for note in () if display.quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        # Inside the block: results of a large table are in its folder until the block ends.
        if display.as_json:
            return SheetResult(build_report(found, with_page=False).json())
        if not display.quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, display.top)
            show_files(out, targets, found)
    return SheetResult()


def read_input(file: "LocalTable", folder: Path | None, fit: FitOptions) -> "Reading":
    """Open the table and check what can be checked before the fit."""
    from odefs.cli.sources import read_options
    from odefs.tables.readers.open import open_table

    reading, columns = fit.reading, fit.columns
    # These columns must not be parsed as numbers.
    text = [*columns.category, *columns.by, *([reading.identifier] if reading.identifier else [])]
    named = [*columns.named, *fit.hide]
    how = replace(read_options(reading), text_columns=text, named_columns=named)
    with stage("reading"):
        report_progress(0, 0)
        read = open_table(file, how, folder)
        read.table.require_columns([*columns.labels, *fit.hide])
    return read


def _read_answers(path: Path, read: "Reading", fit: FitOptions) -> "list[Answer]":
    """Read the answers of a review before the fit, so that wrong ones cost no time."""
    from odefs.tables.answers.file import AnswerFile, table_fingerprint

    identifier = fit.reading.identifier
    if identifier:
        read.table.require_columns([identifier])
    fingerprint = table_fingerprint({"sha256": read.sha256}, read.table)
    # If the id is hidden, files of answers have row numbers instead.
    shown = None if identifier in fit.hide else identifier
    return AnswerFile(path, read.table, fingerprint, shown).read()


def detect_input(
    read: "Reading",
    model: "ODEFSModel",
    fit: FitOptions,
    told: "Sequence[Answer]" = (),
    checks: bool = False,
) -> "TableDetection":
    """Detect outliers in a table with the given options, and learn from the answers of a review."""
    import numpy as np

    from odefs.cli.run import described, labels_of, measure, shared_command_line
    from odefs.tables.detect import NoColumnsError, detect_table
    from odefs.tables.encoder.encoder import ColumnEncoder
    from odefs.tables.known_cases import known_cases
    from odefs.tables.records.notes import Exclusion, Provenance, other_sheet_names

    columns, flagging, seed = fit.columns, fit.flagging, fit.training.seed
    with stage("reading"):
        labels = labels_of(read.table, columns.label) if columns.label else None
        cases, note = known_cases(read.table, columns.known) if columns.known else ({}, None)
    try:
        found = detect_table(
            read.table,
            model,
            ColumnEncoder(
                columns.number,
                columns.category,
                columns.drop,
                columns.keep,
                columns.na,
                by=columns.by,
            ),
            id=fit.reading.identifier,
            known=cases,
            ignore=columns.labels,
            contamination=flagging.contamination,
            threshold=flagging.threshold,
            flag=flagging.flag,
            hide=fit.hide,
            top=fit.top,
            seed=seed,
            checks=checks,
        )
    except NoColumnsError as error:
        # Again, with what only the command knows: other sheets and the given delimiter.
        raise NoColumnsError(
            error.left_out, other_sheet_names(read.notes), fit.reading.delimiter
        ) from None
    notes, rows = [note] if note else [], list[int]()
    if told:
        from odefs.tables.answers.apply import answers_note, with_answers
        from odefs.tables.answers.file import answered

        rows, answers = answered(told)
        found = with_answers(found, rows, answers, read.table)
        notes.append(answers_note(answers))
    known = (*cases.values(), np.array(rows, dtype=np.intp))
    found = described(found, read, Provenance.of_model(model, shared_command_line(), seed))
    return replace(
        found,
        left_out=dict.fromkeys(columns.drop, Exclusion("dropped")) | found.left_out,
        notes=[*found.notes, *notes],
        labels={} if labels is None else measure(labels, found.extent.scores, known),
    )
