"""Adaptive against many components, paired by seed: AUC, components used and time.

``n_estimators="auto"`` against the same number without stopping (64 at most) and against the
paper's ``l``. If ``auto`` took as many components as the paper, the models are the same and are not
fitted again. The default tables are those of the eleven on which it may stop, without census;
``--all`` takes the eleven and all npz files in the folder ``more``.
"""

import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import ELEVEN, folder, load
from benchmarks.result import Result
from odefs import ODEFS, ODEFSWarning
from odefs.ensemble.plan import MAX_AUTO_COMPONENTS

LIMIT = 0.003
SEEDS = 3
FEW_SEEDS = 1
MANY_CELLS = 2e7
"""Tables larger than this are run with ``FEW_SEEDS``."""

DEFAULT = ("u2r", "probe", "bank")


class Fit(NamedTuple):
    """One fit's AUC, number of components and seconds."""

    auc: float
    components: int
    seconds: float


def run(every: bool = False) -> list[Result]:
    data = folder()
    if data is None:
        return []
    paths = [data / f"{name}.npz" for name in (ELEVEN if every else DEFAULT)]
    if every:
        paths += sorted((data / "more").glob("*.npz"))
    results, eleven = [], []
    for path in paths:
        X, y = load(path)
        seeds = range(SEEDS if X.size <= MANY_CELLS else FEW_SEEDS)
        trios = np.array([_compare(X, y, seed) for seed in seeds]).mean(axis=0)
        results.append(_result(path, X, len(seeds), trios))
        print(results[-1].what, "|", results[-1].measured, flush=True)
        if path.parent == data:
            eleven.append(trios[:, 0])
    return [*results, *_means(np.array(eleven), every)]


def _compare(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Fit, Fit, Fit]:
    """``auto``, up to 64, and the paper's ``l``."""
    auto, stopping = _fit(X, y, seed, "auto")
    capped = min(stopping["paper"], MAX_AUTO_COMPONENTS)
    many = auto if auto.components == capped else _fit(X, y, seed, capped)[0]
    paper = many if many.components == stopping["paper"] else _fit(X, y, seed, "paper")[0]
    return auto, many, paper


def _fit(X: np.ndarray, y: np.ndarray, seed: int, n_estimators: int | str) -> tuple[Fit, dict]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ODEFSWarning)
        start = time.perf_counter()
        model = ODEFS(n_estimators=n_estimators, random_state=seed).fit(X)
        seconds = time.perf_counter() - start
    auc = float(roc_auc_score(y, model.outlier_scores_))
    return Fit(auc, model.fit_info_["n_components"], seconds), model.fit_info_["stopping"]


def _result(path: Path, X: np.ndarray, n_seeds: int, trios: np.ndarray) -> Result:
    auto, many, paper = (Fit(*trio) for trio in trios)
    change = auto.auc - paper.auc
    measured = (
        f"AUC {auto.auc:.4f}, {auto.auc - many.auc:+.4f} against up to {MAX_AUTO_COMPONENTS}, "
        f"{change:+.4f} against the paper's; "
        f"{auto.components:.0f}, {many.components:.0f}, {paper.components:.0f} components in "
        f"{auto.seconds:.1f}, {many.seconds:.1f}, {paper.seconds:.1f} s"
    )
    what = f"adaptive on {path.stem}, {X.shape[0]:,} x {X.shape[1]:,}, seeds: {n_seeds}"
    return Result(what, measured, f"within {LIMIT} of the paper's", abs(change) <= LIMIT)


def _means(aucs: np.ndarray, every: bool) -> list[Result]:
    auto, many, paper = aucs.mean(axis=0)
    measured = (
        f"AUC {auto:.4f}, {auto - many:+.4f} against up to {MAX_AUTO_COMPONENTS}, "
        f"{auto - paper:+.4f} against the paper's"
    )
    which = "the eleven" if every else ", ".join(DEFAULT)
    return [
        Result(
            f"adaptive, mean over {which}", measured, f"within {LIMIT}", abs(auto - paper) <= LIMIT
        )
    ]
