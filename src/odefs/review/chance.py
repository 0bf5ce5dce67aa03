"""The chance that the next row of a review is an outlier.

A logistic regression on the posterior mean and variance of the row and on the rate of recent
answers. Its coefficients were fitted to reviews of half of 25 datasets and checked on the other
half; ``python -m benchmarks review`` prints how often it was right.
"""

from collections.abc import Sequence

import numpy as np

from odefs.answers.posterior import posterior_variance

INTERCEPT, OF_MEAN, OF_VARIANCE, OF_RATE = -0.56, 1.98, -0.99, 0.63

MEMORY = 0.9
"""Weight of an answer relative to that of the next one."""

PRIOR_HITS, PRIOR_LOOKS = 0.3, 1.0
SMOOTHING = 0.05


def chance_of_outlier(
    value: float,
    targets: dict[bool, float],
    kernel: np.ndarray,
    to_row: np.ndarray,
    answers: Sequence[bool],
) -> float:
    """The chance, given the row's posterior mean and its resemblances to answered rows."""
    span = targets[True] - targets[False]
    place = float(np.clip((value - targets[False]) / span, 0.0, 1.5)) if span > 0 else 0.0
    hits, looks = PRIOR_HITS, PRIOR_LOOKS
    for answer in answers:
        hits, looks = MEMORY * hits + answer, MEMORY * looks + 1
    rate = np.log((hits + SMOOTHING) / (looks - hits + SMOOTHING))
    variance = posterior_variance(kernel, to_row)
    odds = INTERCEPT + OF_MEAN * place + OF_VARIANCE * variance + OF_RATE * rate
    return float(1 / (1 + np.exp(-odds)))
