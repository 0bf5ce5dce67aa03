"""Experiments that have run before, so that their commands resume and end within seconds.

The file of records lacks one job of each method, which the command runs and must not fail.
"""

import json
import os
import shlex
from contextlib import contextmanager
from unittest.mock import patch

from locations import ROOT
from odefs.cli.commands.reproduce import command
from odefs.datasets.registry import BY_NAME
from odefs.experiments.grid import job_of, latest_records, read_records
from odefs.experiments.plans import NOT_TO_BE_HAD
from odefs.experiments.reproduce import planned_jobs
from snippet_files import arrays
from snippet_settings import Setting

UNCHECKED = """
from odefs.datasets import store
store.check = lambda *given: None
"""
"""Small tables do not have the checksums of the datasets whose names they bear."""


@contextmanager
def recorded_jobs(folder):
    environment = {
        "ODEFS_DATA": str(_small_datasets(folder / "datasets")),
        "XDG_CACHE_HOME": str(folder / "empty"),
        "PYTHONPATH": os.pathsep.join(
            [str(_site(folder / "site")), os.environ.get("PYTHONPATH", "")]
        ),
    }
    path = folder / "results" / "records.jsonl"
    yield Setting(
        environment,
        before=lambda snippet: _write_records(snippet, path, environment),
        after=lambda snippet, _: _require_all_jobs(snippet, path, environment),
    )


def _small_datasets(folder):
    folder.mkdir()
    for name in set(BY_NAME) - NOT_TO_BE_HAD:
        arrays(folder / f"{name}.npz")
    return folder


def _site(folder):
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(UNCHECKED)
    return folder


def _jobs(snippet, environment):
    """The jobs of a command, as it plans them itself."""
    with (
        command.make_context("reproduce", shlex.split(snippet.text)[2:]) as context,
        patch.dict(os.environ, environment),
    ):
        given = context.params
        jobs, _ = planned_jobs(
            *(given[name] for name in ("experiment", "methods", "datasets", "repeats")),
            given["protocol"],
            given["peers"],
        )
    return jobs


def _left(jobs):
    """The first job of each method."""
    return {job.method: job for job in reversed(jobs)}.values()


def _write_records(snippet, path, environment):
    """Records of all jobs but those left, with the numbers of other jobs of the same method."""
    jobs = _jobs(snippet, environment)
    numbers = {}
    for record in read_records(ROOT / "results" / "records.jsonl"):
        if "error" not in record:
            numbers[_likeness(job_of(record))] = record
    left = set(_left(jobs))
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for job in jobs:
            if job not in left:
                record = {**numbers[_likeness(job)], "job": job.as_record()}
                file.write(json.dumps(record) + "\n")


def _likeness(job):
    return job.method, job.dataset.startswith("shifted")


def _require_all_jobs(snippet, path, environment):
    records = {job_of(record).key: record for record in latest_records(path)}
    jobs = _jobs(snippet, environment)
    assert set(records) == {job.key for job in jobs}
    for job in _left(jobs):
        assert "error" not in records[job.key], records[job.key]["error"]


@contextmanager
def recorded_accuracy(folder):
    """The recorded results without one job, and no datasets: jobs on generated data remain."""
    environment = {"ODEFS_DATA": str(folder / "none"), "XDG_CACHE_HOME": str(folder / "none")}
    path = folder / "results" / "accuracy.jsonl"
    path.parent.mkdir()
    recorded = latest_records(ROOT / "results" / "accuracy.jsonl")
    # A method without a version, whose records are never out of date.
    left = next(
        record
        for record in recorded
        if record["job"]["method"] == "RandFS" and record["job"]["dataset"].startswith("shifted?")
    )
    kept = [record for record in recorded if record is not left]
    path.write_text("".join(json.dumps(record) + "\n" for record in kept))

    def require_job(*_):
        (found,) = (one for one in read_records(path)[len(kept) :] if one["job"] == left["job"])
        assert "error" not in found, found["error"]
        assert (folder / "docs" / "explanation" / "accuracy.md").stat().st_size > 0

    yield Setting(environment, after=require_job)
