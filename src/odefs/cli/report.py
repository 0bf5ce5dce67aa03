"""Report command, ``odefs report MODEL FILE -o HTML``: report of a table under a saved model."""

from pathlib import Path

import click

from odefs.cli import options
from odefs.cli.progress import progress
from odefs.cli.sheets import SheetResult, run_sheets, sheet_path


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="HTML",
    help="File of the report: .html, .md or .json.",
)
@options.hide
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@options.reading
@options.flagging
@options.jobs
@click.option("--quiet", is_flag=True, help="Print only errors.")
@options.reports_errors
def command(
    model: Path,
    file: str,
    output: Path,
    hide: tuple[str, ...],
    force: bool,
    reading: options.Reading,
    flagging: options.Flagging,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Write the report of FILE under a saved MODEL.

    MODEL is a file written by 'odefs detect --save'.
    """

    def run(reading: options.Reading, sheet: str | None) -> SheetResult:
        page = sheet_path(output, sheet) or output
        _report(model, file, page, hide, force, reading, flagging, jobs, quiet, sheet)
        return SheetResult()

    run_sheets(file, reading, run, quiet=quiet)


def _report(
    model: Path,
    file: str,
    output: Path,
    hide: tuple[str, ...],
    force: bool,
    reading: options.Reading,
    flagging: options.Flagging,
    jobs: int | None,
    quiet: bool,
    sheet: str | None,
) -> None:
    """Write the report of one table."""
    from odefs.cli.outputs import PAGES, require_apart, write_report
    from odefs.cli.run import require_memory
    from odefs.cli.scoring import score_file
    from odefs.cli.sources import local_table
    from odefs.tables.writers.files import check_target

    require_apart(output, Path(file), model)
    check_target(output, force, PAGES)
    with local_table(file, reading, quiet) as local:
        require_memory(local, reading.delimiter, reading.sheet, whole=True)
        with progress(quiet):
            scored = score_file(model, local, reading, flagging, jobs, hide, sheet=sheet)
            write_report(scored.found, output)
    if not quiet:
        click.echo(f"Report: {output}")
