"""What a solver returns."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, steps taken, and the first-order violation that is left, of each component."""

    w: np.ndarray
    n_steps: np.ndarray
    violation: np.ndarray
