"""Execution of one job: fit, score, measure, and record the circumstances.

In ranking measures high scores mean abnormal, and label 1 means outlier.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from odefs.experiments.grid import Job, Record, circumstances
from odefs.experiments.methods import resolve_method
from odefs.experiments.sources import Source, open_source
from odefs.system.threads import one_blas_thread

TRAINING_SHARE = 0.7
PLAIN = (str, int, float, bool, type(None))


def run_job(job: Job, measure: Callable[[Job, Source], Record] | None = None) -> Record:
    """Return the record of a job; a failed one has its error instead of results.

    ``measure`` replaces fitting and scoring a method.
    """
    record: Record = {"job": job.as_record()}
    try:
        source = open_source(job.dataset, job.seed, job.content)
        record |= {
            "n_rows": source.X.shape[0],
            "n_columns": source.X.shape[1],
            "outlier_share": float(source.y.mean()),
        }
        # One core per job: jobs run in parallel, and times are comparable.
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")
            record |= (measure or _fit_and_measure)(job, source)
    except Exception as error:
        record["error"] = f"{type(error).__name__}: {error}"
    return record | circumstances()


def _fit_and_measure(job: Job, source: Source) -> Record:
    model = resolve_method(job.method)(job.seed)
    if job.options:
        model.set_params(**dict(job.options))
    if job.metric:
        # ODEFS has the distance as a parameter of its selection, the bare detector and competitors
        # as one of their own.
        nested = "selection__metric" in model.get_params()
        model.set_params(**{"selection__metric" if nested else "metric": job.metric})
    parameters: dict[str, Any] = model.get_params() if hasattr(model, "get_params") else {}
    if "n_jobs" in parameters:
        model.set_params(n_jobs=1)
    if job.protocol == "split":
        train, test = split_rows(source.X, job.seed)
        if not 0 < source.y[test].sum() < test.size:
            raise ValueError(f"the {test.size} rows left for scoring all have the same label")
    else:
        train = test = np.arange(len(source.y))
    start = time.perf_counter()
    model.fit(source.X[train])
    scores = _scores(model, source.X, test, same=test is train)
    seconds = time.perf_counter() - start
    return {
        **evaluate(source.y[test], scores),
        # Of the scored rows: the average precision of a random order.
        "outlier_share": float(source.y[test].mean()),
        "seconds": seconds,
        "n_training_rows": int(train.size),
        "parameters": {
            name: value if isinstance(value, PLAIN) else repr(value)
            for name, value in parameters.items()
        },
        **_selection(model, source.relevant),
        **_reliance(model),
    }


def _scores(model: Any, X: np.ndarray, test: np.ndarray, same: bool) -> np.ndarray:
    """Return the outlyingness of the scored rows, under the name that each library gives it."""
    if same:
        # Scores of the fit: scored again as a new row, a training row would be its own nearest
        # neighbour in detectors such as LOF.
        for attribute, sign in (
            ("outlier_scores_", 1),
            ("decision_scores_", 1),
            ("negative_outlier_factor_", -1),
        ):
            if hasattr(model, attribute):
                return sign * np.asarray(getattr(model, attribute))
    if hasattr(model, "outlier_scores"):
        return np.asarray(model.outlier_scores(X[test]))
    if hasattr(model, "decision_scores_"):
        return np.asarray(model.decision_function(X[test]))
    return -np.asarray(model.score_samples(X[test]))


def split_rows(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split into about 70 % of the rows for fitting and the rest for scoring.

    Identical rows stay on one side, otherwise the test would include training rows. Groups of
    identical rows are taken in random order, each into the training part if it still fits there.
    """
    _, kind = np.unique(X, axis=0, return_inverse=True)
    kind = kind.ravel()
    sizes = np.bincount(kind)
    in_training = np.zeros(sizes.size, dtype=bool)
    room = int(TRAINING_SHARE * len(X))
    for group in np.random.default_rng(seed).permutation(sizes.size):
        if sizes[group] <= room:
            in_training[group] = True
            room -= int(sizes[group])
    return np.flatnonzero(in_training[kind]), np.flatnonzero(~in_training[kind])


def _selection(model: object, relevant: np.ndarray | None) -> Record:
    """Return the mean size of the subsets, and their recovery of the relevant columns if known."""
    subsets = getattr(model, "feature_subsets_", None)
    if not subsets:
        return {}
    found: Record = {
        "subset_size": float(np.mean([len(subset) for subset in subsets])),
        "n_components": len(subsets),
    }
    if relevant is not None:
        hits = [np.isin(subset, relevant).sum() for subset in subsets]
        found["precision"] = float(
            np.mean([hit / len(subset) for hit, subset in zip(hits, subsets, strict=True)])
        )
        found["recall"] = float(np.mean([hit / len(relevant) for hit in hits]))
    return found


def _reliance(model: Any) -> Record:
    """Return trust in learned subsets, its measurements, and the total number of reference
    subsets.
    """
    info = getattr(model, "fit_info_", {})
    if "n_full_space" not in info:
        return {}
    with_a_share = info["n_components"] if model.trust_ > 0 else 0
    return {
        "trust": model.trust_,
        "contrast": info["trust"]["contrast"],
        "stability": info["trust"]["stability"],
        "n_full_space": info["n_full_space"],
        "total_subsets": model.n_subsets * (with_a_share + info["n_full_space"]),
    }


def precision_at_k(y: np.ndarray, scores: np.ndarray) -> float:
    """Return the share of outliers among the ``k`` highest scores, ``k`` the number of outliers.

    Ties are resolved by the expectation over random orders: some datasets have a hundred distinct
    rows among tens of thousands, and the order of the file would decide otherwise.
    """
    k = int(y.sum())
    if k == 0:
        return float("nan")
    threshold = np.partition(scores, -k)[-k]
    above, tied = scores > threshold, scores == threshold
    return float((y[above].sum() + (k - above.sum()) * y[tied].mean()) / k)


def evaluate(y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return AUC (ties count half), precision at k, and average precision."""
    return {
        "auc": float(roc_auc_score(y, scores)),
        "p@k": precision_at_k(y, scores),
        "ap": float(average_precision_score(y, scores)),
    }
