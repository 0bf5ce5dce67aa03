"""Write the golden files of the current format version: ``python tests/golden/write.py``.

They are written once for a new format version and then kept: every later version must read them and
reproduce the stored scores. Existing files are not written again.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import odefs
from odefs import ODEFS, FeatureSelection, LeSiNN, ODEFSWarning
from odefs.baselines import RandFS
from odefs.detectors import IForestDetector, TailsDetector
from odefs.persist.file_format import VERSION

FOLDER = Path(__file__).parent


def models():
    few, learned = (
        FeatureSelection(n_outlier_examples=8, column_weights=kind) for kind in ("root", "learned")
    )
    small = {"n_estimators": 2, "selection": few, "random_state": 0}
    return {
        "lesinn": ODEFS(n_subsets=4, subset_size=4, **small),
        "lesinn-weighted-missing": ODEFS(
            n_subsets=4, subset_size=4, missing="ignore", **{**small, "selection": learned}
        ),
        "iforest": ODEFS(detector=IForestDetector(n_trees=4, subset_size=8), **small),
        "tails": ODEFS(detector=TailsDetector(n_references=32), **small),
        "bare": LeSiNN(n_subsets=4, subset_size=4, random_state=0),
        "baseline": RandFS(n_estimators=3, n_subsets=4, subset_size=4, random_state=0),
        "companions": ODEFS(n_subsets=4, subset_size=4, **small),
        "relations-missing": ODEFS(detector="relations", missing="ignore", **small),
    }


def table():
    """Columns of all kinds: numbers, booleans, times, text read as numbers and dates, categories.

    With few and many categories, and with blanks.
    """
    rng = np.random.default_rng(1)
    n = 80
    frame = pd.DataFrame(
        {
            "key": [f"row-{k}" for k in range(n)],
            "amount": rng.normal(100, 5, n).round(2),
            "paid": [f"{x:.2f}".replace(".", ",") for x in rng.normal(50, 2, n)],
            "is_new": rng.random(n) < 0.3,
            "when": (1_700_000_000 + rng.integers(0, 10**6, n)).astype("datetime64[s]"),
            "day": [f"{1 + k % 28:02d}.03.2020" for k in range(n)],
            "city": [f"city {k}" for k in rng.zipf(1.7, n) % 12],
            "shop": rng.choice(["a", "b", "c"], n),
        }
    )
    for name, row in (("amount", 3), ("paid", 5), ("city", 7), ("when", 11)):
        frame.loc[[row, row + 30], name] = None
    return frame


def write_table():
    """Files called ``table`` are older: they lack what is kept of the training rows."""
    frame = table()
    model = ODEFS(
        scaling="none",
        n_estimators=2,
        selection=FeatureSelection(n_outlier_examples=8),
        n_subsets=4,
        subset_size=4,
        random_state=0,
    )
    found = odefs.detect(frame, id="key", model=model, mark_missing=True, max_categories=5)
    found.save(FOLDER / f"v{VERSION}-sampled-table.odefs")
    some = (
        frame.iloc[:12].astype({"when": str}).replace({"when": {"NaT": None}}).drop(columns="key")
    )
    cells = {
        name: [None if pd.isna(cell) else cell for cell in some[name].tolist()] for name in some
    }
    # As they are read from the file beside the model.
    rows = pd.DataFrame(cells)
    pipeline = odefs.load(FOLDER / f"v{VERSION}-sampled-table.odefs")
    expected = {
        "cells": cells,
        "encoded": pipeline[0].transform(rows).tolist(),
        "outlier_scores": pipeline[-1].outlier_scores(pipeline[0].transform(rows)).tolist(),
        "predict": pipeline.predict(rows).tolist(),
        "contributions": odefs.explain(pipeline, rows).values.tolist(),
        "offset": pipeline[-1].offset_,
    }
    (FOLDER / f"v{VERSION}-sampled-table.json").write_text(json.dumps(expected, indent=1) + "\n")


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X[:6, 2] += 9
    warnings.simplefilter("ignore", ODEFSWarning)
    if not (FOLDER / f"v{VERSION}-sampled-table.odefs").exists():
        write_table()
    for name, model in models().items():
        rows = X.copy()
        if name == "companions":  # Columns that determine each other, and two of few values.
            rows[:, 1] += rows[:, 0]
            rows[:, 3:] = (rows[:, 3:] > 1.0).round()
        if getattr(model, "missing", "") == "ignore":
            rows[rng.random(rows.shape) < 0.1] = np.nan
        if (FOLDER / f"v{VERSION}-{name}.odefs").exists():
            continue
        model.fit(rows)
        model.save(FOLDER / f"v{VERSION}-{name}.odefs")
        some = rows[:12]
        expected = {
            "rows": [[None if np.isnan(cell) else cell for cell in row] for row in some.tolist()],
            "outlier_scores": model.outlier_scores(some).tolist(),
            "predict": model.predict(some).tolist(),
            "contributions": model.explain(some).values.tolist(),
            "offset": model.offset_,
        }
        (FOLDER / f"v{VERSION}-{name}.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
