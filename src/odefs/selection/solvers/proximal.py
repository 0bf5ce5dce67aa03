"""The proximal gradient solver with Barzilai-Borwein steps and backtracking, in lockstep.

The objective decreases at every step, even for losses that are not convex, so the iterates cannot
diverge. Each iteration tries one step of every unfinished component, which accepts it or shortens
the step as it would alone. Once half of a batch is finished, the others continue in a smaller one.
"""

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.penalty import optimality_violation, penalty_prox, penalty_value
from odefs.selection.solvers.solution import Solution

SUFFICIENT = 1e-4
"""Share of the predicted decrease that a step must achieve."""


def solve_proximal(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> Solution:
    """Minimise over the weights of each component from ``start``."""
    l1 = objective.l1
    found = Solution(
        start.copy(), np.zeros(start.shape[0], dtype=np.int64), np.empty(start.shape[0])
    )
    who = np.arange(start.shape[0])
    w, n_steps = start, found.n_steps.copy()
    value, gradient = objective.smooth_value_and_gradient(w, v)
    step = _first_steps(gradient)
    violation = optimality_violation(w, gradient, l1)
    done = (violation <= tol) | (n_steps >= max_steps)
    while True:
        n_left = np.count_nonzero(~done)
        if 2 * n_left <= done.size:
            found.w[who], found.n_steps[who], found.violation[who] = w, n_steps, violation
            if n_left == 0:
                return found
            left = np.flatnonzero(~done)
            who, n_steps, done, objective = who[left], n_steps[left], done[left], objective.of(left)
            w, v, value, gradient, step, violation = (
                a[left] for a in (w, v, value, gradient, step, violation)
            )
        trial = penalty_prox(w - step[:, None] * gradient, step, l1)
        move = trial - w
        squared = (move * move).sum(axis=1)
        trial_value, trial_gradient = objective.smooth_value_and_gradient(trial, v)
        # The penalty is linear here, so the whole objective is smooth along the move.
        fall = value - trial_value - penalty_value(move, l1)
        moves = (squared != 0) & ~done
        accepted = moves & (fall >= SUFFICIENT * squared / (2 * step))
        rejected = moves & ~accepted
        curvature = (move * (trial_gradient - gradient)).sum(axis=1)
        # Longer steps where the curvature along the move is negative: they can only help.
        longer = np.where(
            curvature > 0, squared / np.where(curvature > 0, curvature, 1.0), 4 * step
        )
        step = np.where(accepted, np.clip(longer, 1e-12, 1e12), np.where(rejected, step / 4, step))
        if accepted.all():
            w, value, gradient = trial, trial_value, trial_gradient
        else:
            w = np.where(accepted[:, None], trial, w)
            value = np.where(accepted, trial_value, value)
            gradient = np.where(accepted[:, None], trial_gradient, gradient)
        violation = np.where(accepted, optimality_violation(w, gradient, l1), violation)
        n_steps = n_steps + accepted
        at_rest = accepted & ((violation <= tol) | (n_steps >= max_steps))
        done = done | at_rest | (squared == 0) | (rejected & (step < 1e-16))


def _first_steps(gradient: np.ndarray) -> np.ndarray:
    """Steps for a first move of length one."""
    norm = np.sqrt((gradient * gradient).sum(axis=1))
    return np.where(norm > 0, 1.0 / np.where(norm > 0, norm, 1.0), 1.0)
