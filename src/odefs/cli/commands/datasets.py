"""Dataset commands, ``odefs datasets list|get|make``: the paper's data and its generator."""

from pathlib import Path

import click

from odefs.cli.errors import reports_errors
from odefs.cli.terminal.messages import say_error


@click.group()
def command() -> None:
    """List, download and generate the paper's datasets."""


@command.command("list")
@reports_errors
def list_all() -> None:
    """List the twelve datasets and where each is stored locally."""
    from odefs.datasets.registry import ENTRIES
    from odefs.datasets.store import find

    for entry in ENTRIES:
        path = find(entry.name)
        rows, columns = entry.shape
        shape = f"{rows:>7,} x {columns:<5} {entry.outliers:>6,} outliers"
        click.echo(f"{entry.name:<15} {shape}   {path or 'not downloaded'}")
        click.echo(
            f"{'':<15} {entry.citation}; {entry.licence}"
            + (f" ({entry.note})" if entry.note else "")
        )


@command.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--url", help="URL to download from instead of the default source.")
@reports_errors
def get(names: tuple[str, ...], url: str | None) -> None:
    """Download datasets from their public sources into the user cache ('all': every dataset)."""
    from odefs.datasets.registry import BY_NAME
    from odefs.datasets.store import DatasetError, download

    failed = False
    for name in BY_NAME if names == ("all",) else names:
        try:
            click.echo(f"{name}: {download(name, url)}")
        except DatasetError as error:
            say_error(str(error), "data", 1)
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
    help="shifted: .npz file (X, y, relevant); wide: folder for the parquet files.",
)
@click.option(
    "--rows", default=10_000, show_default=True, type=click.IntRange(1), help="Number of rows."
)
@click.option(
    "--columns",
    type=click.IntRange(1),
    help="Number of columns (default: 100 for shifted, 50 for wide).",
)
@click.option(
    "--relevant",
    default=20,
    show_default=True,
    type=click.IntRange(0),
    help="shifted: number of columns in which outliers differ.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite an existing file; wide: replace all files of another table in the folder.",
)
@reports_errors
def make(
    name: str, output: Path, rows: int, columns: int | None, relevant: int, seed: int, force: bool
) -> None:
    """Generate synthetic data with labels and the relevant columns.

    "shifted" is the paper's synthetic data; "wide" writes any number of rows as parquet files.
    """
    columns = columns or (50 if name == "wide" else 100)
    if name == "shifted" and relevant > columns:
        raise click.UsageError(
            f"--relevant {relevant} is larger than the number of columns ({columns})."
        )
    if name == "wide":
        _make_wide(output, rows, columns, seed, force)
    else:
        _make_shifted(output, rows, columns, relevant, seed, force)


def _make_shifted(
    output: Path, rows: int, columns: int, relevant: int, seed: int, force: bool
) -> None:
    import numpy as np

    from odefs.datasets.synthetic import make_shifted
    from odefs.tables.writers.files import check_target, replacing

    check_target(output, force, (".npz",))
    made = make_shifted(rows, columns, relevant, seed=seed)
    # An open file, because NumPy appends .npz to a name without that suffix.
    with replacing(output) as partial, open(partial, "wb") as file:
        np.savez_compressed(file, **made._asdict())
    outliers = int(made.y.sum())
    click.echo(
        f"{output}: {rows:,} x {columns}, {outliers} outliers, "
        f"relevant columns {made.relevant.tolist()}"
    )


def _make_wide(output: Path, rows: int, columns: int, seed: int, force: bool) -> None:
    from odefs.datasets.synthetic import relevant_columns, write_wide

    if output.exists() and not output.is_dir():
        raise click.UsageError(f"{output} is a file; wide data is written to a folder.")
    n_outliers = write_wide(output, rows, columns, seed, force)
    relevant = relevant_columns(columns, seed).tolist()
    click.echo(
        f"{output}: {rows:,} x {columns}, {n_outliers:,} outliers, "
        f"relevant columns {relevant}; labels in {output / 'truth'}"
    )
