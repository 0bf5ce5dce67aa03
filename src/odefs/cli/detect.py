"""Detection command, ``odefs detect FILE``: outliers of a table, their reasons and a report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.messages import say_warning
from odefs.cli.progress import progress
from odefs.cli.sheets import (
    SheetResult,
    of_sheet,
    refuse_all,
    run_sheets,
    sheet_path,
    sheet_writing,
)

if TYPE_CHECKING:
    from odefs.models.odefs import ODEFSModel
    from odefs.tables.answers import Answer
    from odefs.tables.detection import TableDetection
    from odefs.tables.readers.local_tables import LocalTable
    from odefs.tables.readers.open import Reading


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
@options.reports_errors
def command(
    file: str | None,
    writing: options.Writing,
    model_path: Path | None,
    answers: Path | None,
    checks_path: Path | None,
    no_checks: bool,
    reading: options.Reading,
    columns: options.Columns,
    flagging: options.Flagging,
    training: options.Training,
    display: options.Display,
) -> None:
    """Find the outliers of a table and the columns that reveal them.

    FILE is a csv, parquet, arrow, JSON, ndjson or Excel file, a zip archive, a SQLite or DuckDB
    database, a folder or glob of parquet files, - for standard input, or an address: https://,
    s3://, gs:// or postgresql://. Without FILE, a bundled example of card transactions is used.
    """
    from odefs.datasets.transactions import transactions_path

    if columns.known and columns.known in (columns.label, reading.identifier):
        raise click.UsageError(
            f"--known {columns.known} is also given as --label or --id: use different columns."
        )
    if no_checks and checks_path:
        raise click.UsageError(
            "--checks-out and --no-checks are mutually exclusive: give only one of them."
        )
    if file is None:
        file = str(transactions_path())
        reading = replace(reading, identifier=reading.identifier or "transaction")
    if answers:
        refuse_all(reading.sheet, "--answers belongs to one table")
    table = file

    def run(reading: options.Reading, sheet: str | None) -> SheetResult:
        return _detect(
            table,
            sheet_writing(writing, sheet),
            sheet_path(model_path, sheet),
            answers,
            sheet_path(checks_path, sheet),
            no_checks,
            reading,
            columns,
            flagging,
            training,
            display,
            sheet,
        )

    run_sheets(table, reading, run, display.as_json, display.quiet)


def _detect(
    file: str,
    writing: options.Writing,
    model_path: Path | None,
    answers: Path | None,
    checks_path: Path | None,
    no_checks: bool,
    reading: options.Reading,
    columns: options.Columns,
    flagging: options.Flagging,
    training: options.Training,
    display: options.Display,
    sheet: str | None,
) -> SheetResult:
    """Detect outliers in one table, and write and show what was found."""
    from odefs.cli.outputs import choose_targets, require_apart, require_room_for, write_outputs
    from odefs.cli.run import make_model, named_errors
    from odefs.cli.screen import Screen, show_detection, show_files
    from odefs.cli.sources import table_and_folder
    from odefs.report import build_report

    targets = choose_targets(
        file,
        writing,
        display,
        reading,
        model_path=model_path,
        leaves_page=not display.as_json,
        checks_path=checks_path,
        sheet=sheet,
    )
    require_apart(targets.scores, targets.page, targets.model, targets.checks, answers)
    model = make_model(training, columns.by)
    with table_and_folder(file, reading, display.quiet, targets.scores) as (local, folder):
        with progress(display.quiet):
            with named_errors(local, writing.output):
                read = of_sheet(read_input(local, folder, reading, columns, writing.hide), sheet)
                require_room_for(writing, read.table, writing.hide)
            told = _read_answers(answers, read, reading, writing.hide) if answers else []
            with named_errors(local, writing.output):
                found = detect_input(
                    read,
                    model,
                    reading,
                    columns,
                    flagging,
                    training,
                    writing.hide,
                    display.top,
                    told,
                    checks=not no_checks,
                )
            notes = write_outputs(targets, read.table, found, writing)
        for note in () if display.quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        if display.as_json:
            return SheetResult(build_report(found, with_page=False).json())
        if not display.quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, display.top)
            show_files(out, targets, found)
    return SheetResult()


def read_input(
    file: "LocalTable",
    folder: Path | None,
    reading: options.Reading,
    columns: options.Columns,
    hide: tuple[str, ...],
) -> "Reading":
    """Open the table and check what can be checked before the fit."""
    from odefs.cli.sources import read_options
    from odefs.tables.readers.open import open_table

    # These columns must not be parsed as numbers.
    text = [*columns.category, *columns.by, *([reading.identifier] if reading.identifier else [])]
    named = [*columns.named, *hide]
    how = replace(read_options(reading), text_columns=text, named_columns=named)
    with stage("reading"):
        report_progress(0, 0)
        read = open_table(file, how, folder)
        read.table.require_columns([*columns.labels, *hide])
    return read


def _read_answers(
    path: Path, read: "Reading", reading: options.Reading, hide: tuple[str, ...]
) -> "list[Answer]":
    """Read the answers of a review before the fit, so that wrong ones cost no time."""
    from odefs.tables.answers import AnswerFile, table_fingerprint

    if reading.identifier:
        read.table.require_columns([reading.identifier])
    identifier = None if reading.identifier in hide else reading.identifier
    fingerprint = table_fingerprint({"sha256": read.sha256}, read.table)
    return AnswerFile(path, read.table, fingerprint, identifier).read()


def detect_input(
    read: "Reading",
    model: "ODEFSModel",
    reading: options.Reading,
    columns: options.Columns,
    flagging: options.Flagging,
    training: options.Training,
    hide: tuple[str, ...],
    top: int,
    told: "Sequence[Answer]" = (),
    checks: bool = False,
) -> "TableDetection":
    """Detect outliers in a table, as the options say, and take up the answers of a review."""
    import numpy as np

    from odefs.cli.run import described, labels_of, measure, shared_command_line
    from odefs.tables.answers import answered
    from odefs.tables.detect import detect_table
    from odefs.tables.encoder.encoder import ColumnEncoder
    from odefs.tables.known_cases import known_cases
    from odefs.tables.notes import Exclusion, Provenance
    from odefs.tables.with_answers import answers_note, with_answers

    with stage("reading"):
        labels = labels_of(read.table, columns.label) if columns.label else None
        cases, note = known_cases(read.table, columns.known) if columns.known else ({}, None)
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
        id=reading.identifier,
        known=cases,
        ignore=columns.labels,
        contamination=flagging.contamination,
        threshold=flagging.threshold,
        flag=flagging.flag,
        hide=hide,
        top=top,
        seed=training.seed,
        checks=checks,
    )
    rows, answers = answered(told)
    found = with_answers(found, rows, answers, read.table)
    notes = [*([note] if note else []), *([answers_note(answers)] if told else [])]
    known = (*cases.values(), np.array(rows, dtype=np.intp))
    found = described(found, read, Provenance.of_model(model, shared_command_line(), training.seed))
    return replace(
        found,
        left_out=dict.fromkeys(columns.drop, Exclusion("dropped")) | found.left_out,
        notes=[*found.notes, *notes],
        labels={} if labels is None else measure(labels, found.extent.scores, known),
    )
