"""``odefs detect FILE``: read a table, find its outliers, show the reasons, leave a page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from odefs._progress import stage, tell
from odefs.cli import options
from odefs.cli.errors import guarded
from odefs.cli.messages import say_warning, write_document
from odefs.cli.progress import progress


@click.command()
@click.argument("file", required=False)
@options.output
@options.report_file
@click.option(
    "--save",
    "model_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Save the model; it holds rows of the table, of a small one all.",
)
@options.reading
@options.encoding
@click.option("--label", metavar="COL", help="A 0/1 column (1 = outlier) that is only used to measure the result.")
@click.option(
    "--known", metavar="COL", help="A column of known cases to learn from: 1 = outlier, 0 = ordinary, empty = unknown."
)
@options.flagging
@options.training
@options.telling
def command(file: str | None, debug: bool, quiet: bool, **chosen: Any) -> None:
    """Find the outliers of a table and say which columns gave them away.

    FILE is a csv, parquet, arrow, ndjson or Excel file, a folder or glob of parquet files, or - for standard input; without one, a bundled example of card
    transactions is used.
    """
    with guarded(debug):
        _detect(file, quiet, **chosen)


def _detect(file: str | None, quiet: bool, **chosen: Any) -> None:
    from odefs.cli.detect_large import find_large
    from odefs.cli.in_parts import is_large, working_folder
    from odefs.cli.outputs import choose_targets, write_outputs
    from odefs.cli.run import make_model
    from odefs.cli.screen import Screen, show_detection, show_files
    from odefs.datasets.transactions import transactions_path

    if chosen["known"] and chosen["known"] in (chosen["label"], chosen["identifier"]):
        raise click.UsageError(f"--known {chosen['known']} is named twice: a column has one use.")
    if file is None:
        file, chosen["identifier"] = str(transactions_path()), chosen["identifier"] or "transaction"
    large = is_large(file, chosen["delimiter"], chosen["sheet"])
    targets = choose_targets(file, leaves_page=not (chosen["no_report"] or chosen["as_json"]), large=large, **chosen)
    model = make_model(chosen["profile"], chosen["settings"], chosen["seed"], chosen["jobs"])
    with working_folder(large) as folder:
        with progress(quiet):
            read, found = find_large(file, model, folder, chosen) if folder else _find(file, model, chosen)
            form = [chosen[name] for name in ("reasons", "with_data", "excel", "raw")]
            notes = write_outputs(targets, read, found, *form)
        for note in () if quiet else notes:
            say_warning(f"{targets.scores}: {note}")
        if chosen["as_json"]:
            write_document(found.report().json())
        elif not quiet and not targets.to_screen:
            out = Screen()
            show_detection(out, found, chosen["top"])
            show_files(out, targets, found)


def _find(file: str, model: Any, chosen: dict[str, Any]) -> tuple[Any, Any]:
    """The file as it was read, and what was found in it."""
    from odefs.cli.outputs import require_room_for
    from odefs.cli.run import command_line, described, labels_of, require_columns, require_measurable, text_columns
    from odefs.exceptions import TableError
    from odefs.tables.detection import detect
    from odefs.tables.known_cases import known_note, known_rows
    from odefs.tables.label_metrics import evaluate
    from odefs.tables.notes import Exclusion
    from odefs.tables.provenance import Provenance
    from odefs.tables.readers.open import read_table
    from odefs.tables.readers.polars_names import without_columns

    label, known, hide = chosen["label"], chosen["known"], chosen["hide"]
    taken_out = [column for column in (label, known) if column]
    with stage("reading"):
        tell(0, 0)
        read = read_table(
            file, chosen["sheet"], text_columns(chosen), chosen["delimiter"], header=not chosen["no_header"]
        )
    require_room_for(chosen["output"], read, chosen["with_data"], hide)
    try:
        require_columns(read, [*taken_out, *hide])
        labels = labels_of(read, label) if label else None
        options = ("contamination", "threshold", "flag", "drop", "keep", "number", "category", "na")
        outliers, normal = known_rows(read.frame[known].to_list(), known) if known else (None, None)
        unknown = None if labels is None else _unknown(labels.size, outliers, normal)
        if labels is not None and known:
            require_measurable(labels[unknown])
        found = detect(
            without_columns(read.frame, taken_out),
            id=chosen["identifier"],
            model=model,
            hide=hide,
            known_outliers=outliers,
            known_normal=normal,
            **{name: chosen[name] for name in options},
        )
    except ValueError as error:
        raise TableError(f"{file}: {error}") from error
    if outliers is not None and normal is not None:
        found = replace(found, notes=[*found.notes, known_note(known, outliers, normal)])
    dropped = dict.fromkeys(chosen["drop"], Exclusion("dropped"))
    found = replace(
        described(found, read, Provenance.of_model(found.model, command_line(), chosen["seed"])),
        left_out=dropped | found.left_out,
        labels={} if labels is None or unknown is None else evaluate(labels[unknown], found.scores[unknown]),
    )
    return read, found


def _unknown(n_rows: int, *known: Any) -> Any:
    """Numbers of the rows that the model is told nothing about: the others would flatter it."""
    import numpy as np

    told = np.concatenate([rows for rows in known if rows is not None] or [[]]).astype(int)
    return np.delete(np.arange(n_rows), told)
