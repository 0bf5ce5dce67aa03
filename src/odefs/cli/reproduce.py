"""``odefs reproduce``: the paper's tables and figures again."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from odefs.cli.guard import guarded


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()] if value else []


@click.command()
@click.argument(
    "experiment",
    type=click.Choice(["table1", "table2", "selfpaced", "competitors", "theorem", "noise", "scalability"]),
)
@click.option("--datasets", callback=_names, help="Names or paths (npz with X and y; csv:label), separated by commas.")
@click.option("--methods", callback=_names, help="Names, or package.module:Class, separated by commas.")
@click.option(
    "--peers", is_flag=True, help="Add detectors of PyOD and scikit-learn; the costly ones refuse large tables."
)
@click.option("--repeats", default=20, show_default=True, type=click.IntRange(1))
@click.option("--protocol", type=click.Choice(["transductive", "split"]), default="transductive", show_default=True)
@click.option("--jobs", default=None, type=click.IntRange(1), help="Processes; one per core by default.")
@click.option("-o", "--output", default="results", show_default=True, type=click.Path(path_type=Path, file_okay=False))
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    experiment: str,
    datasets: list[str],
    methods: list[str],
    peers: bool,
    repeats: int,
    protocol: str,
    jobs: int | None,
    output: Path,
    debug: bool,
) -> None:
    """Run an experiment of the paper and write its tables and figures.

    Results are kept in OUTPUT/records.jsonl as they come: a run that was stopped goes on where it was.
    """
    with guarded(debug):
        written = _reproduce(experiment, datasets, methods, peers, repeats, protocol, jobs, output)
        for path in written:
            click.echo(str(path))


def _reproduce(
    experiment: str,
    datasets: list[str],
    methods: list[str],
    peers: bool,
    repeats: int,
    protocol: str,
    jobs: int | None,
    output: Path,
) -> list[Path]:
    from odefs._ops.threads import available_threads
    from odefs.datasets.store import DatasetError
    from odefs.experiments.methods import resolve_method
    from odefs.experiments.plans import LARGE, METHODS, OWN_METHODS, SYNTHETIC_ONLY
    from odefs.experiments.reproduce import planned_jobs, reproduce

    if experiment in SYNTHETIC_ONLY and (datasets or protocol != "transductive"):
        raise click.UsageError(f"{experiment} makes its own data: --datasets and --protocol do not apply.")
    if experiment in OWN_METHODS and (methods or peers):
        about = " and ".join(METHODS[experiment])
        raise click.UsageError(f"{experiment} is about {about}: --methods and --peers do not apply.")
    # Methods of one's own may lie in the folder one works in.
    sys.path.insert(0, "")
    for name in methods:
        resolve_method(name)
    planned, absent = planned_jobs(experiment, methods, datasets, repeats, protocol, peers)
    for name in absent:
        click.echo(_absence(name), err=True)
    if not planned:
        raise DatasetError("none of the datasets is on this machine")
    for name in sorted({job.dataset for job in planned} & set(LARGE)):
        most, cap = LARGE[name]
        click.echo(f"{name} is large: at most {most} repeats, and {cap} components for the paper's variants.", err=True)
    start = time.monotonic()
    first: list[int] = []

    def progress(done: int, total: int, record: dict[str, Any]) -> None:
        first.append(done)
        per_job = (time.monotonic() - start) / len(first)
        job = record["job"]
        options = "".join(f" {name}={value}" for name, value in job["options"])
        result = record.get("error") or f"AUC {record['auc']:.3f} in {record['seconds']:.1f} s"
        left = f"{per_job * (total - done) / 60:.1f} min left"
        click.echo(
            f"[{done}/{total}, {left}] {job['method']}{options} on {job['dataset']}, seed {job['seed']}: {result}",
            err=True,
        )

    return reproduce(experiment, planned, output, jobs or available_threads(), progress)


def _absence(name: str) -> str:
    """Why a dataset is left out, and what to do about it."""
    from odefs.datasets.registry import BY_NAME

    if name not in BY_NAME:
        return f"{name} is left out: there is no such file or dataset."
    note = f" ({BY_NAME[name].note})" if BY_NAME[name].note else ""
    return f"{name} is not on this machine and is left out: 'odefs datasets get {name}' downloads it{note}."
