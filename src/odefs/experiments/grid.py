"""Grid of jobs whose results are appended to a JSON-lines file.

Each result is written as soon as it exists; a run that was killed resumes where it stopped.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One method on one dataset with one seed.

    ``options`` are constructor parameters that override the method's own. ``content`` is a digest
    of the file's bytes if the dataset is a user's file: different contents make different jobs.
    ``version`` is that of the method's code, ``metric`` the distance in its scores; records made
    before they were part of a job have neither.
    """

    method: str
    dataset: str
    seed: int
    protocol: str = "transductive"
    options: tuple[tuple[str, Any], ...] = ()
    content: str = ""
    version: str = ""
    metric: str = ""

    @property
    def key(self) -> str:
        return json.dumps(self.as_record(), sort_keys=True)

    def as_record(self) -> Record:
        """Return the job as plain values, without the last ones where they are empty."""
        record = {**asdict(self), "options": [list(option) for option in self.options]}
        # Records made before these fields existed keep their keys.
        for name in ("content", "version", "metric"):
            if not record[name]:
                del record[name]
        return record


def read_records(path: Path) -> list[Record]:
    """Return all complete lines of a results file; a line truncated by a kill is skipped."""
    records = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def latest_records(path: Path) -> list[Record]:
    """Return the last record of each job."""
    return list({job_of(record).key: record for record in read_records(path)}.values())


def append_record(path: Path, record: Record) -> None:
    """Append one line with a single write, flushed to disk.

    It starts a new line even if the last one was truncated.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        cut_short = False
        if end:
            file.seek(end - 1)
            cut_short = file.read(1) != b"\n"
        file.write(b"\n" * cut_short + json.dumps(record).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def job_of(record: Record) -> Job:
    """Return the job of a record."""
    options = tuple((name, value) for name, value in record["job"]["options"])
    return Job(**{**record["job"], "options": options})


def run_grid(
    jobs: Iterable[Job], path: Path, run: Callable[[Job], Record], workers: int = 1
) -> Iterator[tuple[int, int, Record]]:
    """Run the jobs that ``path`` lacks; yields ``(done, all, record)`` after each.

    Old results count as done, failures do not: what was missing may be available now.
    :func:`latest_records` returns the final result of each job.
    """
    wanted = list(dict.fromkeys(jobs))
    done = {job_of(record).key for record in read_records(path) if "error" not in record}
    left = [job for job in wanted if job.key not in done]
    finished = len(wanted) - len(left)
    for record in _results(left, run, workers):
        append_record(path, record)
        finished += 1
        yield finished, len(wanted), record


def _results(jobs: list[Job], run: Callable[[Job], Record], workers: int) -> Iterator[Record]:
    if workers == 1:
        yield from map(run, jobs)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        for future in as_completed([pool.submit(run, job) for job in jobs]):
            yield future.result()
    finally:
        # After an interrupt or a lost worker, pending jobs are cancelled; finished ones have been
        # yielded.
        pool.shutdown(cancel_futures=True)


def circumstances() -> Record:
    """Return versions and processor, on which times and numbers may depend besides the job."""
    from odefs.versions import collect_versions, processor_name

    versions = collect_versions()
    kept = ("python", "odefs", "numpy", "scipy", "scikit-learn", "pyod", "blas", "kernel")
    return {
        "versions": {name: versions[name] for name in kept},
        "cpu": processor_name(),
        "threads": 1,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
