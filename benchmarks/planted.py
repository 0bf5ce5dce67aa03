"""Planted outliers in tables as they occur: far values next to categories, zeros, noise, constants.

Each situation is drawn six times. ``ODEFS()`` is compared with scikit-learn's isolation forest.
"""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score

from benchmarks.result import Result
from odefs import ODEFS

SEEDS = range(6)
Planted = tuple[np.ndarray, int]
"""A table, and how many of its first rows are outliers."""


def run() -> list[Result]:
    warnings.simplefilter("ignore")
    return [_measured(title, draw, least) for title, (draw, least) in SITUATIONS.items()]


def _measured(title: str, draw: Callable[[np.random.Generator], Planted], least: float) -> Result:
    ours, forest, n_flagged, n_found = [], [], [], []
    for seed in SEEDS:
        X, n_outliers = draw(np.random.default_rng(seed))
        y = np.arange(len(X)) < n_outliers
        model = ODEFS(random_state=0).fit(X)
        ours.append(average_precision_score(y, model.outlier_scores_))
        n_flagged.append(int(model.is_outlier_.sum()))
        n_found.append(int(model.is_outlier_[y].sum()))
        isolated = -IsolationForest(random_state=0).fit(X).score_samples(X)
        forest.append(average_precision_score(y, isolated))
    mean = float(np.mean(ours))
    return Result(
        title,
        f"average precision {mean:.2f} (isolation forest {np.mean(forest):.2f}); "
        f"{np.mean(n_flagged):.0f} rows flagged, {np.mean(n_found):.0f} of {n_outliers} outliers",
        f"at least {least}",
        mean >= least,
    )


def far_values(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(2000, 8))
    X[:5, 0] = 10 + rng.random(5)
    return X, 5


def next_to_a_category(rng: np.random.Generator) -> Planted:
    X, n_outliers = far_values(rng)
    rare = rng.random(len(X)) < 0.02
    rare[:n_outliers] = False
    return np.c_[X, rare], n_outliers


def next_to_categories(rng: np.random.Generator) -> Planted:
    X = np.c_[rng.normal(size=(3000, 5)), rng.random((3000, 4)) < [0.02, 0.05, 0.1, 0.005]]
    X[:10, 2] = 7 + rng.normal(size=10)
    return X, 10


def next_to_codes(rng: np.random.Generator) -> Planted:
    X = np.c_[rng.normal(size=(1000, 4)), rng.integers(0, 3, (1000, 4)), rng.random(1000) < 0.1]
    X[:10, 0] = 8 + rng.normal(size=10)
    return X, 10


def among_zeros(rng: np.random.Generator) -> Planted:
    amounts = np.where(rng.random((1000, 5)) < 0.9, 0, rng.lognormal(2, 1, (1000, 5)))
    X = np.c_[amounts, rng.normal(size=(1000, 3))]
    X[:10, 0] = 1e5
    return X, 10


def next_to_constants(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 10)) + 0.5 * rng.normal(size=(1000, 10))
    X[:10, 0] += 6
    return np.c_[X, np.ones((1000, 60))], 10


def few_of_many_columns(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(300, 200))
    X[:10, :6] += 3
    return X, 10


def broken_relation_of_few(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(300, 200))
    X[:, :6] = rng.normal(size=(300, 1)) + 0.5 * rng.normal(size=(300, 6))
    X[:10, :6] = 2.5 * rng.normal(size=(10, 6))
    return X, 10


def beside_a_related_pair(rng: np.random.Generator) -> Planted:
    X = rng.normal(size=(1000, 6))
    X[:, 1] = X[:, 0]
    X[:10, 2:] += 2
    return X, 10


SITUATIONS = {
    "5 far values in one of 8 columns": (far_values, 0.95),
    "the same next to a category of 2 %": (next_to_a_category, 0.95),
    "10 far values in one of 5 columns next to 4 rare categories": (next_to_categories, 0.95),
    "10 far values in one of 4 columns next to codes": (next_to_codes, 0.9),
    "10 far amounts in a column that is mostly zero": (among_zeros, 0.9),
    "10 rows shifted in one of 10 related columns, 60 constants": (next_to_constants, 0.8),
    "10 of 300 rows shifted in 6 of 200 columns": (few_of_many_columns, 0.95),
    "10 of 300 rows that break the relation of 6 of 200 columns": (broken_relation_of_few, 0.8),
    "10 rows shifted in 4 of 6 columns, the others equal": (beside_a_related_pair, 0.5),
}
