"""Execution of the parts: missing jobs are run part by part and appended to one file of records.

Known cases: half of them are true outliers, the other half ordinary rows, both drawn at random.
Smaller sets are subsets of larger ones, and all numbers are measured on the same rows: those not
among the first ``MAX_KNOWN`` cases.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from odefs.estimators import ODEFS
from odefs.experiments.accuracy.plan import DETECT, DETECT_BARE, PARTS, versioned, without_older
from odefs.experiments.accuracy.value_frequencies import BASELINES, matrix_codes, table_codes
from odefs.experiments.grid import Job, Record, latest_records, run_grid
from odefs.experiments.run import evaluate, run_job
from odefs.experiments.sources import Source, content_of, is_here, is_table, open_frame, split_name
from odefs.tables.frames.convert import columns_of

RECORDS = "accuracy.jsonl"

AGREEMENT_EDGES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Limits of the groups of rows; the last group includes its upper limit."""
MAX_KNOWN = 20


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
    # Seeds of repeats are far below 1000, so the second fit is not one of them.
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
    return {
        "auc": float(
            auc_with_known(source.X, source.y, dict(job.options)["n_known"], job.seed, n_jobs=1)
        )
    }


def measure_detect(job: Job, source: Source, trust: float | None = None) -> Record:
    """Return how well ``odefs.detect`` ranks the rows of a data frame, with its own or given
    trust.
    """
    from odefs import detect

    frame, y = open_frame(job.dataset)
    options: dict[str, Any] = {"random_state": job.seed, "n_jobs": 1}
    if trust is not None:
        # A given trust has one member on all columns, a measured one of 0 has 24.
        options = {"model": ODEFS(scaling="none", trust=trust, n_subsets=24 * 50, **options)}
    start = time.perf_counter()
    scores = detect(frame, **options).scores
    seconds = time.perf_counter() - start
    # The width of the table, where the source has that of the encoded matrix.
    return {**evaluate(y, scores), "seconds": seconds, "n_columns": frame.shape[1]}


def measure_value_frequencies(job: Job, source: Source) -> Record:
    """Return how well counts of values rank the rows of a table or a matrix."""
    start = time.perf_counter()
    if is_table(job.dataset):
        codes = table_codes(columns_of(open_frame(job.dataset)[0]))
    else:
        codes = matrix_codes(source.X)
    scores = BASELINES[job.method](codes)
    seconds = time.perf_counter() - start
    return {**evaluate(source.y, scores), "seconds": seconds, "n_columns": len(codes)}


MEASURES: dict[str, Callable[[Job, Source], Record]] = {
    "agreement": measure_agreement,
    "known": measure_known,
    DETECT: measure_detect,
    DETECT_BARE: partial(measure_detect, trust=0.0),
    **dict.fromkeys(BASELINES, measure_value_frequencies),
}
"""Measurements of jobs that do not fit a method."""


def draw_known(y: np.ndarray, n_known: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of known outliers (the larger half) and of known ordinary rows.

    At most half of either kind is ever known.
    """
    rng = np.random.default_rng([seed, 11])
    outliers, normal = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    sizes = -(-n_known // 2), n_known // 2
    return outliers[: min(sizes[0], outliers.size // 2)], normal[: min(sizes[1], normal.size // 2)]


def auc_with_known(
    X: np.ndarray, y: np.ndarray, n_known: int, seed: int, **parameters: Any
) -> float:
    """Return the AUC of ``ODEFS(random_state=seed, **parameters)`` with ``n_known`` known cases.

    It is measured on the rows that are not among the first ``MAX_KNOWN`` cases.
    """
    outliers, normal = draw_known(y, n_known, seed)
    model = ODEFS(random_state=seed, **parameters).fit(
        X, known_outliers=outliers, known_normal=normal
    )
    rest = np.ones(y.size, dtype=bool)
    rest[np.concatenate(draw_known(y, max(n_known, MAX_KNOWN), seed))] = False
    return float(roc_auc_score(y[rest], model.outlier_scores_[rest]))
