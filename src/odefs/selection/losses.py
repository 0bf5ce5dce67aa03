"""Surrogate losses ``h(z)`` of a wrongly ranked pair, with the margin ``z = s(x*) - s(x)``.

A pair is wrongly ranked if the outlier example is not above the unlabelled one. The paper optimises
the sigmoid (which it calls logistic) and names hinge and logistic loss as alternatives. The sigmoid
is bounded and not convex; the other two are convex. The hinge is squared, which makes it smooth.

Scores of pairs may have a leading axis of components.
"""

from abc import ABC, abstractmethod

import numpy as np

from odefs.kernels.chunking import scratch

SAFE_RANGE = 600.0
"""Range of scores whose exponentials have finite products in float64.

Scores are centred, so that each factor is at most ``exp(300)`` and a product ``exp(600)``; float64
ends at ``exp(709)``.
"""


class Loss(ABC):
    """A non-increasing function of the margin, with its derivative."""

    @abstractmethod
    def value(self, z: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def derivative(self, z: np.ndarray) -> np.ndarray: ...

    def of_pairs(self, s_outlier: np.ndarray, s_unlabeled: np.ndarray) -> np.ndarray:
        """``h(s*_i - s_j)`` of all pairs; valid until the next call on this thread."""
        return self.value(s_outlier[..., :, None] - s_unlabeled[..., None, :])

    def slopes_of_pairs(
        self, s_outlier: np.ndarray, s_unlabeled: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """``h'(s*_i - s_j)`` of all pairs with known ``values``; valid until the next call."""
        return self.derivative(s_outlier[..., :, None] - s_unlabeled[..., None, :])


class Sigmoid(Loss):
    """``1 / (1 + exp(z))``: the share of wrongly ranked pairs, smoothed."""

    def value(self, z: np.ndarray) -> np.ndarray:
        return _expit(-z)

    def derivative(self, z: np.ndarray) -> np.ndarray:
        p = _expit(-z)
        return -p * (1 - p)

    def of_pairs(self, s_outlier: np.ndarray, s_unlabeled: np.ndarray) -> np.ndarray:
        """Use ``exp(s*_i - s_j)`` as a product: one exponential per row, not per pair."""
        low = np.minimum(s_outlier.min(axis=-1), s_unlabeled.min(axis=-1))[..., None]
        high = np.maximum(s_outlier.max(axis=-1), s_unlabeled.max(axis=-1))[..., None]
        far = high - low > SAFE_RANGE
        if far.any():
            return (
                super().of_pairs(s_outlier, s_unlabeled)
                if far.all()
                else self._of_each(s_outlier, s_unlabeled)
            )
        middle = (low + high) / 2
        # m* m numbers per component and solver step: a new array each time would cost page faults.
        p = scratch("pairs", (*s_outlier.shape, s_unlabeled.shape[-1]), s_outlier.dtype)
        np.multiply(
            np.exp(s_outlier - middle)[..., :, None],
            np.exp(middle - s_unlabeled)[..., None, :],
            out=p,
        )
        p += 1
        return np.reciprocal(p, out=p)

    def _of_each(self, s_outlier: np.ndarray, s_unlabeled: np.ndarray) -> np.ndarray:
        """Compute components separately: one must not change the bits of another."""
        return np.stack(
            # Copies, because every call returns the same buffer.
            [self.of_pairs(*one).copy() for one in zip(s_outlier, s_unlabeled, strict=True)]
        )

    def slopes_of_pairs(
        self, s_outlier: np.ndarray, s_unlabeled: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        # h' = p (p - 1). In a buffer of its own, since the product needs the values again.
        slopes = np.subtract(values, 1, out=scratch("slopes of pairs", values.shape, values.dtype))
        return np.multiply(slopes, values, out=slopes)


class Logistic(Loss):
    """``log(1 + exp(-z))``."""

    def value(self, z: np.ndarray) -> np.ndarray:
        # log(1 + exp(-z)) would overflow for large negative margins.
        return np.logaddexp(0, -z)

    def derivative(self, z: np.ndarray) -> np.ndarray:
        return -_expit(-z)


class SquaredHinge(Loss):
    """``max(0, 1 - z)^2 / 2``."""

    def value(self, z: np.ndarray) -> np.ndarray:
        return 0.5 * np.maximum(0, 1 - z) ** 2

    def derivative(self, z: np.ndarray) -> np.ndarray:
        return -np.maximum(0, 1 - z)


def _expit(z: np.ndarray) -> np.ndarray:
    """``1 / (1 + exp(-z))``; the default loss needs it only for extreme scores.

    Importing scipy.special takes a tenth of a short command.
    """
    from scipy.special import expit

    return expit(z)


LOSSES: dict[str, Loss] = {"sigmoid": Sigmoid(), "logistic": Logistic(), "hinge": SquaredHinge()}
