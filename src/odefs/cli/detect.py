"""Detection command, ``odefs detect FILE``: outliers of a table, their reasons and a report."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odefs._progress import report_progress, stage
from odefs.cli import options
from odefs.cli.errors import guarded
from odefs.cli.messages import say_warning, write_document
from odefs.cli.progress import progress

if TYPE_CHECKING:
    from odefs.models.odefs import ODEFSModel
    from odefs.tables.detection import TableDetection
    from odefs.tables.readers.open import Reading


@click.command()
@click.argument("file", required=False)
@options.output
@options.report_file
@click.option(
    "--save",
    "model_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Save the model. The file contains rows of the table (all rows of a small one).",
)
@options.reading
@options.encoding
@click.option(
    "--label",
    metavar="COL",
    help="Column of 0/1 labels (1 = outlier), used only to evaluate the result.",
)
@click.option(
    "--known",
    metavar="COL",
    help="Column of known cases to learn from: 1 = outlier, 0 = normal, empty = unknown.",
)
@options.flagging
@options.training
@options.display
def command(file: str | None, debug: bool, quiet: bool, **chosen: Any) -> None:
    """Find the outliers of a table and the columns that reveal them.

    FILE is a csv, parquet, arrow, ndjson or Excel file, a folder or glob of parquet files, or -
    for standard input. Without FILE, a bundled example of card transactions is used.
    """
    with guarded(debug):
        _detect(file, quiet, **chosen)


def _detect(file: str | None, quiet: bool, **chosen: Any) -> None:
    from odefs.cli.in_parts import is_large, named_errors, working_folder
    from odefs.cli.outputs import choose_targets, write_outputs
    from odefs.cli.run import make_model
    from odefs.cli.screen import Screen, show_detection, show_files
    from odefs.datasets.transactions import transactions_path
    from odefs.report import build_report

    if chosen["known"] and chosen["known"] in (chosen["label"], chosen["identifier"]):
        raise click.UsageError(
            f"--known {chosen['known']} is also given as --label or --id: use different columns."
        )
    if file is None:
        file, chosen["identifier"] = str(transactions_path()), chosen["identifier"] or "transaction"
    large = is_large(file, chosen["delimiter"], chosen["sheet"])
    targets = choose_targets(
        file, leaves_page=not (chosen["no_report"] or chosen["as_json"]), large=large, **chosen
    )
    model = make_model(chosen["profile"], chosen["settings"], chosen["seed"], chosen["jobs"])
    with working_folder(large) as folder:
        with progress(quiet):
            with named_errors(file, chosen["output"]):
                read, found = _find(file, model, folder, chosen)
            form = [chosen[name] for name in ("reasons", "with_data", "excel", "raw")]
            notes = write_outputs(targets, read.table, found, *form)
        for note in () if quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        if chosen["as_json"]:
            write_document(build_report(found).json())
        elif not quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, chosen["top"])
            show_files(out, targets, found)


def _find(
    file: str, model: "ODEFSModel", folder: Path | None, chosen: dict[str, Any]
) -> tuple["Reading", "TableDetection"]:
    """Read the file and detect its outliers."""
    from odefs.cli.outputs import require_room_for
    from odefs.cli.run import command_line, described, labels_of, measure, text_columns
    from odefs.tables.detect import detect_table
    from odefs.tables.encoder.encoder import ColumnEncoder
    from odefs.tables.known_cases import known_cases
    from odefs.tables.notes import Exclusion, Provenance
    from odefs.tables.readers.open import ReadOptions, open_table

    label, known = chosen["label"], chosen["known"]
    taken_out = [column for column in (label, known) if column]
    options = ReadOptions(
        chosen["sheet"], text_columns(chosen), chosen["delimiter"], header=not chosen["no_header"]
    )
    with stage("reading"):
        report_progress(0, 0)
        read = open_table(file, options, folder)
        require_room_for(chosen["output"], read.table, chosen["with_data"], chosen["hide"])
        read.table.require_columns([*taken_out, *chosen["hide"]])
        labels = labels_of(read.table, label) if label else None
        cases, note = known_cases(read.table, known) if known else ({}, None)
    found = detect_table(
        read.table,
        model,
        ColumnEncoder(
            **{name: chosen[name] for name in ("drop", "keep", "number", "category", "na")}
        ),
        id=chosen["identifier"],
        known=cases,
        ignore=taken_out,
        **{
            name: chosen[name]
            for name in ("contamination", "threshold", "flag", "hide", "top", "seed")
        },
    )
    found = described(found, read, Provenance.of_model(model, command_line(), chosen["seed"]))
    return read, replace(
        found,
        left_out=dict.fromkeys(chosen["drop"], Exclusion("dropped")) | found.left_out,
        notes=[*found.notes, *([note] if note else [])],
        labels={} if labels is None else measure(labels, found.extent.scores, cases.values()),
    )
