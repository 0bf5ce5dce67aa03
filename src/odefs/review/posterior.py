"""The posterior mean of a Gaussian process over the logarithms of outlier scores.

Before any answer, a row's expected value is its standardised log score. An answer is a noisy
observation: a confirmed row should score as the rows at the top of the ranking do, a rejected one
as an ordinary row. Rows that resemble an answered row (:mod:`odefs.ensemble.answers`) follow it.
"""

from dataclasses import dataclass

import numpy as np

from odefs.ensemble.answers import resemblance

AMPLITUDE = 3.0
"""Prior variance of what answers may change; log scores have variance 1."""

NOISE = 0.3
"""Variance of an answer."""

TARGET_QUANTILES = {True: 0.995, False: 0.5}
"""Where a confirmed and a rejected row should rank."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Standardised log scores, and what they were standardised with."""

    values: np.ndarray
    mean: float
    std: float
    targets: dict[bool, float]


def prior_of(scores: np.ndarray) -> Prior:
    """Standardised log scores of all rows; scores of 0 count as the lowest positive one."""
    positive = scores[scores > 0]
    lowest = float(positive.min()) if positive.size else 1.0
    logarithms = np.log(np.maximum(scores, lowest))
    mean, std = float(logarithms.mean()), float(logarithms.std())
    std = std if std > 1e-12 else 1.0
    values = (logarithms - mean) / std
    targets = {answer: float(np.quantile(values, q)) for answer, q in TARGET_QUANTILES.items()}
    return Prior(values, mean, std, targets)


def answer_gaps(prior: Prior, rows: np.ndarray, is_outlier: np.ndarray) -> np.ndarray:
    """How far answered rows are from their targets.

    A confirmed row is never lowered, and a rejected one never raised.
    """
    values = prior.values[rows]
    return np.where(
        is_outlier,
        np.maximum(0.0, prior.targets[True] - values),
        np.minimum(0.0, prior.targets[False] - values),
    )


def answer_amounts(cells: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The amount of each answer, so that the posterior mean is ``prior + sum_j a_j k(x, j)``."""
    kernel = np.stack([resemblance(cells, one) for one in cells.T])
    gram = AMPLITUDE * kernel + NOISE * np.eye(len(kernel))
    return np.asarray(AMPLITUDE * np.linalg.solve(gram, gaps))
