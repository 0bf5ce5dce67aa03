"""Means of records, from which tables and figures are made. Nothing here formats."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from odefs.experiments.grid import Record


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation of a measure over the repeats of one method on one dataset."""

    mean: float
    std: float
    repeats: int


Cells = dict[tuple[str, str], Cell]
"""By method and dataset."""


def summarise(records: Iterable[Record], measure: str) -> Cells:
    """Return the means of a measure.

    Records without it (a method that failed, a test part of one class) do not count.
    """
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        if measure in record and not math.isnan(record[measure]):
            values[record["job"]["method"], record["job"]["dataset"]].append(record[measure])
    return {key: Cell(float(np.mean(v)), float(np.std(v)), len(v)) for key, v in values.items()}


def failures(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """Return the error of each method and dataset that has one."""
    return {(r["job"]["method"], r["job"]["dataset"]): r["error"] for r in records if "error" in r}


def base_rates(records: Iterable[Record]) -> dict[str, float]:
    """Return the share of outliers in each dataset: the average precision of a random order."""
    return {
        dataset: cell.mean for (_, dataset), cell in summarise(records, "outlier_share").items()
    }


def matrix(cells: Cells, methods: Sequence[str], datasets: Sequence[str]) -> np.ndarray:
    """Return means as ``(datasets, methods)``; NaN where there is none."""
    nothing = Cell(float("nan"), 0.0, 0)
    return np.array([[cells.get((m, d), nothing).mean for m in methods] for d in datasets])


def present(records: Iterable[Record], order: Sequence[str], kind: str) -> list[str]:
    """Return the methods or datasets in the records: known ones in their order, then others."""
    found = {record["job"][kind] for record in records}
    return [name for name in order if name in found] + sorted(found - set(order))
