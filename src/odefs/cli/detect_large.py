"""``odefs detect`` where the file would not fit into memory: the same answer from passes over the file, without a page."""

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from odefs.cli.progress import progress

NOT_HERE = ("sheet", "report_path", "label", "with_data", "excel")
"""Options that need all rows at once."""


def is_large(file: str) -> bool:
    """Whether the file would not fit."""
    from odefs.tables.sizes import fits

    return file != "-" and not fits(file)


def detect_large_file(file: str, quiet: bool, **chosen: Any) -> None:
    """Find the outliers, leave scores and model, show the foremost rows."""
    from odefs.cli.work import command_line, make_model
    from odefs.report.scores import mean_agreement
    from odefs.tables.columns import TableError
    from odefs.tables.files import save_table_model
    from odefs.tables.large_output import check_ending, write_scores
    from odefs.tables.record import run_record
    from odefs.tables.write import check_target

    asked = [name for name in NOT_HERE if chosen[name]]
    if asked or chosen["output"] == "-":
        name = {"report_path": "report"}.get(asked[0], asked[0]).replace("_", "-") if asked else "output -"
        raise click.UsageError(
            f"--{name} needs the whole table in memory, and {file} is too large; ODEFS_MEMORY sets the limit."
        )
    scores = Path(chosen["output"]) if chosen["output"] else None
    if scores:
        check_ending(scores)
        check_target(scores, chosen["force"])
    if chosen["model_path"]:
        check_target(chosen["model_path"], chosen["force"])
    model = make_model(chosen["profile"], chosen["settings"], chosen["seed"], chosen["jobs"])
    with progress(quiet), tempfile.TemporaryDirectory(prefix="odefs-") as folder:
        try:
            found, source = _find(file, model, Path(folder), chosen)
        except ModuleNotFoundError as error:
            raise TableError(
                f'{file}: a table that is larger than memory needs {error.name}: pip install "odefs[stream]"'
            ) from error
        except ValueError as error:
            raise error if str(error).startswith(file) else TableError(f"{file}: {error}") from error
        if scores:
            write_scores(found, scores)
        if chosen["model_path"]:
            run = run_record(model, command_line(), chosen["seed"])
            flagged = float(found.flagging.is_outlier.mean())
            extra = (chosen["identifier"], flagged, sorted(chosen["hide"]), source, run)
            save_table_model(chosen["model_path"], model, found.encoder, *extra)
    if chosen["as_json"]:
        told = {"command": command_line(), "rows": found.table.n_rows, "flagged": int(found.flagging.is_outlier.sum())}
        told |= {
            "threshold": found.flagging.threshold,
            "source": source,
            "importances": dict(found.foremost.importances),
        }
        if found.agreement is not None:
            told["agreement"] = mean_agreement(found.agreement, found.flagging.is_outlier)
        click.echo(json.dumps(told, sort_keys=True, ensure_ascii=False))
    elif not quiet:
        _show(found, file, chosen["top"], scores, chosen["model_path"])


def _find(file: str, model: Any, folder: Path, chosen: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    from odefs.tables.large import LargeTable
    from odefs.tables.large_detection import detect_large
    from odefs.tables.names import readable
    from odefs.tables.sizes import parquet_parts
    from odefs.tables.spool import spool_to_parquet

    parts = parquet_parts(file)
    read = parts or [Path(file)]
    table = LargeTable(tuple(parts) if parts else (spool_to_parquet(Path(file), folder),))
    options = ("contamination", "threshold", "flag", "hide", "top", "seed", "drop", "keep", "number", "category", "na")
    found = detect_large(
        table, model, id=chosen["identifier"], known=chosen["known"], **{name: chosen[name] for name in options}
    )
    size = sum(part.stat().st_size for part in read)
    source = {
        "name": readable(Path(file).name),
        "rows": table.n_rows,
        "columns": len(table.schema.names),
        "bytes": size,
    }
    return found, source


def _show(found: Any, file: str, top: int, scores: Path | None, model_path: Path | None) -> None:
    from odefs.cli.terminal import Screen, outlier_table, show_columns

    out = Screen()
    n_columns = len(found.encoder.columns)
    out.say(f"{Path(file).name}: {found.table.n_rows:,} rows, {n_columns} columns used", style="bold")
    out.say("  too large for memory: read in parts, columns judged by a sample of the rows")
    for column, reason in found.encoder.left_out_.items():
        out.say(f"  left out: {column} ({reason})")
    for note in found.encoder.notes_:
        out.say(f"  {note}")
    flagged = int(found.flagging.is_outlier.sum())
    verb = "row stands" if flagged == 1 else "rows stand"
    out.say(f"{flagged:,} {verb} out: {found.flagging.convention}. An ordinary row scores 1.0.\n")
    if top:
        out.print(outlier_table(found.foremost, top))
    show_columns(out, found.foremost)
    if scores:
        out.say(f"Scores of all rows: {scores}")
    if model_path:
        out.say(f"Model: {model_path} (it holds some rows of the table: share it as you would share the table)")
    out.say("No report: it needs the whole table in memory.")
