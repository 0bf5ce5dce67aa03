"""The tables of R that the package pydataset contains, with a rare class as outliers.

They have no labels of outliers. One class of a column is thinned to 5 % next to the largest class,
and the column is removed. Only columns that a random forest can tell from the others are used.
"""

import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from benchmarks.rare_classes.labelled import CACHE, OUTLIER_SHARE, Labelled, some
from benchmarks.wild.fetch import fetch
from benchmarks.wild.listing import WildFile, read_listing

LARGEST_CLASS = 120
OTHER_CLASS = 30
MOST_ROWS = 4000
FEWEST_OUTLIERS = 8
SEPARABLE = (0.85, 0.9995)
"""AUC of the random forest: below, the class is no matter of the other columns; above, one of them
repeats it.
"""


def tables(pool: Executor) -> list[Labelled]:
    """All tables; some are in several packages of R."""
    made = [table for table in pool.map(make_table, *_files()) if table is not None]
    return list({table.frame.shape: table for table in reversed(made)}.values())[::-1]


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
    rows = some(rng, np.flatnonzero(labels == ordinary), MOST_ROWS)
    count = max(FEWEST_OUTLIERS, round(len(rows) * OUTLIER_SHARE))
    rows = rng.permutation(np.r_[rows, some(rng, np.flatnonzero(labels == rare), count)])
    chosen = frame.drop(column)[rows]
    varied = [one.name for one in chosen if one.drop_nulls().n_unique() > 1]
    if len(varied) < 4:
        return None
    return Labelled(name, name, chosen[varied], np.asarray(labels[rows] == rare).astype(int))


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
    rows = some(np.random.default_rng(0), both, 3000)
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
