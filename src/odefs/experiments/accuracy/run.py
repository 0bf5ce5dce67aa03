"""Execution of the parts: missing jobs are run part by part and appended to one file of records."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from odefs.experiments.accuracy.plan import DETECT, DETECT_BARE, PARTS, versioned, without_older
from odefs.experiments.accuracy.table_measures import measure_detect, measure_value_frequencies
from odefs.experiments.accuracy.value_frequencies import BASELINES
from odefs.experiments.grid import Job, Record, latest_records, run_grid
from odefs.experiments.run import run_job
from odefs.experiments.sources import Source, content_of, is_here, split_name

RECORDS = "accuracy.jsonl"

AGREEMENT_EDGES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Limits of the groups of rows; the last group includes its upper limit."""


def unknown_datasets(datasets: Sequence[str]) -> list[str]:
    """Return the datasets that are not in the plan."""
    return [name for name in datasets if name not in _wanted(())]


def missing_datasets(datasets: Sequence[str] = ()) -> list[str]:
    """Return the datasets that are needed and not on this machine."""
    return [name for name in _wanted(datasets) if not is_here(name)]


def run_parts(
    path: Path,
    workers: int,
    datasets: Sequence[str] = (),
    repeats: int = 20,
    parts: Sequence[str] = tuple(PARTS),
) -> Iterator[tuple[int, int, Record]]:
    """Run the jobs that ``path`` lacks; yields ``(done, all, record)`` of the current part.

    ``datasets`` selects datasets of the plan, all by default.
    """
    contents = {name: content_of(name) for name in _wanted(datasets) if is_here(name)}
    for part in parts:
        jobs = PARTS[part](without_older(latest_records(path)), repeats)
        known = [
            replace(versioned(job), content=contents[split_name(job.dataset)[0]])
            for job in jobs
            if split_name(job.dataset)[0] in contents
        ]
        yield from run_grid(known, path, run_accuracy_job, workers)


def _wanted(datasets: Sequence[str]) -> list[str]:
    jobs = [job for part in ("main", "noise", "mixed") for job in PARTS[part]([], 1)]
    names = dict.fromkeys(split_name(job.dataset)[0] for job in jobs)
    return [name for name in names if not datasets or name in datasets]


def run_accuracy_job(job: Job) -> Record:
    return run_job(job, MEASURES.get(job.method))


def measure_agreement(job: Job, source: Source) -> Record:
    """Return the number of top k rows of a fit, and of those in the top k of another seed, by
    agreement.

    k is the number of outliers. Ties with the k-th row count as in the top.
    """
    from odefs import ODEFS

    one, other = (
        ODEFS(random_state=seed, n_jobs=1).fit(source.X) for seed in (job.seed, job.seed + 1000)
    )
    k = int(source.y.sum())
    top, again = (_top(model.outlier_scores_, k) for model in (one, other))
    agreement = np.asarray(one.agreement_)
    group = np.clip(
        np.searchsorted(AGREEMENT_EDGES, agreement, side="right") - 1, 0, len(AGREEMENT_EDGES) - 2
    )
    counts = [
        [int((top & (group == g)).sum()), int((top & again & (group == g)).sum())]
        for g in range(len(AGREEMENT_EDGES) - 1)
    ]
    return {"edges": list(AGREEMENT_EDGES), "stays": counts}


def _top(scores: np.ndarray, k: int) -> np.ndarray:
    return np.asarray(scores >= np.partition(scores, -k)[-k])


def measure_known(job: Job, source: Source) -> Record:
    """Return the AUC on the other rows, with ``n_known`` known cases."""
    from odefs.experiments.known_cases import auc_with_known

    return {
        "auc": float(
            auc_with_known(source.X, source.y, dict(job.options)["n_known"], job.seed, n_jobs=1)
        )
    }


MEASURES: dict[str, Callable[[Job, Source], Record]] = {
    "agreement": measure_agreement,
    "known": measure_known,
    DETECT: measure_detect,
    DETECT_BARE: partial(measure_detect, trust=0.0),
    **dict.fromkeys(BASELINES, measure_value_frequencies),
}
"""Measurements of jobs that do not fit a method."""
