"""Experiments by name: run the missing jobs, then write tables and figures from all records."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from odefs._extras import require_extra
from odefs.datasets.registry import BY_NAME
from odefs.experiments.competitor_variants import readings_table
from odefs.experiments.figures import (
    critical_difference_figure,
    noise_figure,
    scalability_figures,
    theorem_figure,
)
from odefs.experiments.grid import Job, Record, job_of, latest_records, run_grid
from odefs.experiments.method_versions import current
from odefs.experiments.methods import built_in
from odefs.experiments.peers import PYOD, peers
from odefs.experiments.plans import EXPERIMENTS, METHODS
from odefs.experiments.run import run_job
from odefs.experiments.sources import content_of, is_here
from odefs.experiments.summary import matrix, present, summarise
from odefs.experiments.tables import (
    Table,
    comparison_table,
    failures_table,
    improvement_table,
    measures_table,
)
from odefs.tables.writers.files import write_text

RECORDS = "records.jsonl"

Progress = Callable[[int, int, Record], None]


def planned_jobs(
    experiment: str,
    methods: Sequence[str],
    datasets: Sequence[str],
    repeats: int,
    protocol: str,
    with_peers: bool,
) -> tuple[list[Job], list[str]]:
    """Return the jobs that can run on this machine, and the datasets that it lacks."""
    names = list(methods)
    if with_peers:
        names = [*(names or METHODS[experiment]), *peers()]
    jobs = EXPERIMENTS[experiment](names, datasets, repeats, protocol)
    absent = [name for name in dict.fromkeys(job.dataset for job in jobs) if not is_here(name)]
    contents = {name: content_of(name) for name in {job.dataset for job in jobs} - set(absent)}
    return [
        replace(current(job), content=contents[job.dataset])
        for job in jobs
        if job.dataset in contents
    ], absent


def require_packages(experiment: str, jobs: Sequence[Job]) -> None:
    """Raise for a missing optional package before any job has run, not after hours."""
    if draws_figures(experiment, jobs):
        with require_extra(f"the figure of {experiment}", "plots"):
            _require("matplotlib")
    if any(job.method in PYOD for job in jobs):
        with require_extra("comparing with PyOD's detectors", "pyod"):
            _require("pyod")


def _require(package: str) -> None:
    # Found without importing it, which is left to the jobs.
    if find_spec(package) is None:
        raise ModuleNotFoundError(name=package)


def draws_figures(experiment: str, jobs: Sequence[Job]) -> bool:
    """Whether the experiment has a figure: ranks need three methods on three datasets."""
    if experiment == "table2":
        return min(len({job.method for job in jobs}), len({job.dataset for job in jobs})) > 2
    return experiment in ("theorem", "noise", "scalability", "accuracy")


def reproduce(
    experiment: str, jobs: Sequence[Job], folder: Path, workers: int, progress: Progress
) -> list[Path]:
    """Run the jobs that the folder's records lack and write its tables and figures.

    Returns the files written. All experiments share one file of records, so none repeats a job of
    another.
    """
    path = folder / RECORDS
    for done, total, record in run_grid(jobs, path, run_job, workers):
        progress(done, total, record)
    wanted = {job.key for job in jobs}
    records = [record for record in latest_records(path) if job_of(record).key in wanted]
    return write_outputs(experiment, records, folder)


def write_outputs(experiment: str, records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the tables (Markdown, CSV, LaTeX) and figures (SVG, PNG) of an experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    protocols = {record["job"]["protocol"] for record in records}
    suffix_of_protocol = "-split" if protocols == {"split"} else ""
    for name, table in tables_of(experiment, records).items():
        for suffix, text in (
            (".md", table.markdown()),
            (".csv", table.csv()),
            (".tex", table.latex()),
        ):
            target = folder / f"{name}{suffix_of_protocol}{suffix}"
            write_text(target, text.rstrip("\n") + "\n")
            written.append(target)
    return written + figures_of(experiment, records, folder, suffix_of_protocol)


def tables_of(experiment: str, records: Sequence[Record]) -> dict[str, Table]:
    """Return the tables of an experiment by file name."""
    methods = present(records, [*built_in(), *peers()], "method")
    datasets = present(records, list(BY_NAME), "dataset")
    if experiment == "table1":
        return _improvement_tables(records, methods, datasets) | _failures(experiment, records)
    if experiment in ("table2", "selfpaced"):
        return _failures(experiment, records) | {
            f"{experiment}-{measure.replace('@', '')}": comparison_table(
                records, methods, datasets, measure, "ODEFS-paper"
            )
            for measure in ("auc", "p@k", "ap", "seconds")
        }
    if experiment == "competitors":
        return _failures(experiment, records) | {
            f"competitors-{measure.replace('@', '')}": readings_table(records, measure)
            for measure in ("auc", "p@k")
        }
    if experiment == "theorem":
        records = [_with_ratio(record) for record in records]
        methods = sorted(
            {record["job"]["method"] for record in records}, key=lambda name: int(name.split()[-1])
        )
    measures = [
        "auc",
        "seconds",
        "subset_size",
        *(["precision", "recall"] if experiment == "noise" else []),
    ]
    return {
        experiment: measures_table(
            f"{experiment}: all measures", records, methods, datasets, measures
        )
    }


def _failures(experiment: str, records: Sequence[Record]) -> dict[str, Table]:
    """The table of failed runs, if some failed."""
    has_failed = any("error" in record for record in records)
    return {f"{experiment}-failures": failures_table(records)} if has_failed else {}


def _improvement_tables(
    records: Sequence[Record], methods: Sequence[str], datasets: Sequence[str]
) -> dict[str, Table]:
    """Table 1, and one of the methods that it does not have."""
    tables = {"table1": improvement_table(records, datasets)}
    others = [method for method in methods if method not in METHODS["table1"]]
    if others:
        tables["table1-others"] = measures_table(
            "Other methods", records, others, datasets, ["auc", "p@k", "ap"]
        )
    return tables


def _with_ratio(record: Record) -> Record:
    """The record with m/m* in the name of its method, which alone is the same for all rows."""
    ratio = dict(map(tuple, record["job"]["options"]))["selection__unlabeled_ratio"]
    return {
        **record,
        "job": {**record["job"], "method": f"{record['job']['method']} m/m* = {ratio}"},
    }


def figures_of(
    experiment: str, records: Sequence[Record], folder: Path, suffix: str = ""
) -> list[Path]:
    """The figures of an experiment; the suffix keeps those of another protocol apart."""
    if experiment == "theorem":
        return theorem_figure(records, folder / "theorem")
    if experiment == "noise":
        return noise_figure(records, folder / "noise")
    if experiment == "scalability":
        return scalability_figures(records, folder / "scalability")
    methods = present(records, [*built_in(), *peers()], "method")
    values = matrix(summarise(records, "auc"), methods, present(records, list(BY_NAME), "dataset"))
    if experiment == "table2" and len(methods) > 2 and len(values) > 2:
        return critical_difference_figure(values, methods, folder / f"table2-ranks{suffix}")
    return []
