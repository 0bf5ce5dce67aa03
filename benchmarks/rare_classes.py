"""Rare classes of real tables as outliers: ``odefs.detect`` and other detectors on many tables.

The tables of R that the package pydataset contains have no labels of outliers. One class of a
column is thinned to 5 % next to the largest class, and the column is removed. Only columns that a
random forest can tell from the others are used. None of these tables is among the datasets of the
page on accuracy.

``python -m benchmarks.rare_classes`` prints mean AUC, average precision and p@k of each detector.
The weight of the relations in ``odefs.ensemble.companions`` was chosen with these tables as well.
"""

import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from pyod.models.ecod import ECOD
from pyod.models.hbos import HBOS
from pyod.models.inne import INNE
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import odefs
from benchmarks.wild.fetch import fetch
from benchmarks.wild.listing import WildFile, read_listing
from odefs.ensemble import companions
from odefs.experiments.accuracy.value_frequencies import BASELINES, table_codes
from odefs.experiments.run import evaluate
from odefs.tables.frames import columns_of

CACHE = Path(__file__).parent.parent / ".wild"
LARGEST_CLASS = 120
OTHER_CLASS = 30
MOST_ROWS = 4000
OUTLIER_SHARE = 0.05
FEWEST_OUTLIERS = 8
SEPARABLE = (0.85, 0.9995)
"""AUC of the random forest: below, the class is no matter of the other columns; above, one of them
repeats it.
"""

WEIGHTS = {"odefs.detect": 1.0, "relations 2": 2.0, "no relations": 0.0}
"""Weights of relations that are compared; the first is the default."""


class Labelled(NamedTuple):
    """A table, and which of its rows are of the rare class."""

    name: str
    frame: pl.DataFrame
    y: np.ndarray


def main() -> None:
    warnings.simplefilter("ignore")
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        made = [table for table in pool.map(make_table, *_files()) if table is not None]
        # Some tables are in several packages of R.
        tables = list({table.frame.shape: table for table in reversed(made)}.values())[::-1]
        results = list(pool.map(measure, tables))
    print(f"{len(tables)} tables, {sum(len(table.y) for table in tables):,} rows\n")
    print("| detector | AUC | average precision | p@k |\n| -- | -- | -- | -- |")
    for detector in results[0]:
        auc, precision, at_k = np.mean([result[detector] for result in results], axis=0)
        print(f"| {detector} | {auc:.4f} | {precision:.4f} | {at_k:.4f} |")


def _files() -> tuple[list[str], list[Path]]:
    """Names and paths of all tables."""
    listed: WildFile = next(one for one in read_listing() if one.package.name == "pydataset")
    folder = listed.path.partition("/rdata/")[0] + "/rdata"
    index = replace(listed, path=f"{folder}/datasets.csv")
    rows = pl.read_csv(fetch([index], CACHE)[index]).iter_rows(named=True)
    found = fetch(files := [replace(listed, path=f"{folder}/{_path(row)}") for row in rows], CACHE)
    return [Path(file.path).stem for file in files], [found[file] for file in files]


def _path(row: dict[str, str]) -> str:
    return f"csv/{row['Package']}/{row['Item']}.csv"


def make_table(name: str, path: Path) -> Labelled | None:
    """A table whose outliers are a class of the column that is easiest to tell."""
    warnings.simplefilter("ignore")
    try:
        frame = pl.read_csv(path, infer_schema_length=None, null_values=["NA", ""])
    except pl.exceptions.PolarsError:
        return None
    frame = frame.drop(frame.columns[0])
    if len(frame) < 2 * LARGEST_CLASS - 40 or not 5 <= frame.width <= 80:
        return None
    candidates = [(_separability(frame, *choice), choice) for choice in _classes(frame)]
    low, high = SEPARABLE
    candidates = [one for one in candidates if low < one[0] < high]
    if not candidates:
        return None
    _, (column, ordinary, rare) = max(candidates, key=lambda one: one[0])
    rng = np.random.default_rng(0)
    labels = frame[column].cast(pl.String).fill_null("")
    rows = _some(rng, np.flatnonzero(labels == ordinary), MOST_ROWS)
    count = max(FEWEST_OUTLIERS, round(len(rows) * OUTLIER_SHARE))
    rows = rng.permutation(np.r_[rows, _some(rng, np.flatnonzero(labels == rare), count)])
    chosen = frame.drop(column)[rows]
    varied = [one.name for one in chosen if one.drop_nulls().n_unique() > 1]
    if len(varied) < 4:
        return None
    return Labelled(name, chosen[varied], np.asarray(labels[rows] == rare).astype(int))


def _classes(frame: pl.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Columns of few values, their largest class, and each of the next two."""
    for column in frame:
        if column.dtype.is_float() or not 2 <= column.drop_nulls().n_unique() <= 8:
            continue
        counts = column.drop_nulls().cast(pl.String).value_counts(sort=True)
        (largest, size), *others = counts.rows()
        if size >= LARGEST_CLASS:
            for other, number in others[:2]:
                if number >= OTHER_CLASS:
                    yield column.name, largest, other


def _separability(frame: pl.DataFrame, column: str, ordinary: str, rare: str) -> float:
    """AUC of a random forest for two classes, cross-validated on at most 3,000 rows."""
    labels = frame[column].cast(pl.String).fill_null("")
    both = np.flatnonzero((labels == ordinary) | (labels == rare))
    rows = _some(np.random.default_rng(0), both, 3000)
    y = np.asarray(labels[rows] == rare)
    if min(y.sum(), (~y).sum()) < 3:
        return 0.0
    codes = [
        one.to_numpy() if one.dtype.is_numeric() else one.cast(pl.String).rank("dense").to_numpy()
        for one in frame.drop(column)[rows]
    ]
    X = np.nan_to_num(np.column_stack(codes).astype(float), nan=-1e6)
    forest = RandomForestClassifier(50, max_depth=8, random_state=0)
    chances = cross_val_predict(forest, X, y, cv=3, method="predict_proba")
    return float(roc_auc_score(y, chances[:, 1]))


def _some(rng: np.random.Generator, rows: np.ndarray, most: int) -> np.ndarray:
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)


def measure(table: Labelled) -> dict[str, tuple[float, float, float]]:
    """AUC, average precision and p@k of every detector on a table."""
    warnings.simplefilter("ignore")
    scores = {}
    for name, weight in WEIGHTS.items():
        companions.RELATIONS_WEIGHT = weight
        scores[name] = odefs.detect(table.frame, random_state=0, n_jobs=1).scores
    X = np.nan_to_num(np.asarray(odefs.TableEncoder().fit_transform(table.frame), dtype=float))
    scores["LeSiNN"] = odefs.LeSiNN(random_state=0, n_jobs=1).fit(X).outlier_scores_
    scores["IsolationForest"] = -IsolationForest(random_state=0).fit(X).score_samples(X)
    for detector in (ECOD(), HBOS(), INNE(random_state=0), KNN()):
        scores[f"PyOD {type(detector).__name__}"] = detector.fit(X).decision_scores_
    codes = table_codes(columns_of(table.frame))
    scores |= {name: baseline(codes) for name, baseline in BASELINES.items()}
    found = {name: evaluate(table.y, np.asarray(values)) for name, values in scores.items()}
    return {name: (one["auc"], one["ap"], one["p@k"]) for name, one in found.items()}


if __name__ == "__main__":
    main()
