"""``odefs explain MODEL FILE``: every reason for given rows, or for the foremost outliers."""

from pathlib import Path
from typing import Any

import click

from odefs.cli import options
from odefs.cli.guard import guarded
from odefs.cli.progress import progress


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file")
@click.option(
    "--rows",
    metavar="LIST",
    help="Rows by number from 1 (as in 3,17,20-25), or by the name in the id column; the foremost outliers by default.",
)
@click.option("--hide", multiple=True, metavar="COL", help="Column to use, but whose values are not shown.")
@options.reading
@options.flagging
@click.option("--jobs", type=click.IntRange(1), help="Threads; all cores by default.")
@options.telling
def command(
    model: Path, file: str, rows: str | None, debug: bool, quiet: bool, top: int, as_json: bool, **chosen: Any
) -> None:
    """Say why rows of FILE stand out under a saved MODEL: each reason, where the value lies, and what ordinary rows have there."""
    with guarded(debug):
        from odefs.cli.scoring import score_file
        from odefs.cli.terminal import Screen, show_reasons

        with progress(quiet):
            found = score_file(model, file, **chosen).found
        numbers = _rows(rows, found) if rows else [int(row) for row in found.order[:top]]
        if as_json:
            click.echo(_as_json(found, numbers))
        elif not quiet:
            show_reasons(Screen(), found, numbers)


def _rows(text: str, found: Any) -> list[int]:
    """Row numbers from 0 for what the user named."""
    from odefs.tables.columns import TableError

    names = {str(name): row for row, name in reversed(list(enumerate(found.row_names)))}
    rows: list[int] = []
    for part in (part.strip() for part in text.split(",")):
        first, mark, last = part.partition("-")
        if part in names:
            rows.append(names[part])
        elif mark and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last) <= found.n_rows:
            rows += range(int(first) - 1, int(last))
        elif part.isdigit() and 1 <= int(part) <= found.n_rows:
            rows.append(int(part) - 1)
        else:
            raise TableError(
                f"there is no row {part!r}: rows are numbered from 1 to {found.n_rows:,}, or named by the column {found.identifier!r}."
            )
    return rows


def _as_json(found: Any, rows: list[int]) -> str:
    import json

    from odefs.tables.hiding import shown_names, shown_reason

    _, names = shown_names(found)
    entries = []
    for row, reasons in zip(rows, found.reasons(rows, 5), strict=True):
        entries.append(
            {
                "row": row + 1,
                "name": str(names[row]),
                "score": float(found.scores[row]),
                "rank": int(found.ranks[row]),
                "outlier": bool(found.is_outlier[row]),
                "reasons": [shown_reason(found, reason)._asdict() for reason in reasons],
            }
        )
    return json.dumps(entries, ensure_ascii=False)
