"""Report command, ``odefs report MODEL FILE -o HTML``: report of a table under a saved model."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import click

from odefs.cli import options
from odefs.cli.errors import reports_errors
from odefs.cli.option_records import as_record
from odefs.cli.scoring import ModelRun, score_file
from odefs.cli.sheets import SheetResult, run_sheets, sheet_path
from odefs.cli.terminal.progress import progress


@dataclass(frozen=True, kw_only=True)
class ReportRun(ModelRun):
    """Options of ``odefs report``."""

    output: Path
    force: bool
    quiet: bool

    def of_sheet(self, sheet: str) -> Self:
        return replace(super().of_sheet(sheet), output=sheet_path(self.output, sheet))


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
@reports_errors
@as_record(ReportRun)
def command(run: ReportRun) -> None:
    """Write the report of FILE under a saved MODEL.

    MODEL is a file written by 'odefs detect --save'.
    """
    run_sheets(run.file, run, _report, quiet=run.quiet)


def _report(run: ReportRun) -> SheetResult:
    """Write the report of one table."""
    from odefs.cli.outputs import PAGES, require_apart, write_report
    from odefs.cli.run import require_memory
    from odefs.cli.sources import local_table
    from odefs.tables.writers.files import check_target

    require_apart([run.output], [Path(run.file), run.model])
    check_target(run.output, run.force, PAGES)
    with local_table(run.file, run.reading, run.quiet) as local:
        require_memory(local, run.reading.delimiter, run.reading.sheet, whole=True)
        with progress(run.quiet):
            write_report(score_file(run, local).found, run.output)
    if not run.quiet:
        click.echo(f"Report: {run.output}")
    return SheetResult()
