"""Scoring command, ``odefs score MODEL FILE``: another table under a saved model, with drift."""

from pathlib import Path
from typing import Any

import click

from odefs.cli import options
from odefs.cli.errors import guarded
from odefs.cli.flag_limit import (
    LimitType,
    allowed_share,
    exit_if_exceeded,
    require_comparable,
    share_in_training,
)
from odefs.cli.flag_limit import as_plain as as_plain_limit
from odefs.cli.messages import document_text, say_warning, write_document
from odefs.cli.progress import progress

SCORING = (
    "sheet",
    "identifier",
    "hide",
    "delimiter",
    "no_header",
    "contamination",
    "threshold",
    "flag",
    "jobs",
    "output",
    "with_data",
    "top",
)
"""Options passed on to ``score_file``."""


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@options.output
@options.report_file
@options.reading
@options.flagging
@click.option(
    "--max-flagged",
    type=LimitType(),
    metavar="SHARE",
    help="Exit with code 3 if more rows are flagged: a share (0.02, 5%) or a multiple of the "
    "share in training (2x).",
)
@click.option("--jobs", type=click.IntRange(1), help="Number of threads (default: all cores).")
@options.display
def command(model: Path, file: str, debug: bool, quiet: bool, **chosen: Any) -> None:
    """Score the rows of FILE with a saved MODEL.

    MODEL is a file written by 'odefs detect --save'. The output includes how FILE differs from
    the training table.

    If FILE is a folder and OUTPUT has none of the file suffixes, OUTPUT is a folder too: every
    parquet file gets a file of scores of the same name there. Existing files are kept and count
    for --max-flagged, so an interrupted run can be resumed. They must be from the same model,
    threshold and id; --force writes them again.
    """
    from odefs.cli.score_folder import goes_to_folder, score_folder

    with guarded(debug):
        if goes_to_folder(file, chosen["output"]):
            score_folder(model, Path(file), quiet, **chosen)
            return
        _score(model, file, quiet, **chosen)


def _score(model: Path, file: str, quiet: bool, **chosen: Any) -> None:
    from odefs.cli.in_parts import is_large, working_folder
    from odefs.cli.outputs import choose_targets, write_outputs
    from odefs.cli.scoring import score_file
    from odefs.cli.screen import Screen, show_detection, show_drift, show_files
    from odefs.report import build_report
    from odefs.tables.displayed_rows import shown_drift
    from odefs.tables.drift import as_plain

    limit = chosen["max_flagged"]
    require_comparable(limit, contamination=chosen["contamination"], flag=chosen["flag"])
    large = is_large(file, chosen["delimiter"], chosen["sheet"])
    targets = choose_targets(file, model_read=model, large=large, **chosen)
    # Before any work: a model file without the share in training cannot resolve a multiple.
    allowed = allowed_share(limit, model, chosen["threshold"])
    with working_folder(large) as folder:
        with progress(quiet):
            scored = score_file(model, file, folder, **{name: chosen[name] for name in SCORING})
            found = scored.found
            form = [chosen[name] for name in ("reasons", "with_data", "excel", "raw")]
            notes = write_outputs(targets, scored.read.table, found, *form)
        for note in () if quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        flagged = found.n_flagged / found.n_rows
        before = share_in_training(scored.model, chosen["threshold"])
        drift = shown_drift(found, scored.drift)
        if chosen["as_json"]:
            differences = {
                "flagged": flagged,
                "flagged_in_training": before,
                "columns": as_plain(drift),
            }
            more = {"drift": differences, "max_flagged": as_plain_limit(limit, allowed, flagged)}
            write_document(document_text(build_report(found).summary | more))
        elif not quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, chosen["top"])
            out.say()
            show_drift(out, drift, flagged, before)
            show_files(out, targets, found)
    exit_if_exceeded(limit, allowed, flagged)
