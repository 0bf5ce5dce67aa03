"""Folder scoring, ``odefs score MODEL DIR -o OUTDIR``: a file of scores per parquet file."""

import warnings
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from odefs.cli.flag_limit import allowed_share, as_plain, exit_if_exceeded, share_in_training
from odefs.cli.messages import document_text, say_warning, write_document
from odefs.cli.progress import progress
from odefs.cli.scoring import open_table_model

UNSUPPORTED = (
    "sheet",
    "delimiter",
    "no_header",
    "report_path",
    "reasons",
    "with_data",
    "excel",
    "raw",
    "contamination",
    "flag",
    "hide",
    "top",
)
"""Options that need all rows at once or another file format."""


def goes_to_folder(file: str, output: str | None) -> bool:
    """Whether input and output are both folders."""
    from odefs.tables.writers.files import WRITABLE

    return bool(
        output and output != "-" and Path(file).is_dir() and not output.lower().endswith(WRITABLE)
    )


def _is_given(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def score_folder(path: Path, folder: Path, quiet: bool, **chosen: Any) -> None:
    """Score the partitions and report the counts."""
    from odefs.exceptions import UnreadableColumnWarning
    from odefs.tables.messages import files_scored, outputs_without_input, rows_scored
    from odefs.tables.readers.open import fingerprint
    from odefs.tables.score_batches import BatchScorer
    from odefs.tables.score_folder import score_partitions

    asked = [
        name
        for name in UNSUPPORTED
        if _is_given(name) and (name, chosen[name]) != ("reasons", "none")
    ]
    if asked:
        name = {"report_path": "report"}.get(asked[0], asked[0]).replace("_", "-")
        raise click.UsageError(
            f"--{name} is for single tables; folders support --id, --threshold and --force."
        )
    limit = chosen["max_flagged"]
    allowed = allowed_share(limit, path, chosen["threshold"])
    loaded = open_table_model(path)
    loaded.model.set_params(n_jobs=chosen["jobs"])
    identifier = chosen["identifier"] or loaded.identifier
    with warnings.catch_warnings(record=True) as caught, progress(quiet):
        # Other warnings stay hidden; this one is the only sign that a column cannot be read.
        warnings.simplefilter("once", UnreadableColumnWarning)
        done = score_partitions(
            BatchScorer(loaded.model, loaded.encoder),
            folder,
            Path(chosen["output"]),
            [identifier] if identifier else [],
            chosen["threshold"],
            chosen["force"],
            fingerprint(path)[1],
        )
    for message in () if quiet else caught:
        say_warning(str(message.message))
    if done.without_input and not quiet:
        say_warning(outputs_without_input(chosen["output"], done.without_input))
    if chosen["as_json"]:
        counts = {
            "written": done.written,
            "skipped": done.skipped,
            "rows": done.n_rows,
            "flagged": done.n_flagged,
        }
        more = {
            "flagged_in_training": share_in_training(loaded, chosen["threshold"]),
            "without_input": list(done.without_input),
            "max_flagged": as_plain(limit, allowed, done.flagged_share),
        }
        write_document(document_text(counts | more))
    elif not quiet:
        click.echo(files_scored(chosen["output"], done.written, done.skipped))
        if done.n_rows:
            click.echo(rows_scored(done.n_rows, done.n_flagged, done.flagged_share))
    exit_if_exceeded(limit, allowed, done.flagged_share)
