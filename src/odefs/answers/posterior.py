"""How much each answer counts: the posterior mean of a Gaussian process over log scores.

Before any answer, a row's expected value is its standardised log score. An answer is a noisy
observation: a confirmed row should score as the rows at the top of the ranking do, a rejected one
as an ordinary row. Rows that resemble an answered row (:mod:`odefs.answers.cells`) follow it.
"""

from dataclasses import dataclass

import numpy as np

from odefs.answers.cells import resemblance
from odefs.system.threads import one_blas_thread

AMPLITUDE = 3.0
"""Prior variance of what answers may change; log scores have variance 1.

Not critical: amplitudes from 1 to 30, and a noise from 0.15 to 0.6, change the share of outliers
found by less than 0.02 (research log, "Learning from answers").
"""

NOISE = 0.3
"""Variance of an answer."""

COMMON = 3.0
"""Variance that all rows share when a model is learned for new rows. Most rows that are looked at
are rejected, and without it all rows like those at the top of the ranking would be lowered. The
queue of a review does better without.
"""

SHRINKAGE = 0.5
"""Share of the amounts that new rows get: on rows that were not part of a review, half of them rank
better than all (docs/explanation/research-log.md, "Learning from answers").
"""

TARGET_QUANTILES = {True: 0.995, False: 0.5}
"""Where a confirmed and a rejected row should rank."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Standardised log scores, and what they were standardised with."""

    values: np.ndarray
    mean: float
    std: float
    targets: dict[bool, float]


def prior_of(scores: np.ndarray, std: float | None = None) -> Prior:
    """Standardised log scores of all rows; scores of 0 count as the lowest positive one.

    ``std`` is that of an earlier table, if answers on it are to be joined.
    """
    positive = scores[scores > 0]
    lowest = float(positive.min()) if positive.size else 1.0
    # Rows that equal a reference in every draw score 0, which has no logarithm.
    logarithms = np.log(np.maximum(scores, lowest))
    mean, own = float(logarithms.mean()), float(logarithms.std())
    # The unit of an earlier table stays, because its gaps and amounts are multiples of it.
    std = std or (own if own > 1e-12 else 1.0)
    values = (logarithms - mean) / std
    targets = {answer: float(np.quantile(values, q)) for answer, q in TARGET_QUANTILES.items()}
    return Prior(values, mean, std, targets)


def answer_gaps(prior: Prior, rows: np.ndarray, is_outlier: np.ndarray) -> np.ndarray:
    """How far answered rows are from their targets."""
    targets = np.where(is_outlier, prior.targets[True], prior.targets[False])
    return np.asarray(targets - prior.values[rows])


def answer_amounts(kernel: np.ndarray, gaps: np.ndarray, common: float = 0.0) -> np.ndarray:
    """The amount of each answer, so that the posterior mean is ``prior + sum_j a_j k(x, j)``.

    ``kernel`` are the resemblances of the answered rows.
    """
    with one_blas_thread():  # Several threads would sum in another order.
        return np.asarray(AMPLITUDE * np.linalg.solve(_gram(kernel, common), gaps))


def amounts_for_new_rows(
    kernel: np.ndarray, gaps: np.ndarray, is_outlier: np.ndarray
) -> np.ndarray:
    """The amounts in a model: confirmed rows lower no score, and rejected rows raise none."""
    amounts = SHRINKAGE * answer_amounts(kernel, gaps, COMMON)
    # The posterior may give a confirmed row a negative amount if its neighbours explain more than
    # its gap. In a model, that would lower the scores of rows that resemble a confirmed outlier.
    return np.where(is_outlier, np.maximum(amounts, 0.0), np.minimum(amounts, 0.0))


def posterior_variance(kernel: np.ndarray, to_row: np.ndarray) -> float:
    """Variance of a row after the answers, as a share of that before; ``to_row`` is its kernel."""
    if not to_row.size:
        return 1.0
    with one_blas_thread():
        known = float(to_row @ np.linalg.solve(_gram(kernel, 0.0), to_row))
    # k(x, x) = 1, so that the prior variance is AMPLITUDE, by which the result is divided.
    return max(0.0, 1.0 - AMPLITUDE * known)


def _gram(kernel: np.ndarray, common: float) -> np.ndarray:
    return np.asarray(AMPLITUDE * kernel + common + NOISE * np.eye(len(kernel)))


def kernel_of(cells: np.ndarray) -> np.ndarray:
    """Resemblances of answered rows to each other."""
    found = [resemblance(cells, one) for one in cells.T]
    return np.stack(found) if found else np.empty((0, 0))
