"""The alternation of one component: lines 6 to 11 of the paper's Algorithm 1.

The weights ``w`` are found with the detector's choices (LeSiNN's nearest references) held fixed. Re-finding them at the new ``w`` changes scores that
enter the loss with both signs, so it may raise the objective. Each w-step is therefore judged by the true objective, with the
choices found anew, and shortened towards the old ``w`` until that does not rise. The trace holds the true objective.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefs.selection.losses import Loss
from odefs.selection.objective import RankingObjective
from odefs.selection.pacing import Pace, Pacing
from odefs.selection.solvers import Solver

Linearise = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From weights to ``(G*, G)``, the linearised outlier examples and unlabelled rows under those weights."""

MAX_ROUNDS = 30
MAX_HALVINGS = 8


@dataclass(frozen=True, eq=False)
class Learned:
    """Outcome of the alternation; ``trace`` is the true objective after each round and ``loss`` its last value.

    ``gap`` is what each column adds to the mean score of the kept examples above that of unlabelled rows: ``w_k (mean G*_k - mean G_k)``.
    """

    w: np.ndarray
    gap: np.ndarray
    v: np.ndarray
    lam: float
    loss: float
    trace: tuple[float, ...]
    n_steps: int
    converged: bool


def alternate(
    linearise: Linearise,
    n_columns: int,
    loss: Loss,
    l1: float,
    solver: Solver,
    pacing: Pacing,
    tol: float,
    max_steps: int,
) -> Learned:
    """Alternate between age, example weights and feature weights until the objective stops falling."""
    ones = np.ones(n_columns)

    def objective_at(w: np.ndarray) -> RankingObjective:
        return RankingObjective(*linearise(w if w.any() else ones), loss, l1)

    w = np.zeros(n_columns)
    objective = objective_at(w)
    point = _Point(w, objective, objective.example_losses(w))
    everyone = Pace(0.0, np.ones(objective.G_outlier.shape[0]))
    point, n_steps = _weight_step(point, objective_at, everyone, solver, tol, max_steps)
    pace = pacing.first(point.example_losses)
    trace = [point.value(pace)]
    converged = False
    while len(trace) <= MAX_ROUNDS and not converged:
        point, steps = _weight_step(point, objective_at, pace, solver, tol, max_steps)
        n_steps += steps
        pace = pacing.next(point.example_losses, pace)
        trace.append(point.value(pace))
        converged = pace.settled and trace[-2] - trace[-1] <= tol * max(1.0, abs(trace[-1]))
    w, objective = point.w, point.objective
    kept = pace.v / pace.v.sum()
    gap = w * (kept @ objective.G_outlier - objective.G_unlabeled.mean(axis=0))
    return Learned(w, gap, pace.v, pace.lam, trace[-1], tuple(trace), n_steps, converged)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights, the objective with the detector's choices found at them, and the examples' losses there."""

    w: np.ndarray
    objective: RankingObjective
    example_losses: np.ndarray

    def value(self, pace: Pace) -> float:
        return self.objective.total(self.example_losses, self.w, pace.v, pace.lam)


def _weight_step(
    point: _Point,
    objective_at: Callable[[np.ndarray], RankingObjective],
    pace: Pace,
    solver: Solver,
    tol: float,
    max_steps: int,
) -> tuple[_Point, int]:
    """Minimise over ``w``, then go back towards the old ``w`` until the true objective has not risen."""
    now = point.value(pace)
    solution = solver(point.objective, pace.v, point.w, tol, max_steps)
    if np.array_equal(solution.w, point.w):
        return point, solution.n_steps
    trial = solution.w
    for _ in range(MAX_HALVINGS):
        objective = objective_at(trial)
        at_trial = _Point(trial, objective, objective.example_losses(trial))
        if at_trial.value(pace) <= now:
            return at_trial, solution.n_steps
        trial = (trial + point.w) / 2
    return point, solution.n_steps
