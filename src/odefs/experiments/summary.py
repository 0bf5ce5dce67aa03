"""Means of records and statistical comparisons, for tables and figures. Nothing here formats.

Methods are compared over datasets by signed-rank tests with Holm's correction, average ranks and
the critical difference.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

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


def signed_rank_p_values(values: np.ndarray, reference: int) -> np.ndarray:
    """Return two-sided Wilcoxon signed-rank p-values of each column against ``reference``.

    Rows are datasets; each pair is compared on the datasets that both have. Zero differences are
    ranked and then dropped (Pratt); p-values are exact if the sample is small, and NaN if there is
    nothing to test.
    """
    out = np.full(values.shape[1], np.nan)
    for k in range(values.shape[1]):
        difference = values[:, reference] - values[:, k]
        difference = difference[~np.isnan(difference)]
        if k != reference and difference.size > 1:
            out[k] = (
                stats.wilcoxon(difference, zero_method="pratt").pvalue if difference.any() else 1.0
            )
    return out


def holm(p_values: np.ndarray) -> np.ndarray:
    """Apply Holm's step-down correction; NaN stays NaN."""
    known = np.flatnonzero(~np.isnan(p_values))
    out = np.full(p_values.shape, np.nan)
    running = 0.0
    for place, k in enumerate(known[np.argsort(p_values[known], kind="stable")]):
        running = max(running, min(1.0, (known.size - place) * p_values[k]))
        out[k] = running
    return out


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each column over the complete rows.

    1 is the highest value and ties share a rank; NaN if there is no complete row.
    """
    complete = values[~np.isnan(values).any(axis=1)]
    if not len(complete):
        return np.full(values.shape[1], np.nan)
    return np.asarray(stats.rankdata(-complete, axis=1).mean(axis=0))


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks (Demsar 2006)."""
    q = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
