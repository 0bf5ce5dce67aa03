"""Running a grid of jobs. Each result is appended to a JSON-lines file the moment it exists; a run
that was killed goes on where it stopped.
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
    """One method on one dataset with one seed; ``options`` are constructor parameters that overrule
    the method's own.

    ``content`` is a digest of the file's bytes where the dataset is a file of the user's: another
    content is another job.
    """

    method: str
    dataset: str
    seed: int
    protocol: str = "transductive"
    options: tuple[tuple[str, Any], ...] = ()
    content: str = ""

    @property
    def key(self) -> str:
        return json.dumps(self.as_record(), sort_keys=True)

    def as_record(self) -> Record:
        """The job as plain values, the content only where there is one."""
        record = {**asdict(self), "options": [list(option) for option in self.options]}
        if not self.content:
            del record["content"]
        return record


def read_records(path: Path) -> list[Record]:
    """All whole lines of a results file; a line that a kill cut short is passed over."""
    records = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def latest_records(path: Path) -> list[Record]:
    """The last record of each job."""
    return list({job_of(record).key: record for record in read_records(path)}.values())


def append_record(path: Path, record: Record) -> None:
    """One line in one write, on its own line even behind one that was cut short, safe on disk
    before it counts.
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
    """The job that a record is the result of."""
    options = tuple((name, value) for name, value in record["job"]["options"])
    return Job(**{**record["job"], "options": options})


def run_grid(
    jobs: Iterable[Job], path: Path, run: Callable[[Job], Record], workers: int = 1
) -> Iterator[tuple[int, int, Record]]:
    """Run what ``path`` does not hold yet; yields ``(done, all, record)`` after each, old results
    counted as done.

    Failures do not count as done: what was missing may be there now. :func:`latest_records` gives
    the last word on each job.
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
        # On an interrupt or a lost worker, what has not begun does not begin; what was done has
        # been yielded.
        pool.shutdown(cancel_futures=True)


def circumstances() -> Record:
    """What a timing or a number may depend on besides the job."""
    from odefs.versions import collect_versions, processor_name

    versions = collect_versions()
    kept = ("python", "odefs", "numpy", "scipy", "scikit-learn", "pyod", "blas", "kernel")
    return {
        "versions": {name: versions[name] for name in kept},
        "cpu": processor_name(),
        "threads": 1,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
