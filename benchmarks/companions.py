"""Variants of the companions and the scaling of ``ODEFS()``: mean AUC and p@k on three groups.

Prints the table in docs/explanation/research-log.md, "Companions of the distances". Run
``ODEFS_DATA=FOLDER python -m benchmarks.companions [VARIANT ...]``.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import odefs
from odefs import scaling
from odefs.ensemble import companions
from odefs.experiments.accuracy.plan import ELEVEN, MIXED, MORE
from odefs.experiments.run import evaluate
from odefs.experiments.sources import open_frame, open_source

N_SEEDS = 2
MOST_ROWS = 30_000
GROUPS = {"eleven": ELEVEN, "fourteen": MORE, "tables with categories": MIXED}


Constants = dict[tuple[object, str], float]

VARIANTS: dict[str, tuple[dict[str, object], Constants]] = {
    "`ODEFS()`": ({}, {}),
    "without companions": ({"detector": "lesinn"}, {}),
    "without companions, damped": ({"detector": "lesinn", "scaling": "damped"}, {}),
    "without relations": ({}, {(companions, "RELATIONS_WEIGHT"): 0.0}),
    "coupling with weight 1": ({}, {(companions, "COUPLING_WEIGHT"): 1.0}),
    "no limit for rows per value": ({}, {(companions, "ROWS_PER_VALUE"): 5}),
    "subset_size 12": ({"subset_size": 12}, {}),
    "two-valued columns as at least 10 %": ({}, {(scaling, "SMALLEST_STD"): 0.3}),
    "two-valued columns as at least 20 %": ({}, {(scaling, "SMALLEST_STD"): 0.4}),
}
"""Parameters of each variant, and the constants of modules that it changes."""


def measure(task: tuple[str, str, int]) -> tuple[float, float]:
    """AUC and p@k of a variant on a dataset."""
    variant, dataset, seed = task
    settings, constants = VARIANTS[variant]
    for (module, name), value in constants.items():
        setattr(module, name, value)
    if dataset in MIXED:
        frame, y = open_frame(dataset)
        model = odefs.ODEFS(**(settings | {"scaling": "none"}), random_state=seed, n_jobs=1)
        scores = odefs.detect(frame, model=model).scores
    else:
        source = open_source(dataset, seed)
        X, y = source.X, source.y
        if len(X) > MOST_ROWS:
            few = np.sort(np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False))
            X, y = X[few], y[few]
        scores = odefs.ODEFS(**settings, random_state=seed, n_jobs=1).fit(X).outlier_scores_
    found = evaluate(y, scores)
    return found["auc"], found["p@k"]


def main() -> None:
    chosen = sys.argv[1:] or list(VARIANTS)
    print(f"| variant | {' | '.join(GROUPS)} |")
    print("| -- |" + " -- |" * len(GROUPS))
    for variant in chosen:
        cells = []
        # New processes: a variant must not leave its constants behind.
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
            for datasets in GROUPS.values():
                tasks = [(variant, name, seed) for name in datasets for seed in range(N_SEEDS)]
                auc, pk = np.mean(list(pool.map(measure, tasks)), axis=0)
                cells.append(f"{auc:.3f} / {pk:.3f}")
        print(f"| {variant} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
