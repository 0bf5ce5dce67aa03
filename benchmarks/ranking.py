"""What a person would expect to stand first: impossible sizes, broken relations, new extremes.

The tables are generated, scikit-learn's, or the table of diamonds that plotnine's package contains.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.covariance import MinCovDet
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import average_precision_score

from benchmarks.result import Result
from benchmarks.wild.fetch import fetch
from benchmarks.wild.listing import read_listing
from odefs import ODEFS, LeSiNN, detect, explain

CACHE = Path(__file__).parent.parent / ".wild"
SEEDS = range(3)
N_PLANTED = 20
PLANTED = np.arange(2000) < N_PLANTED


def run() -> list[Result]:
    warnings.simplefilter("ignore")  # MCD warns of determinants, ODEFS of few candidates.
    return [
        *impossible_sizes(),
        *broken_pairs(),
        broken_totals(),
        *new_extremes(),
        *thinned_classes(),
        coupling_speed(),
    ]


def impossible_sizes() -> Iterator[Result]:
    """Diamonds with a size of 0 or of several centimetres."""
    package = next(one for one in read_listing() if one.package.name == "plotnine")
    file = replace(package, path="plotnine/data/diamonds.csv")
    frame = pl.read_csv(fetch([file], CACHE)[file])
    sizes = frame.select("x", "y", "z").to_numpy()
    impossible = (sizes <= 0).any(axis=1) | (sizes > 20).any(axis=1)
    for seed in SEEDS:
        found = detect(frame, random_state=seed)
        worst = int(np.asarray(found.ranks)[impossible].max())
        yield Result(
            f"diamonds, seed {seed}: rank of the last of {impossible.sum()} impossible sizes "
            f"among {len(frame):,} rows",
            f"{worst} ({int(np.sum(found.is_outlier))} rows flagged)",
            "at most 150",
            worst <= 150,
        )


def pairs(seed: int) -> np.ndarray:
    """Two columns that go together except in twenty rows, and eighteen columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 20))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=2000)
    X[PLANTED, 1] = -np.sign(X[PLANTED, 0]) * rng.uniform(0.8, 1.5, N_PLANTED)
    return X


def broken_pairs() -> Iterator[Result]:
    precision, named = [], []
    for seed in SEEDS:
        X = pairs(seed)
        model = ODEFS(random_state=seed).fit(X)
        precision.append(average_precision_score(PLANTED, model.outlier_scores_))
        parts = explain(model, X[PLANTED]).values
        named.append(np.mean(np.asarray(parts).argmax(axis=1) < 2))
    yield Result(
        "a pair of columns broken in 20 of 2,000 rows, 18 columns of noise: average precision",
        _list(precision),
        "at least 0.6",
        min(precision) >= 0.6,
    )
    yield Result(
        "share of these rows whose first reason is one of the two",
        _list(named),
        "at least 0.95",
        min(named) >= 0.95,
    )


def broken_totals() -> Result:
    ours, mcd = [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        parts = rng.gamma(2.0, size=(2000, 4)) * [1, 5, 20, 100]
        whole = parts.sum(axis=1)
        whole[PLANTED] += rng.choice([-1, 1], N_PLANTED) * rng.uniform(20, 60, N_PLANTED)
        X = np.c_[parts, whole]
        model = ODEFS(detector="relations", random_state=seed).fit(X)
        ours.append(average_precision_score(PLANTED, model.outlier_scores_))
        distances = MinCovDet(random_state=seed).fit(X).mahalanobis(X)
        mcd.append(average_precision_score(PLANTED, distances))
    return Result(
        'a total of four columns broken in 20 of 2,000 rows, detector="relations"',
        f"{_list(ours)}; MCD, which PyOD uses as well, {_list(mcd)}",
        "mean above that of MCD",
        float(np.mean(ours)) > float(np.mean(mcd)),
    )


def new_extremes() -> Iterator[Result]:
    """Values beyond the training range of a column that was taken for noise."""
    found = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        model = ODEFS(random_state=seed).fit(_with_noise_columns(rng, 3000))
        new = _with_noise_columns(rng, 500)
        new[:, 8] = 3.0
        found.append(float(np.mean(model.predict(new) == -1)))
    yield Result(
        "new value 3.0 in a noise column of range 0 to 1: share of flagged rows",
        _list(found),
        "at least 0.95",
        min(found) >= 0.95,
    )


def _with_noise_columns(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Six related columns, and six of noise between 0 and 1."""
    shared = rng.normal(size=(n_rows, 1))
    return np.c_[shared + 0.5 * rng.normal(size=(n_rows, 6)), rng.random((n_rows, 6))]


def thinned_classes(n_draws: int = 10) -> Iterator[Result]:
    """Classes of scikit-learn's tables as outliers that are 5 % of the rows."""
    for name, load in (("wine", load_wine), ("digits", load_digits)):
        X, classes = load(return_X_y=True)
        for design, choose in DESIGNS.items():
            scores = np.zeros((n_draws, 2))
            for draw in range(n_draws):
                rng = np.random.default_rng(draw)
                ordinary, others = choose(classes, draw % (classes.max() + 1))
                n_outliers = max(2, round(ordinary.sum() / 19))
                drawn = rng.choice(np.flatnonzero(others), n_outliers, replace=False)
                rows = np.r_[np.flatnonzero(ordinary), drawn]
                for column, model in enumerate((LeSiNN, ODEFS)):
                    fitted = model(random_state=draw).fit(X[rows])
                    scores[draw, column] = average_precision_score(
                        others[rows], fitted.outlier_scores_
                    )
            bare, ours = scores.mean(axis=0)
            yield Result(
                f"average precision on {name}, {design}",
                f"LeSiNN() {bare:.3f}, ODEFS() {ours:.3f}",
                "ODEFS() not more than 0.01 behind",
                ours >= bare - 0.01,
            )


DESIGNS: dict[str, Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]] = {
    "one class and 5 % of the others": lambda y, k: (y == k, y != k),
    "one class and 5 % of the next": lambda y, k: (y == k, y == (k + 1) % (y.max() + 1)),
    "all classes but one, and 5 % of that one": lambda y, k: (y != k, y == k),
}
"""Ordinary rows, and rows of which some are the outliers, for the number of a class."""


def coupling_speed() -> Result:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(300_000, 40)).astype(np.float32)
    start = time.perf_counter()
    ODEFS(detector="coupling", trust=0, n_jobs=2, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    return Result(
        "coupling of 300,000 x 40 discrete columns, fit and scores",
        f"{seconds:.2f} s",
        "under 1 s",
        seconds < 1,
    )


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
