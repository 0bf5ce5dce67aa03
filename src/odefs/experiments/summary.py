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


def signed_rank_p_values(
    values: np.ndarray, reference: int, approximate: bool = False
) -> np.ndarray:
    """Return two-sided Wilcoxon signed-rank p-values of each column against ``reference``.

    Rows are datasets; each pair is compared on the datasets that both have. Zero differences are
    dropped. P-values are exact over all patterns of signs, also with tied ranks, or by the normal
    approximation without correction, which gives the ten p-values of the paper's table from its
    numbers. NaN if there is nothing to test.
    """
    out = np.full(values.shape[1], np.nan)
    for k in range(values.shape[1]):
        # Rounded, so that equal differences of decimal numbers are tied.
        difference = np.round(values[:, reference] - values[:, k], 12)
        difference = difference[~np.isnan(difference)]
        if k != reference and difference.size > 1:
            out[k] = _signed_rank_p_value(difference[difference != 0], approximate)
    return out


def _signed_rank_p_value(difference: np.ndarray, approximate: bool) -> float:
    if not difference.size:
        return 1.0
    ranks = stats.rankdata(np.abs(difference))
    total = float(ranks[difference > 0].sum())
    if approximate:
        spread = math.sqrt(float((ranks**2).sum()) / 4)
        return float(2 * stats.norm.sf(abs(total - ranks.sum() / 2) / spread))
    # Number of sign patterns by twice their sum of positive ranks: tied ranks are halves.
    doubled = np.round(2 * ranks).astype(int)
    patterns = np.ones(1)
    for rank in doubled:
        patterns = np.pad(patterns, (0, rank)) + np.pad(patterns, (rank, 0))
    place = round(2 * total)
    tail = min(patterns[: place + 1].sum(), patterns[place:].sum())
    return float(min(1.0, 2 * tail / patterns.sum()))


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
    # Nemenyi's test divides the quantile of the studentized range by the square root of two.
    q = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
