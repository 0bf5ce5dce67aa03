"""Proximal gradient with Barzilai-Borwein steps and a backtracking safeguard.

The objective falls at every step, also where the loss is not convex, so the iterates cannot wander off.
"""

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.penalty import optimality_violation, penalty_prox
from odefs.selection.solvers.solution import Solution

SUFFICIENT = 1e-4
"""Share of the predicted decrease that a step must bring."""


def solve_proximal(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> Solution:
    """Minimise over ``w`` from ``start``."""
    l1 = objective.l1
    w = start
    value, gradient = objective.smooth_value_and_gradient(w, v)
    step = _first_step(gradient)
    violation = optimality_violation(w, gradient, l1)
    for n_steps in range(max_steps):
        if violation <= tol:
            return Solution(w, n_steps, violation)
        while True:
            trial = penalty_prox(w - step * gradient, step, l1)
            move = trial - w
            squared = float(move @ move)
            if squared == 0.0:
                return Solution(w, n_steps, violation)
            trial_value, trial_gradient = objective.smooth_value_and_gradient(trial, v)
            # The penalty is linear here, so the whole objective is smooth along the move.
            fall = value - trial_value - l1 * float(move.sum())
            if fall >= SUFFICIENT * squared / (2 * step):
                break
            step /= 4
            if step < 1e-16:
                return Solution(w, n_steps, violation)
        change = trial_gradient - gradient
        curvature = float(move @ change)
        w, value, gradient = trial, trial_value, trial_gradient
        # Longer steps where the objective curves down along the move: there it can only gain.
        step = squared / curvature if curvature > 0 else 4 * step
        step = min(max(step, 1e-12), 1e12)
        violation = optimality_violation(w, gradient, l1)
    return Solution(w, max_steps, violation)


def _first_step(gradient: np.ndarray) -> float:
    """A first move of length one."""
    norm = float(np.sqrt(gradient @ gradient))
    return 1.0 / norm if norm > 0 else 1.0
