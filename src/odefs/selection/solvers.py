"""Solvers of the w-step ``min_{w >= 0} 1/m* sum_i v_i L_i(w) + theta |w|_1``.

A solver is a function ``(objective, v, start, tol, max_steps) -> Solution``. Components are the
first axis of all arrays; each stops when its first-order violation falls below ``tol``, and gets
the bits it would get alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from odefs.selection.objective import (
    RankingObjective,
    optimality_violation,
    penalty_prox,
    penalty_value,
)


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, number of steps and remaining first-order violation of each component."""

    w: np.ndarray
    n_steps: np.ndarray
    violation: np.ndarray


SUFFICIENT = 1e-4
"""Share of the predicted decrease that a step must achieve.

The usual small constant of line searches: the long steps of Barzilai and Borwein are rejected only
if they hardly help.
"""


def solve_proximal(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> Solution:
    """Proximal gradient with Barzilai-Borwein steps and backtracking, in lockstep.

    The objective decreases at every step, even for losses that are not convex, so the iterates
    cannot diverge. Each iteration tries one step of every unfinished component, which accepts it or
    shortens the step as it would alone. Once half of a batch is finished, the others continue in a
    smaller one.
    """
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
        # All of the batch is stored here; members that continue are stored again when they finish.
        # Leaving out each finished component at once would copy G too often.
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
        # Where the curvature along the move is not positive, that formula gives no step. A longer
        # one is tried, and shortened if it does not help.
        longer = np.where(
            curvature > 0, squared / np.where(curvature > 0, curvature, 1.0), 4 * step
        )
        # Components go on by masks, not by separate loops: each gets the numbers it would get
        # alone.
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
        # A step below 1e-16 no longer changes weights of about 1 in float64.
        done = done | at_rest | (squared == 0) | (rejected & (step < 1e-16))


def _first_steps(gradient: np.ndarray) -> np.ndarray:
    """Steps for a first move of length one."""
    norm = np.sqrt((gradient * gradient).sum(axis=1))
    return np.where(norm > 0, 1.0 / np.where(norm > 0, norm, 1.0), 1.0)


def solve_lbfgs(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> Solution:
    """SciPy's L-BFGS-B: on ``w >= 0`` the penalty is linear and the w-step is smooth.

    SciPy solves one problem at a time, so components are solved one after the other.
    """
    found = [
        _solve_one(replace(objective, G=G), v_one, w, tol, max_steps)
        for G, v_one, w in zip(objective.G, v, start, strict=True)
    ]
    return Solution(*(np.stack(part) for part in zip(*found, strict=True)))


def _solve_one(
    objective: RankingObjective, v: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective.smooth_value_and_gradient(w, v)
        return float(value) + objective.l1 * float(w.sum()), gradient + objective.l1

    # Imported here: it takes long, and the default solver does not need it.
    from scipy.optimize import Bounds, minimize

    found = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0.0, np.inf),
        options={
            "maxiter": max_steps,
            "maxfun": 4 * max_steps,
            "gtol": tol,
            # Stop by the gradient only, as the proximal solver does.
            "ftol": 0.0,
            "maxcor": 20,
        },
    )
    w = np.maximum(found.x, 0.0)
    # SciPy reports the gradient of its own last point; the violation is that of the weights
    # returned.
    _, gradient = objective.smooth_value_and_gradient(w, v)
    return w, np.asarray(found.nit), optimality_violation(w, gradient, objective.l1)


Solver = Callable[[RankingObjective, np.ndarray, np.ndarray, float, int], Solution]

SOLVERS: dict[str, Solver] = {"proximal": solve_proximal, "lbfgs": solve_lbfgs}
