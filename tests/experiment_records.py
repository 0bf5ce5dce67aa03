"""Shared by the tests of experiments: a small job's data, the command, and made-up records."""

import sys
from pathlib import Path

import numpy as np

from odefs.experiments.methods import TABLE2

ODEFS = Path(sys.executable).parent / "odefs"
SMALL = "shifted?n_rows=300&n_columns=10&n_relevant=3&shift=0.8"


def fake_records():
    rng = np.random.default_rng(0)
    records = []
    for method in ("LeSiNN", *TABLE2):
        for dataset in ("musk", "bank", "mnist", "u2r"):
            for seed in range(3):
                job = {
                    "method": method,
                    "dataset": dataset,
                    "seed": seed,
                    "protocol": "transductive",
                    "options": [],
                }
                numbers = {
                    name: float(rng.random())
                    for name in ("auc", "p@k", "ap", "seconds", "outlier_share")
                }
                records.append({"job": job, **numbers, "subset_size": 9.0})
    return records
