"""Scoring command, ``odefs score MODEL FILE``: other tables under a saved model, with drift.

A folder of parquet files is scored as one table, or file by file into another folder.
"""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from odefs.cli import options
from odefs.cli.errors import reports_errors
from odefs.cli.flag_limit import (
    Limit,
    LimitType,
    allowed_share,
    as_plain_limit,
    exit_if_exceeded,
    flags_many_more,
    require_comparable,
    share_in_training,
)
from odefs.cli.given_options import is_given, spelling
from odefs.cli.option_records import as_record
from odefs.cli.output_options import require_their_outputs
from odefs.cli.scoring import ModelRun, open_table_model, reference_scores, score_file
from odefs.cli.sheets import SheetResult, refuse_all, run_sheets, sheet_writing
from odefs.cli.terminal.messages import document_text, say_warning, write_document
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.tables.scoring.folder import Progress

SINGLE_TABLE = (
    *("sheet", "skip_rows", "header_row", "cell_range", "delimiter", "no_header", "table", "query"),
    *("report_path", "reasons", "with_data", "excel", "raw", "contamination", "flag", "hide"),
    *("top", "reference", "level"),
)
"""Options that need all rows at once or another file format, so not for files of a folder."""


@dataclass(frozen=True, kw_only=True)
class ScoreRun(ModelRun):
    """Options of ``odefs score``."""

    writing: options.Writing
    limit: Limit | None
    reference: str | None
    level: float | None
    display: options.Display

    def of_sheet(self, sheet: str) -> Self:
        return replace(super().of_sheet(sheet), writing=sheet_writing(self.writing, sheet))


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@options.writing
@options.reading
@options.flagging
@click.option(
    "--max-flagged",
    "limit",
    type=LimitType(),
    metavar="SHARE",
    help="Exit with code 3 if more rows are flagged: a share (0.02, 5%) or a multiple of the "
    "share in training (2x).",
)
@options.reference
@options.level
@options.jobs
@options.display
@reports_errors
@as_record(ScoreRun)
def command(run: ScoreRun) -> None:
    """Score the rows of FILE with a saved MODEL.

    MODEL is a file written by 'odefs detect --save'. The output includes how FILE differs from
    the training table.

    If FILE is a folder and OUTPUT has none of the file suffixes, OUTPUT is a folder too: every
    parquet file gets a file of scores of the same name there. Existing files are kept and count
    for --max-flagged, so an interrupted run can be resumed. They must be from the same model,
    threshold and id; --force writes them again.
    """
    output = _output_folder(run.file, run.writing.output)
    if output is not None:
        _score_folder(run, output)
        return
    require_comparable(run.limit, run.flagging)
    _require_one_rule(run)
    require_their_outputs(run.writing)
    if run.reference:
        refuse_all(run.reading.sheet, "--reference is a table of its own")
    run_sheets(run.file, run, _score, run.display.as_json, run.display.quiet)


def _score(run: ScoreRun) -> SheetResult:
    """Score one table, and write and show what was found."""
    from odefs.cli.outputs import choose_targets, require_apart, write_outputs
    from odefs.cli.sources import table_and_folder
    from odefs.cli.terminal.screen import Screen, show_detection, show_drift, show_files
    from odefs.report import build_report
    from odefs.tables.drift import as_plain
    from odefs.tables.results.displayed_rows import shown_drift

    writing, display, threshold = run.writing, run.display, run.flagging.threshold
    targets = choose_targets(
        run.file, writing, display, run.reading, model_read=run.model, sheet=run.sheet
    )
    require_apart([targets.scores, targets.page], [Path(run.reference) if run.reference else None])
    # Before any work: a model file without the share in training cannot resolve a multiple.
    allowed = allowed_share(run.limit, run.model, threshold)
    with table_and_folder(run.file, run.reading, display.quiet, targets.scores) as (local, folder):
        with progress(display.quiet):
            clean = reference_scores(run, run.reference) if run.reference else None
            scored = score_file(run, local, folder, display.top, writing, clean, run.level)
            found = scored.found
            notes = write_outputs(targets, scored.read.table, found, writing)
        for note in () if display.quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        flagged = found.n_flagged / found.n_rows
        before = share_in_training(scored.model, threshold)
        many_more = flags_many_more(scored, run.flagging)
        drift = shown_drift(found, scored.drift)
        # Inside the block: results of a large table are in its folder until the block ends.
        document = None
        if display.as_json:
            differences = {
                "flagged": flagged,
                "flagged_in_training": before,
                "flagged_far_more": many_more,
                "columns": as_plain(drift),
            }
            more = {
                "drift": differences,
                "max_flagged": as_plain_limit(run.limit, allowed, flagged),
            }
            document = document_text(build_report(found, with_page=False).summary | more)
        elif not display.quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, display.top)
            out.say()
            show_drift(out, drift, flagged, before, many_more)
            show_files(out, targets, found)
    return SheetResult(document, lambda: exit_if_exceeded(run.limit, allowed, flagged))


def _require_one_rule(run: ScoreRun) -> None:
    reference, limit = run.reference, run.limit
    given = [f"--{name}" for name, value in vars(run.flagging).items() if value is not None]
    if reference and given:
        raise click.UsageError(
            f"--reference flags rows by their p-values, so it excludes {given[0]}."
        )
    if reference and limit is not None and limit.times is not None:
        raise click.UsageError(
            f"--max-flagged {limit.given} compares with training, where no p-values were used: "
            "give a share such as 0.05."
        )
    if run.level is not None and not reference:
        raise click.UsageError("--level is for p-values: give a file of clean rows as --reference.")


def _output_folder(file: str, output: str | None) -> str | None:
    """The output if it is a folder, which it is if the input is one and it has no suffix."""
    from odefs.tables.writers.files import WRITABLE

    if not output or output == "-" or output.lower().endswith(WRITABLE):
        return None
    return output if Path(file).is_dir() else None


def _score_folder(run: ScoreRun, output: str) -> None:
    """Score the partitions and report the counts."""
    from odefs.exceptions import UnreadableColumnWarning
    from odefs.tables.messages import outputs_without_input
    from odefs.tables.readers.inputs import fingerprint
    from odefs.tables.scoring.batches import BatchScorer
    from odefs.tables.scoring.folder import score_partitions

    _require_folder_options(run.writing.reasons)
    quiet, threshold = run.display.quiet, run.flagging.threshold
    allowed = allowed_share(run.limit, run.model, threshold)
    loaded = open_table_model(run.model)
    loaded.model.set_params(n_jobs=run.jobs)
    identifier = run.reading.identifier or loaded.identifier
    with warnings.catch_warnings(record=True) as caught, progress(quiet):
        # Other warnings stay hidden; this one is the only sign that a column cannot be read.
        warnings.simplefilter("once", UnreadableColumnWarning)
        done = score_partitions(
            BatchScorer(loaded.model, loaded.encoder),
            Path(run.file),
            Path(output),
            [identifier] if identifier else [],
            threshold,
            run.writing.force,
            fingerprint(run.model)[1],
        )
    for message in () if quiet else caught:
        say_warning(str(message.message))
    if done.without_input and not quiet:
        say_warning(outputs_without_input(output, done.without_input))
    if run.display.as_json:
        document = {
            "written": done.written,
            "skipped": done.skipped,
            "rows": done.n_rows,
            "flagged": done.n_flagged,
            "flagged_in_training": share_in_training(loaded, threshold),
            "without_input": list(done.without_input),
            "max_flagged": as_plain_limit(run.limit, allowed, done.flagged_share),
        }
        write_document(document_text(document))
    elif not quiet:
        _show_counts(output, done)
    exit_if_exceeded(run.limit, allowed, done.flagged_share)


def _require_folder_options(reasons: str) -> None:
    # --reasons none is what folders do anyway.
    given = [
        name for name in SINGLE_TABLE if is_given(name) and (name, reasons) != ("reasons", "none")
    ]
    if given:
        raise click.UsageError(
            f"{spelling(given[0])} is for single tables; folders support --id, --threshold and "
            "--force."
        )


def _show_counts(output: str, done: "Progress") -> None:
    from odefs.tables.messages import files_scored, rows_scored

    click.echo(files_scored(output, done.written, done.skipped))
    if done.n_rows:
        click.echo(rows_scored(done.n_rows, done.n_flagged, done.flagged_share))
