"""Running one job: fit, score, measure, and remember under what circumstances."""

import time
import warnings
from typing import Any

import numpy as np

from odefs._ops.threads import one_blas_thread
from odefs.experiments.grid import Job, Record, circumstances
from odefs.experiments.methods import resolve_method
from odefs.experiments.metrics import evaluate
from odefs.experiments.sources import Source, open_source

TRAINING_SHARE = 0.7


def run_job(job: Job) -> Record:
    """The record of a job; a method that fails leaves its error instead of results."""
    record: Record = {"job": {**vars(job), "options": [list(option) for option in job.options]}}
    source = open_source(job.dataset, job.seed)
    record |= {"n_rows": source.X.shape[0], "n_columns": source.X.shape[1], "outlier_share": float(source.y.mean())}
    try:
        # One job, one core: jobs run side by side, and times are comparable.
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")
            record |= _fit_and_measure(job, source)
    except Exception as error:
        record["error"] = f"{type(error).__name__}: {error}"
    return record | circumstances()


def _fit_and_measure(job: Job, source: Source) -> Record:
    model = resolve_method(job.method)(job.seed)
    if job.options:
        model.set_params(**dict(job.options))
    if hasattr(model, "get_params") and "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    if job.protocol == "split":
        train, test = split_rows(source.X, job.seed)
    else:
        train = test = np.arange(len(source.y))
    start = time.perf_counter()
    model.fit(source.X[train])
    scores = _scores(model, source.X, test, same=test is train)
    seconds = time.perf_counter() - start
    return {**evaluate(source.y[test], scores), "seconds": seconds, **_selection(model, source.relevant)}


def _scores(model: Any, X: np.ndarray, test: np.ndarray, same: bool) -> np.ndarray:
    """Outlyingness of the rows to be judged; training scores where those are the training rows."""
    if same and hasattr(model, "outlier_scores_"):
        return np.asarray(model.outlier_scores_)
    if hasattr(model, "outlier_scores"):
        return np.asarray(model.outlier_scores(X[test]))
    return -np.asarray(model.score_samples(X[test]))


def split_rows(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """70 % to fit on and the rest to score; identical rows stay on one side, or the test would be on training rows."""
    _, kind = np.unique(X, axis=0, return_inverse=True)
    kind = kind.ravel()
    sizes = np.bincount(kind)
    order = np.random.default_rng(seed).permutation(sizes.size)
    filled = np.cumsum(sizes[order])
    in_training = np.zeros(sizes.size, dtype=bool)
    in_training[order[filled <= TRAINING_SHARE * len(X)]] = True
    return np.flatnonzero(in_training[kind]), np.flatnonzero(~in_training[kind])


def _selection(model: Any, relevant: np.ndarray | None) -> Record:
    """Mean size of the subsets, and how well they recover the relevant columns where these are known."""
    subsets = getattr(model, "feature_subsets_", None)
    if not subsets:
        return {}
    found: Record = {"subset_size": float(np.mean([len(subset) for subset in subsets])), "n_components": len(subsets)}
    if relevant is not None:
        hits = [np.isin(subset, relevant).sum() for subset in subsets]
        found["precision"] = float(np.mean([hit / len(subset) for hit, subset in zip(hits, subsets, strict=True)]))
        found["recall"] = float(np.mean([hit / len(relevant) for hit in hits]))
    return found
