"""The pairwise ranking objective of one component (the paper's Eqs. "log_loss", "final_loss" and "update_w").

With ``G*`` the linearised rows of the ``m*`` outlier examples and ``G`` those of the ``m`` unlabelled ones,

    L_i(w) = 1/m sum_j h(G*_i . w - G_j . w)
    objective = 1/m* sum_i v_i (L_i(w) - lambda) + theta |w|_1
"""

from dataclasses import dataclass

import numpy as np

from odefs.selection.losses import Loss
from odefs.selection.penalty import penalty_value


@dataclass(frozen=True, eq=False)
class RankingObjective:
    """The objective with the detector's choices held fixed."""

    G_outlier: np.ndarray
    G_unlabeled: np.ndarray
    loss: Loss
    l1: float

    def example_losses(self, w: np.ndarray) -> np.ndarray:
        """``L_i(w)`` of each outlier example."""
        return self.loss.of_pairs(self.G_outlier @ w, self.G_unlabeled @ w).mean(axis=1)

    def total(self, example_losses: np.ndarray, w: np.ndarray, v: np.ndarray, lam: float = 0.0) -> float:
        """The whole objective for given example weights and age, where the examples' losses at ``w`` are known."""
        return float(v @ (example_losses - lam) / v.size) + penalty_value(w, self.l1)

    def value(self, w: np.ndarray, v: np.ndarray, lam: float = 0.0) -> float:
        """The whole objective for given example weights and age."""
        return self.total(self.example_losses(w), w, v, lam)

    def smooth_value(self, w: np.ndarray, v: np.ndarray) -> float:
        """The objective without penalty and age: what depends smoothly on ``w``."""
        return float(v @ self.example_losses(w) / v.size)

    def smooth_value_and_gradient(self, w: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
        s_outlier, s_unlabeled = self.G_outlier @ w, self.G_unlabeled @ w
        values = self.loss.of_pairs(s_outlier, s_unlabeled)
        value = float(v @ values.mean(axis=1) / v.size)
        slopes = self.loss.slopes_of_pairs(s_outlier, s_unlabeled, values)
        gradient = (v * slopes.sum(axis=1)) @ self.G_outlier - (v @ slopes) @ self.G_unlabeled
        return value, np.asarray(gradient / slopes.size)
