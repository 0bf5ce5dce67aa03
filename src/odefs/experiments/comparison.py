"""Statistical comparison of methods over datasets: signed-rank tests with Holm's correction,
average ranks and critical difference.
"""

import math

import numpy as np
from scipy import stats


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
