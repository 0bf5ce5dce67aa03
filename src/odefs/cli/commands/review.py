"""Review command, ``odefs review FILE``: yes or no, row by row, on a page that learns."""

import os
import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs._extras import require_extra
from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.column_options import require_one_use
from odefs.cli.commands.detect import FitOptions, detect_input, read_input
from odefs.cli.errors import reports_errors
from odefs.cli.parameter_options import require_one_source
from odefs.cli.scoring import ModelRun, score_file
from odefs.cli.sheets import refuse_all
from odefs.cli.terminal.progress import progress

if TYPE_CHECKING:
    from odefs.review_page.session import ReviewSession
    from odefs.tables.readers.open import Reading
    from odefs.tables.readers.sources.locate import LocalTable
    from odefs.tables.results.detection import TableDetection

ANSWERS_SUFFIX = ".answers.csv"
NOT_OF_DETECT = ("--port", "--model", "--answers")
"""Options with a value that the command shown at the end does not have, or has as the last."""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>odefs review</title>
</head>
<body><p><a href="{address}">Go to the review</a></p></body>
</html>
"""


@click.command()
@click.argument("file", required=False)
@click.option(
    "--model",
    "model_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Rank the rows with a saved model instead of fitting one.",
)
@click.option(
    "--answers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CSV",
    help="File of the answers; an existing one is continued (default: named after the table).",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Port of the page on this machine (default: a free one).",
)
@click.option("--no-browser", is_flag=True, help="Print the address, but open no browser.")
@options.hide
@options.one_table
@options.columns
@options.training
@click.option("--quiet", is_flag=True, help="Print only the address and errors.")
@reports_errors
def command(
    file: str | None,
    model_path: Path | None,
    answers: Path | None,
    port: int,
    no_browser: bool,
    hide: tuple[str, ...],
    reading: options.Reading,
    columns: options.Columns,
    training: options.Training,
    quiet: bool,
) -> None:
    """Look at the rows of a table one by one, most suspicious first, and answer yes or no.

    Opens a page in the browser. The ranking learns from every answer, and every answer is saved to
    a csv file, which 'odefs detect --answers' and a later review read. FILE is a table as for
    'odefs detect'; without FILE, a bundled example is used.
    """
    from odefs.cli.outputs import default_target, require_apart
    from odefs.cli.run import require_memory
    from odefs.cli.sources import local_table
    from odefs.datasets.transactions import transactions_path
    from odefs.system.browser import has_screen
    from odefs.system.tempfiles import temporary_folder
    from odefs.tables.writers.files import check_target

    with require_extra("the review page", "review"):
        from odefs.review_page.server import serve
    require_one_source(training.settings)
    refuse_all(reading.sheet, "A review is of one table")
    if file is None:
        file = str(transactions_path())
        reading = replace(reading, identifier=reading.identifier or "transaction")
    require_one_use(reading.identifier, columns)
    if answers is None and file == "-":
        raise click.UsageError("--answers is needed with a table from standard input.")
    path = answers or default_target(file, ANSWERS_SUFFIX, reading.table)
    require_apart([path], [Path(file) if file != "-" else None, model_path])
    # True, because an existing file of answers is continued, not replaced.
    check_target(path, True, (".csv",))
    with local_table(file, reading, quiet) as local:
        require_memory(local, reading.delimiter, reading.sheet, whole=True)
        with progress(quiet):
            if model_path is None:
                found, read = _detected(local, FitOptions(reading, columns, training, hide))
            else:
                run = ModelRun(
                    reading=reading, model=model_path, file=file, hide=hide, jobs=training.jobs
                )
                scored = score_file(run, local)
                found, read = scored.found, scored.read
    # The table is in memory by now, so a downloaded file may be gone.
    with progress(quiet):
        session = _session(path, found, read, columns, "" if model_path else _next_command(path))

    def started(address: str) -> None:
        click.echo(f"Review: {address}")
        if not quiet:
            click.echo(f"Answers: {path} ({session.n_answers:,} so far)")
            click.echo("Finish on the page, or with Ctrl-C.")
        # In a pipe, the address would otherwise stay in the buffer as long as the server runs.
        sys.stdout.flush()
        if not no_browser and has_screen():
            try:
                _open_browser(address, until_the_end.enter_context(temporary_folder()))
            except (OSError, ValueError) as error:
                click.echo(f"No browser was opened ({error}): open the address above.", err=True)

    with ExitStack() as until_the_end:
        if not quiet:
            until_the_end.callback(lambda: click.echo(f"Answers: {path} ({session.n_answers:,})"))
        serve(session, port, started)


def _detected(file: "LocalTable", fit: FitOptions) -> "tuple[TableDetection, Reading]":
    from odefs.cli.run import make_model, named_errors

    model = make_model(fit.training, fit.columns.by)
    with named_errors(file):
        read = read_input(file, None, fit)
        return detect_input(read, model, fit), read


def _session(
    path: Path,
    found: "TableDetection",
    read: "Reading",
    columns: options.Columns,
    next_command: str,
) -> "ReviewSession":
    from odefs.review import Review
    from odefs.review_page.row_view import RowViews
    from odefs.review_page.session import ReviewSession, read_answers
    from odefs.tables.answers.file import AnswerFile

    found.require_importances()
    answer_file = AnswerFile.of(path, read.table, found)
    lines, file_state = read_answers(answer_file)
    with stage("preparing the review"):
        report_progress(0, 0)
        review = Review(found.model, found.X)
        views = RowViews(found, read.table, columns.labels)
        return ReviewSession(review, views, answer_file, lines, file_state, next_command)


def _next_command(path: Path) -> str:
    """The command that takes the answers up, with the options of this one."""
    from odefs.cli.run import command_line

    # Without 'odefs review'.
    words = iter(shlex.split(command_line())[2:])
    kept = []
    for word in words:
        if word in NOT_OF_DETECT:
            next(words, None)
        elif word.partition("=")[0] not in (*NOT_OF_DETECT, "--no-browser"):
            kept.append(word)
    return shlex.join(["odefs", "detect", "--answers", os.fspath(path), *kept])


def _open_browser(address: str, folder: Path) -> None:
    """Open a secret address without a command line that other users can list.

    The browser is given a file that only this user can read, and which leads to the address;
    ``folder`` is private and should last as long as browsers take to start.
    """
    from odefs.system.atomic_write import create_private
    from odefs.system.browser import open_file

    file = folder / "review.html"
    create_private(file)
    file.write_text(PAGE.format(address=address), encoding="utf-8")
    open_file(file)
