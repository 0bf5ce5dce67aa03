"""Datasets of the paper, from the folder ``ODEFS_DATA``; benchmarks report if it is not set."""

import os
from pathlib import Path

import numpy as np

ELEVEN = (
    "advertisements",
    "aid362",
    "apascal",
    "bank",
    "probe",
    "u2r",
    "arrhythmia",
    "mnist",
    "musk",
    "optdigits",
    "census",
)


def folder() -> Path | None:
    """Where the npz files are, or ``None`` after a sentence on standard output."""
    named = os.environ.get("ODEFS_DATA")
    if named and Path(named).is_dir():
        return Path(named)
    print("Left out: ODEFS_DATA does not name the folder with the paper's datasets.")
    return None


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"].astype(int)
