"""``odefs detect FILE``: read a table, find its outliers, show the reasons, leave a page."""

from pathlib import Path
from typing import Any

import click

from odefs.cli import options
from odefs.cli.guard import guarded, progress


@click.command()
@click.argument("file", required=False)
@options.output
@options.report_file
@click.option("--no-report", is_flag=True, help="Leave no page.")
@click.option(
    "--save",
    "model_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Save the model; it holds some rows of the table.",
)
@options.reading
@options.encoding
@click.option("--label", metavar="COL", help="A 0/1 column (1 = outlier) that is only used to measure the result.")
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
    from odefs.cli.detect_large import detect_large_file, is_large
    from odefs.cli.targets import choose_targets, leave_files
    from odefs.cli.terminal import console, show_detection, show_files
    from odefs.cli.work import make_model
    from odefs.datasets.transactions import transactions_path

    if file is None:
        file, chosen["identifier"] = str(transactions_path()), chosen["identifier"] or "transaction"
    elif is_large(file):
        detect_large_file(file, quiet, **chosen)
        return
    targets = choose_targets(file, leaves_page=not (chosen["no_report"] or chosen["as_json"]), **chosen)
    model = make_model(chosen["profile"], chosen["settings"], chosen["seed"], chosen["jobs"])
    with progress(quiet):
        read, found = _find(file, model, chosen)
        leave_files(targets, read, found, chosen["reasons"], chosen["with_data"], chosen["excel"])
    if chosen["as_json"]:
        click.echo(found.report().json().rstrip("\n"))
    elif not quiet and not targets.to_screen:
        out = console()
        show_detection(out, found, chosen["top"])
        if chosen["label"]:
            out.print(_quality(found, read.frame[chosen["label"]], chosen["label"]))
        show_files(out, targets)


def _find(file: str, model: Any, chosen: dict[str, Any]) -> tuple[Any, Any]:
    """The file as it was read, and what was found in it."""
    from odefs.cli.work import described, run_record
    from odefs.tables.columns import TableError
    from odefs.tables.detection import detect
    from odefs.tables.read import read_table

    label, hide = chosen["label"], chosen["hide"]
    read = read_table(file, chosen["sheet"], chosen["category"])
    try:
        unknown = [name for name in (*([label] if label else []), *hide) if name not in read.frame.columns]
        if unknown:
            raise TableError(f"there is no column {unknown[0]!r}; the columns are {', '.join(read.frame.columns)}.")
        options = ("contamination", "threshold", "flag", "drop", "keep", "number", "category", "na")
        frame = read.frame.drop(label) if label else read.frame
        found = detect(
            frame, id=chosen["identifier"], model=model, hide=hide, **{name: chosen[name] for name in options}
        )
    except ValueError as error:
        raise TableError(f"{file}: {error}") from error
    return read, described(found, read, run_record(model, chosen["seed"]))


def _quality(found: Any, labels: Any, name: str) -> str:
    from odefs.cli.work import measured

    quality = measured(found, labels, name)
    return (
        f"Against the labels: AUC {quality['auc']:.3f}, average precision {quality['ap']:.3f}, p@k {quality['p@k']:.3f}"
    )
