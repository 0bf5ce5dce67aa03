"""Write the golden files of the current format version: ``python tests/golden/write.py``.

They are written once, when a format version is new, and then kept: every later version must read them and score as is written beside them.
"""

import json
import warnings
from pathlib import Path

import numpy as np

from odefs import ODEFS, LeSiNN, ODEFSWarning
from odefs.detectors import IForestDetector, TailsDetector
from odefs.persist.layout import VERSION

FOLDER = Path(__file__).parent


def models():
    small = {"n_estimators": 2, "n_outlier_examples": 8, "random_state": 0}
    return {
        "lesinn": ODEFS(n_subsets=4, subset_size=4, **small),
        "lesinn-weighted-missing": ODEFS(
            n_subsets=4, subset_size=4, final_distance="weighted", missing="ignore", **small
        ),
        "iforest": ODEFS(detector=IForestDetector(n_trees=4, subset_size=8), **small),
        "tails": ODEFS(detector=TailsDetector(n_references=32), **small),
        "bare": LeSiNN(n_subsets=4, subset_size=4, random_state=0),
    }


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X[:6, 2] += 9
    warnings.simplefilter("ignore", ODEFSWarning)
    for name, model in models().items():
        rows = X.copy()
        if getattr(model, "missing", "") == "ignore":
            rows[rng.random(rows.shape) < 0.1] = np.nan
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
