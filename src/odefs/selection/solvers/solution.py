"""The result of a solver."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, number of steps and remaining first-order violation of each component."""

    w: np.ndarray
    n_steps: np.ndarray
    violation: np.ndarray
