"""Experiment command, ``odefs reproduce``: the paper's tables and figures, and accuracy."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odefs.cli.errors import reports_errors
from odefs.cli.option_records import as_record
from odefs.cli.terminal.messages import say_progress, say_warning

if TYPE_CHECKING:
    from odefs.experiments.grid import Record

OF_THE_PAPER = ("table1", "table2", "selfpaced", "competitors", "theorem", "noise", "scalability")


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()] if value else []


@dataclass(frozen=True, kw_only=True)
class ReproduceRun:
    """Options of ``odefs reproduce``."""

    experiment: str
    datasets: list[str]
    methods: list[str]
    peers: bool
    repeats: int
    protocol: str
    jobs: int | None
    output: Path
    page: Path | None

    @property
    def chooses_methods(self) -> bool:
        return bool(self.methods) or self.peers


@click.command()
@click.argument("experiment", type=click.Choice([*OF_THE_PAPER, "accuracy"]))
@click.option(
    "--datasets",
    callback=_names,
    help="Comma-separated names or paths (npz with X and y; csv:label).",
)
@click.option("--methods", callback=_names, help="Comma-separated names, or package.module:Class.")
@click.option(
    "--peers",
    is_flag=True,
    help="Add detectors of PyOD and scikit-learn; slow ones skip large tables.",
)
@click.option(
    "--repeats", default=20, show_default=True, type=click.IntRange(1), help="Number of seeds."
)
@click.option(
    "--protocol",
    type=click.Choice(["transductive", "split"]),
    default="transductive",
    show_default=True,
    help="Score the training rows, or rows held out from training.",
)
@click.option(
    "--jobs",
    default=None,
    type=click.IntRange(1),
    help="Number of processes (default: one per core).",
)
@click.option(
    "-o",
    "--output",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for records, tables and figures.",
)
@click.option(
    "--page",
    default=None,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for accuracy.md and its figures (default: OUTPUT).",
)
@reports_errors
@as_record(ReproduceRun)
def command(run: ReproduceRun) -> None:
    """Run an experiment of the paper.

    Writes its tables and figures. Results are appended to OUTPUT/records.jsonl, so an interrupted
    run can be resumed. "accuracy" is not an experiment of the paper: it measures the accuracy of
    ODEFS() and what each of its parts adds, stores its results in OUTPUT/accuracy.jsonl and
    writes a page.
    """
    if run.experiment == "accuracy":
        if run.chooses_methods or run.protocol != "transductive":
            raise click.UsageError(
                "accuracy compares fixed methods: --methods, --peers and --protocol do not apply."
            )
        written = _accuracy(run)
    elif run.page is not None:
        raise click.UsageError(
            f"{run.experiment} writes tables and figures to the output folder: --page does not "
            "apply."
        )
    else:
        written = _reproduce(run)
    for path in written:
        click.echo(str(path))


def _reproduce(run: ReproduceRun) -> list[Path]:
    from odefs.datasets.store import DatasetError
    from odefs.experiments.methods import resolve_method
    from odefs.experiments.plans import LARGE
    from odefs.experiments.reproduce import planned_jobs, reproduce, require_packages
    from odefs.system.threads import available_threads

    _require_applicable(run)
    # Custom methods may be modules in the working directory; multiprocessing passes the path on to
    # its workers.
    sys.path.insert(0, "")
    for name in run.methods:
        resolve_method(name)
    planned, absent = planned_jobs(
        run.experiment, run.methods, run.datasets, run.repeats, run.protocol, run.peers
    )
    for name in absent:
        say_warning(_absence(name))
    if not planned:
        raise DatasetError("none of the datasets is available locally; see 'odefs datasets list'.")
    require_packages(run.experiment, planned)
    for name in sorted({job.dataset for job in planned} & set(LARGE)):
        most, cap = LARGE[name]
        say_warning(
            f"{name} is large: at most {most} repeats, "
            f"and at most {cap} components for the paper's variants."
        )
    _make_folder(run.output)
    n_jobs = run.jobs or available_threads()
    return reproduce(run.experiment, planned, run.output, n_jobs, _progress())


def _require_applicable(run: ReproduceRun) -> None:
    from odefs.experiments.plans import METHODS, OWN_METHODS, SYNTHETIC_ONLY

    experiment = run.experiment
    if experiment in SYNTHETIC_ONLY and (run.datasets or run.protocol != "transductive"):
        raise click.UsageError(
            f"{experiment} generates its own data: --datasets and --protocol do not apply."
        )
    if experiment in OWN_METHODS and run.chooses_methods:
        compared = " and ".join(METHODS[experiment])
        raise click.UsageError(
            f"{experiment} compares {compared}: --methods and --peers do not apply."
        )


def _accuracy(run: ReproduceRun) -> list[Path]:
    from odefs.experiments.accuracy.run import (
        RECORDS,
        missing_datasets,
        run_parts,
        unknown_datasets,
    )
    from odefs.experiments.accuracy_page import write_page
    from odefs.experiments.reproduce import require_packages
    from odefs.system.threads import available_threads

    require_packages("accuracy", [])
    unknown = unknown_datasets(run.datasets)
    if unknown:
        raise click.UsageError(
            f"accuracy uses a fixed list of datasets without {', '.join(unknown)}."
        )
    for name in missing_datasets(run.datasets):
        say_warning(_absence(name))
    _make_folder(run.output)
    progress = _progress()
    n_jobs = run.jobs or available_threads()
    for done, total, record in run_parts(run.output / RECORDS, n_jobs, run.datasets, run.repeats):
        progress(done, total, record)
    return [write_page(run.output, run.page or run.output)]


def _make_folder(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    if not os.access(output, os.W_OK):
        raise ValueError(f"{output}: the folder is read-only.")


def _progress() -> Callable[[int, int, "Record"], None]:
    """A callback that shows each record and the estimated remaining time."""
    start = time.monotonic()
    first: list[int] = []

    def progress(done: int, total: int, record: "Record") -> None:
        # Counted here: `done` includes jobs of earlier runs, which took no time now.
        first.append(done)
        per_job = (time.monotonic() - start) / len(first)
        job = record["job"]
        options = "".join(f" {name}={value}" for name, value in job["options"])
        result = record.get("error") or _result(record)
        left = per_job * (total - done)
        about = f"{job['method']}{options} on {job['dataset']}, seed {job['seed']}: {result}"
        line = f"{done}/{total}, {left / 60:.1f} min left: {about}"
        say_progress(line, "experiments", done, total, round(left, 1))

    return progress


def _result(record: "Record") -> str:
    auc = f"AUC {record['auc']:.3f}" if "auc" in record else "done"
    return f"{auc} in {record['seconds']:.1f} s" if "seconds" in record else auc


def _absence(name: str) -> str:
    """Why a dataset is left out, and how to get it."""
    from odefs.datasets.registry import BY_NAME

    if name not in BY_NAME:
        return f"{name} is left out: there is no such file or dataset."
    note = f" ({BY_NAME[name].note})" if BY_NAME[name].note else ""
    get = f"'odefs datasets get {name}' downloads it{note}"
    return f"{name} is not available locally and is left out: {get}."
