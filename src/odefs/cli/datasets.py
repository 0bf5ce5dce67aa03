"""``odefs datasets list|get|make``: the paper's data and its generator."""

from pathlib import Path

import click


@click.group()
def command() -> None:
    """List, download and generate the paper's datasets."""


@command.command("list")
def list_all() -> None:
    """Show the twelve datasets, and which are on this machine."""
    from odefs.datasets.registry import ENTRIES
    from odefs.datasets.store import find

    for entry in ENTRIES:
        path = find(entry.name)
        rows, columns = entry.shape
        click.echo(f"{entry.name:<15} {rows:>7,} x {columns:<5} {entry.outliers:>6,} outliers   {path or 'not here'}")
        click.echo(f"{'':<15} {entry.citation}; {entry.licence}" + (f" ({entry.note})" if entry.note else ""))


@command.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--url", help="Another address of the source file.")
def get(names: tuple[str, ...], url: str | None) -> None:
    """Download datasets from their public sources into the user's cache; 'all' for all of them."""
    from odefs.datasets.registry import BY_NAME
    from odefs.datasets.store import DatasetError, download

    failed = False
    for name in BY_NAME if names == ("all",) else names:
        try:
            click.echo(f"{name}: {download(name, url)}")
        except DatasetError as error:
            click.echo(f"odefs: {error}", err=True)
            failed = True
    if failed:
        raise SystemExit(1)


@command.command()
@click.argument("name", type=click.Choice(["shifted", "wide"]))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="shifted: an npz file (X, y, relevant); wide: a folder for parquet files.",
)
@click.option("--rows", default=10_000, show_default=True, type=click.IntRange(1))
@click.option("--columns", type=click.IntRange(1), help="100 for shifted, 50 for wide by default.")
@click.option("--relevant", default=20, show_default=True, help="shifted: columns in which outliers differ.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
def make(name: str, output: Path, rows: int, columns: int | None, relevant: int, seed: int) -> None:
    """Generate the paper's synthetic data (shifted), or any number of wide rows in partitions (wide), with the truth about both."""
    if name == "wide":
        _make_wide(output, rows, columns or 50, seed)
        return
    import numpy as np

    from odefs.datasets.synthetic import make_shifted

    columns = columns or 100
    made = make_shifted(rows, columns, relevant, seed=seed)
    np.savez_compressed(output, **made._asdict())
    click.echo(
        f"{output}: {rows:,} x {columns}, {int(made.y.sum())} outliers, relevant columns {made.relevant.tolist()}"
    )


def _make_wide(output: Path, rows: int, columns: int, seed: int) -> None:
    from odefs.datasets.wide import relevant_columns, write_wide

    if output.exists() and not output.is_dir():
        raise click.UsageError(f"{output} is a file; wide data goes to a folder.")
    n_outliers = write_wide(output, rows, columns, seed)
    relevant = relevant_columns(columns, seed).tolist()
    click.echo(
        f"{output}: {rows:,} x {columns}, {n_outliers:,} outliers, relevant columns {relevant}; labels in {output / 'truth'}"
    )
