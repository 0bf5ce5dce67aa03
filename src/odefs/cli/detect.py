"""``odefs detect FILE``: read a table, find its outliers, show the reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from odefs.tables.detection import Detection


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write all rows' scores to this csv file.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="How many outliers to show.")
@click.option("--id", "identifier", metavar="COL", help="Column that names the rows.")
@click.option("--drop", multiple=True, metavar="COL", help="Column to leave out; may be repeated.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Seed of all random draws."
)
@click.option("--jobs", type=click.IntRange(1), help="Threads; all cores by default.")
def command(
    file: Path | None,
    output: Path | None,
    top: int,
    identifier: str | None,
    drop: tuple[str, ...],
    seed: int,
    jobs: int | None,
) -> None:
    """Find the outliers of a table and say which columns gave them away.

    FILE is a csv or parquet file; without one, a bundled example of card transactions is used.
    """
    from odefs.datasets.transactions import transactions_path
    from odefs.tables.detection import detect_table
    from odefs.tables.read import TableError, write_csv

    if file is None:
        file, identifier = transactions_path(), identifier or "transaction"
    try:
        found = detect_table(file, identifier, drop, seed, jobs, top)
        _show(found, file.name, top)
        if output is not None:
            write_csv(output, found.as_columns())
            click.echo(f"Scores of all rows: {output}")
    except TableError as error:
        click.echo(f"odefs: {error}", err=True)
        raise SystemExit(1) from None


def _show(found: "Detection", name: str, top: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Names and values are the user's: square brackets in them are no markup.
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"{name}: {found.n_rows:,} rows, {len(found.columns)} columns used", style="bold")
    for column, reason in found.left_out.items():
        console.print(f"  left out: {column} ({reason})")
    flagged = int(found.is_outlier.sum())
    console.print(
        f"{flagged} rows stand out: their score exceeds mean + 2 std of all scores (a convention, not an error rate). An ordinary row scores 1.0.\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right")
    table.add_column(Text(found.identifier))
    table.add_column("score", justify="right")
    table.add_column("why")
    for rank, row in enumerate(found.order[:top], start=1):
        why = ", ".join(_sentence(reason) for reason in found.reasons(row))
        table.add_row(str(rank), Text(str(found.names[row])), f"{found.scores[row]:.2f}", Text(why))
    console.print(table)
    columns = ", ".join(f"{column} {share:.0%}" for column, share in found.importances[:6])
    console.print(f"\nColumns the model relies on: {columns}")


def _sentence(reason: Any) -> str:
    value = f"{reason.value:.6g}" if isinstance(reason.value, float) else str(reason.value)
    return f"{reason.column} = {value}"
