"""Readings of the points that the paper leaves open, on the datasets where it is not reached.

``python -m benchmarks.paper_readings [SEEDS] [COMPONENTS]`` prints the table in
``docs/explanation/research-log.md`` (mean AUC and number of columns), and how far the bare detector
is from the paper with either distance. Needs the paper's datasets.
"""

import sys
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from odefs import ODEFS, LeSiNN
from odefs.datasets.store import load
from odefs.experiments.paper_numbers import TABLE1

DATASETS = ("optdigits", "mnist", "bank")

READINGS: dict[str, dict[str, Any]] = {
    "`ODEFS.paper()`": {},
    "early stop, `tol` 1e-4": {"selection__tol": 1e-4},
    "early stop, `tol` 1e-3": {"selection__tol": 1e-3},
    "plain distances in the scores": {"selection__metric": "euclidean"},
    "references shared by all components": {"selection__reference_rows": "shared"},
    "theta 7e-4": {"selection__l1": 7e-4},
    "theta 1e-3": {"selection__l1": 1e-3},
    "scores in the loss divided by their standard deviation": {
        "selection__standardize_scores": True
    },
    "learned weights in the scores": {"selection__column_weights": "learned"},
    "self-pacing as by Kumar et al.": {"selection__self_paced": "classic"},
}


def measured(name: str, settings: dict[str, Any], seeds: int, components: int) -> str:
    """Return mean AUC and mean number of columns over the seeds."""
    data = load(name)
    found = []
    for seed in range(seeds):
        model = ODEFS.paper(n_estimators=components, random_state=seed).set_params(**settings)
        model.fit(data.X)
        sizes = model.fit_info_["subset_sizes"]
        found.append((roc_auc_score(data.y, model.outlier_scores_), np.mean(sizes)))
    auc, columns = np.mean(found, axis=0)
    return f"{auc:.3f} / {columns:.0f}"


def bare_distance(metric: str) -> float:
    """Return the mean difference of the bare detector's AUC from the paper's, over 5 seeds."""
    apart = []
    for name in set(TABLE1) - {"census", "speech"}:
        data = load(name)
        aucs = [
            roc_auc_score(data.y, LeSiNN(metric=metric, random_state=k).fit(data.X).outlier_scores_)
            for k in range(5)
        ]
        apart.append(abs(np.mean(aucs) - TABLE1[name]["bare auc"]))
    return float(np.mean(apart))


def main() -> None:
    """Print the table, a row as soon as it is measured."""
    seeds, components = (int(n) for n in (*sys.argv[1:], *("3", "8")[len(sys.argv) - 1 :]))
    print(f"| reading ({seeds} seeds, {components} components) | {' | '.join(DATASETS)} |")
    print("| -- | -- | -- | -- |")
    numbers = [TABLE1[name] for name in DATASETS]
    paper = ["{:.3f} / {:.0f}".format(row["auc"], row["d'"]) for row in numbers]
    print(f"| the paper | {' | '.join(paper)} |", flush=True)
    for reading, settings in READINGS.items():
        cells = [measured(name, settings, seeds, components) for name in DATASETS]
        print(f"| {reading} | {' | '.join(cells)} |", flush=True)
    for metric in ("euclidean", "sqeuclidean"):
        print(f"bare detector, {metric}: {bare_distance(metric):.3f} from the paper")


if __name__ == "__main__":
    main()
