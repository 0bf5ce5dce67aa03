"""The penalty ``theta |w|_1`` on non-negative weights.

A weighted distance needs ``w >= 0``. There the l1 norm is the sum, so the penalty is linear on the
feasible set and its proximal operator is a shift followed by a projection. The last axis is that of
the columns, after an optional axis of components.
"""

import numpy as np


def penalty_value(w: np.ndarray, l1: float) -> np.ndarray:
    return np.asarray(l1 * w.sum(axis=-1))


def penalty_prox(u: np.ndarray, step: np.ndarray | float, l1: float) -> np.ndarray:
    """``argmin_{w >= 0} step * l1 * sum(w) + |w - u|^2 / 2``."""
    return np.maximum(u - np.asarray(step * l1)[..., None], 0.0)


def optimality_violation(w: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    """Largest first-order violation: ``g + l1 = 0`` if ``w > 0``, ``g + l1 >= 0`` if ``w = 0``."""
    slope = gradient + l1
    violation = np.where(w > 0, np.abs(slope), np.maximum(-slope, 0.0))
    return np.asarray(violation.max(axis=-1, initial=0.0))
