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
    from odefs.cli.work import default_page, described, is_own_page, make_model, measured, run_record, write_report
    from odefs.datasets.transactions import transactions_path
    from odefs.tables.columns import TableError
    from odefs.tables.detection import detect
    from odefs.tables.files import save_detection
    from odefs.tables.output import result_columns
    from odefs.tables.read import read_table
    from odefs.tables.write import WRITABLE, check_target, write_table

    identifier, label, hide, output = chosen["identifier"], chosen["label"], chosen["hide"], chosen["output"]
    if file is None:
        file, identifier = str(transactions_path()), identifier or "transaction"
    to_screen = output == "-"
    page = chosen["report_path"]
    is_default_page = page is None and not (chosen["no_report"] or chosen["as_json"] or to_screen or file == "-")
    if is_default_page:
        page = default_page(file)
    if output and not to_screen:
        check_target(Path(output), chosen["force"], WRITABLE)
    if page:
        check_target(
            page, chosen["force"] or (is_default_page and is_own_page(page)), (".html", ".htm", ".md", ".json")
        )
    if chosen["model_path"]:
        check_target(chosen["model_path"], chosen["force"])
    model = make_model(chosen["profile"], chosen["settings"], chosen["seed"], chosen["jobs"])
    with progress(quiet):
        read = read_table(file, chosen["sheet"], chosen["category"])
        try:
            unknown = [name for name in (*([label] if label else []), *hide) if name not in read.frame.columns]
            if unknown:
                raise TableError(f"there is no column {unknown[0]!r}; the columns are {', '.join(read.frame.columns)}.")
            found = detect(
                read.frame.drop(label) if label else read.frame,
                id=identifier,
                model=model,
                hide=hide,
                **{
                    name: chosen[name]
                    for name in ("contamination", "threshold", "flag", "drop", "keep", "number", "category", "na")
                },
            )
        except ValueError as error:
            raise TableError(f"{file}: {error}") from error
        found = described(found, read, run_record(model, chosen["seed"]))
        quality = measured(found, read.frame[label], label) if label else None
        if output:
            columns = result_columns(found, read.lines, chosen["reasons"], read.frame if chosen["with_data"] else None)
            write_table(None if to_screen else Path(output), columns, chosen["excel"])
        if chosen["model_path"]:
            save_detection(found, chosen["model_path"])
        if page:
            write_report(found, page)
    if chosen["as_json"]:
        click.echo(found.report().json())
    elif not quiet and not to_screen:
        _show(found, chosen["top"], quality, page, output, chosen["model_path"])


def _show(
    found: Any, top: int, quality: dict[str, float] | None, page: Path | None, output: str | None, saved: Path | None
) -> None:
    from odefs.cli.terminal import console, show_detection

    out = console()
    show_detection(out, found, top)
    if quality:
        out.print(
            f"Against the labels: AUC {quality['auc']:.3f}, average precision {quality['ap']:.3f}, p@k {quality['p@k']:.3f}"
        )
    if output:
        out.print(f"Scores of all rows: {output}")
    if saved:
        out.print(f"Model: {saved} (it holds some rows of the table: share it as you would share the table)")
    if page:
        out.print(f"Report: {page}")
