"""Surrogates ``h(z)`` for "the outlier example is not ranked above the unlabelled one", ``z = s(x*) - s(x)``.

The paper optimises the sigmoid (which it calls logistic) and names hinge and logistic loss as alternatives. The sigmoid is bounded and not
convex; the other two are convex. The hinge is squared, which makes it smooth.
"""

from typing import Protocol

import numpy as np
from scipy.special import expit


class Loss(Protocol):
    """A non-increasing function of the margin, with its derivative."""

    def value(self, z: np.ndarray) -> np.ndarray: ...

    def derivative(self, z: np.ndarray) -> np.ndarray: ...


class Sigmoid:
    """``1 / (1 + exp(z))``: the share of wrongly ranked pairs, smoothed."""

    def value(self, z: np.ndarray) -> np.ndarray:
        return expit(-z)

    def derivative(self, z: np.ndarray) -> np.ndarray:
        p = expit(-z)
        return -p * (1 - p)


class Logistic:
    """``log(1 + exp(-z))``."""

    def value(self, z: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -z)

    def derivative(self, z: np.ndarray) -> np.ndarray:
        return -expit(-z)


class SquaredHinge:
    """``max(0, 1 - z)^2 / 2``."""

    def value(self, z: np.ndarray) -> np.ndarray:
        return 0.5 * np.maximum(0, 1 - z) ** 2

    def derivative(self, z: np.ndarray) -> np.ndarray:
        return -np.maximum(0, 1 - z)


LOSSES: dict[str, Loss] = {"sigmoid": Sigmoid(), "logistic": Logistic(), "hinge": SquaredHinge()}
