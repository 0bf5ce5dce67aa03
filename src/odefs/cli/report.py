"""Report command, ``odefs report MODEL FILE -o HTML``: report of a table under a saved model."""

from pathlib import Path
from typing import Any

import click

from odefs.cli import options
from odefs.cli.errors import guarded
from odefs.cli.progress import progress


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
@click.option(
    "--hide",
    multiple=True,
    metavar="COL",
    help="Column that is used but whose values are not shown (repeatable).",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@options.reading
@options.flagging
@click.option("--jobs", type=click.IntRange(1), help="Number of threads (default: all cores).")
@click.option("--quiet", is_flag=True, help="Print only errors.")
@options.log_format
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
def command(
    model: Path, file: str, output: Path, force: bool, quiet: bool, debug: bool, **chosen: Any
) -> None:
    """Write the report of FILE under a saved MODEL.

    MODEL is a file written by 'odefs detect --save'.
    """
    with guarded(debug):
        from odefs.cli.in_parts import require_memory
        from odefs.cli.outputs import PAGES, require_apart, write_report
        from odefs.cli.scoring import score_file
        from odefs.tables.writers.files import check_target

        require_apart(output, Path(file), model)
        check_target(output, force, PAGES)
        require_memory(file, chosen["delimiter"], chosen["sheet"], whole=True)
        with progress(quiet):
            write_report(score_file(model, file, **chosen).found, output)
        if not quiet:
            click.echo(f"Report: {output}")
