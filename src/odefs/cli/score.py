"""``odefs score MODEL FILE``: the rows of another table under a saved model, and how that table differs from the training table."""

from pathlib import Path
from typing import Any

import click

from odefs.cli import options
from odefs.cli.guard import guarded, progress

TOO_MANY = 3


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@options.output
@options.report_file
@options.reading
@options.flagging
@click.option(
    "--max-flagged",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 3 if more rows are flagged, for scheduled runs.",
)
@click.option("--jobs", type=click.IntRange(1), help="Threads; all cores by default.")
@options.telling
def command(model: Path, file: str, debug: bool, quiet: bool, **chosen: Any) -> None:
    """Score the rows of FILE with a MODEL that 'odefs detect --save' wrote, and say how FILE differs from the training table."""
    with guarded(debug):
        _score(model, file, quiet, **chosen)


def _score(model: Path, file: str, quiet: bool, **chosen: Any) -> None:
    from odefs.cli.scoring import score_file
    from odefs.cli.terminal import console, show_detection, show_drift
    from odefs.cli.work import write_report
    from odefs.tables.drift import as_plain, measure_drift
    from odefs.tables.output import result_columns
    from odefs.tables.write import WRITABLE, check_target, write_table

    output, page = chosen["output"], chosen["report_path"]
    to_screen = output == "-"
    if output and not to_screen:
        check_target(Path(output), chosen["force"], WRITABLE)
    if page:
        check_target(page, chosen["force"], (".html", ".htm", ".md", ".json"))
    with progress(quiet):
        scored = score_file(
            model,
            file,
            **{
                name: chosen[name]
                for name in ("sheet", "identifier", "hide", "contamination", "threshold", "flag", "jobs")
            },
        )
        found = scored.found
        if output:
            columns = result_columns(
                found, scored.read.lines, chosen["reasons"], scored.read.frame if chosen["with_data"] else None
            )
            write_table(None if to_screen else Path(output), columns, chosen["excel"])
        if page:
            write_report(found, page)
    flagged = float(found.is_outlier.mean())
    drift = measure_drift(found.encoder, found.table)
    if chosen["as_json"]:
        import json

        summary = {
            **found.report().summary,
            "drift": {
                "flagged": flagged,
                "flagged_in_training": scored.model.flagged_share,
                "columns": as_plain(drift),
            },
        }
        click.echo(json.dumps(summary, sort_keys=True, ensure_ascii=False))
    elif not quiet and not to_screen:
        out = console()
        show_detection(out, found, chosen["top"])
        out.print()
        show_drift(out, drift, flagged, scored.model.flagged_share)
        if output:
            out.print(f"Scores of all rows: {output}")
        if page:
            out.print(f"Report: {page}")
    if chosen["max_flagged"] is not None and flagged > chosen["max_flagged"]:
        click.echo(
            f"odefs: {flagged:.2%} of the rows are flagged, more than the {chosen['max_flagged']:.2%} allowed.",
            err=True,
        )
        raise SystemExit(TOO_MANY)
