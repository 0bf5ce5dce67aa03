"""The alternation: lines 6 to 11 of the paper's Algorithm 1 for a batch of components.

The weights ``w`` are found with the detector's choices (LeSiNN's nearest references) held fixed.
Updating the choices at the new ``w`` changes scores that enter the loss with both signs, so it may
raise the objective. Each w-step is therefore evaluated by the true objective, with updated choices,
and shortened towards the old ``w`` until that does not rise. The trace holds the true objective.
Components that have converged leave the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.pacing import Pace, Pacing, everyone
from odefs.selection.solvers import Solver

Linearise = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From component numbers and weights to their ``G``, linearised under those weights."""

MAX_ROUNDS = 30
MAX_HALVINGS = 8


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Result of one component's alternation.

    ``trace`` is the true objective after each round and ``loss`` its last value. ``gap`` is what
    each column adds to the mean score of the kept examples above that of unlabelled rows:
    ``w_k (mean G*_k - mean G_k)``.
    """

    w: np.ndarray
    gap: np.ndarray
    v: np.ndarray
    lam: float
    loss: float
    trace: tuple[float, ...]
    n_steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _Point:
    """Component numbers, weights, the objective linearised at these, and the examples' losses."""

    who: np.ndarray
    w: np.ndarray
    objective: RankingObjective
    example_losses: np.ndarray

    def value(self, pace: Pace) -> np.ndarray:
        return self.objective.total(self.example_losses, self.w, pace.v, pace.lam)

    def of(self, which: np.ndarray) -> "_Point":
        return _Point(
            self.who[which], self.w[which], self.objective.of(which), self.example_losses[which]
        )


def alternate(
    linearise: Linearise,
    start: RankingObjective,
    solver: Solver,
    pacing: Pacing,
    tol: float,
    max_steps: int,
) -> list[LearnedWeights]:
    """Alternate age, example weights and feature weights until the objective stops decreasing.

    ``start`` is at equal weights.
    """
    n = start.G.shape[0]
    w = np.zeros((n, start.G.shape[2]))
    point = _Point(np.arange(n), w, start, start.example_losses(w))
    point, n_steps = _weight_step(
        point, linearise, everyone(point.example_losses), solver, tol, max_steps
    )
    pace = pacing.first(point.example_losses)
    last = point.value(pace)
    traces: list[list[float]] = [[value] for value in last.tolist()]
    learned: dict[int, LearnedWeights] = {}
    for round_ in range(1, MAX_ROUNDS + 1):
        point, steps = _weight_step(point, linearise, pace, solver, tol, max_steps)
        n_steps = n_steps + steps
        pace = pacing.next(point.example_losses, pace)
        now = point.value(pace)
        for i, value in zip(point.who, now.tolist(), strict=True):
            traces[i].append(value)
        converged = pace.settled & (last - now <= tol * np.maximum(1.0, np.abs(now)))
        leaving = converged if round_ < MAX_ROUNDS else np.ones_like(converged)
        for k in np.flatnonzero(leaving):
            i = int(point.who[k])
            learned[i] = _outcome(
                point, pace, int(k), traces[i], int(n_steps[k]), bool(converged[k])
            )
        stay = np.flatnonzero(~leaving)
        if not stay.size:
            break
        last = now
        if stay.size < leaving.size:
            point, pace, n_steps, last = point.of(stay), pace.of(stay), n_steps[stay], last[stay]
    return [learned[i] for i in range(n)]


def _outcome(
    point: _Point, pace: Pace, k: int, trace: list[float], n_steps: int, converged: bool
) -> LearnedWeights:
    """The result of component ``k`` of those at the point."""
    w, v, G, n_outliers = point.w[k], pace.v[k], point.objective.G[k], point.objective.n_outliers
    gap = w * ((v / v.sum()) @ G[:n_outliers] - G[n_outliers:].mean(axis=0))
    # Copies: a view would keep the arrays of all components.
    return LearnedWeights(
        w.copy(), gap, v.copy(), float(pace.lam[k]), trace[-1], tuple(trace), n_steps, converged
    )


def _weight_step(
    point: _Point, linearise: Linearise, pace: Pace, solver: Solver, tol: float, max_steps: int
) -> tuple[_Point, np.ndarray]:
    """Minimise over ``w``, then backtrack to the old ``w`` until the objective is no higher."""
    now = point.value(pace)
    solution = solver(point.objective, pace.v, point.w, tol, max_steps)
    trial = solution.w
    pending = np.flatnonzero((trial != point.w).any(axis=1))
    for _ in range(MAX_HALVINGS):
        if not pending.size:
            break
        at = _at(point, pending, trial[pending], linearise)
        falls = at.value(pace.of(pending)) <= now[pending]
        point = _replaced(point, pending[falls], at, falls)
        pending = pending[~falls]
        trial[pending] = (trial[pending] + point.w[pending]) / 2
    return point, solution.n_steps


def _at(point: _Point, which: np.ndarray, w: np.ndarray, linearise: Linearise) -> _Point:
    """The point of some components at other weights; zero weights count as equal weights."""
    who, objective = point.who[which], point.objective
    G = linearise(who, np.where(w.any(axis=1, keepdims=True), w, 1.0))
    objective = RankingObjective(G, objective.n_outliers, objective.loss, objective.l1)
    return _Point(who, w, objective, objective.example_losses(w))


def _replaced(point: _Point, places: np.ndarray, other: _Point, chosen: np.ndarray) -> _Point:
    """The point with the ``chosen`` components of another one at some places."""
    if places.size == point.who.size:
        return other
    if not places.size:
        return point
    w, G, losses = (part.copy() for part in (point.w, point.objective.G, point.example_losses))
    w[places], losses[places] = other.w[chosen], other.example_losses[chosen]
    for place, k in zip(places, np.flatnonzero(chosen), strict=True):
        G[place] = other.objective.G[k]
    objective = RankingObjective(
        G, point.objective.n_outliers, point.objective.loss, point.objective.l1
    )
    return _Point(point.who, w, objective, losses)


def select_columns(w: np.ndarray, min_weight: float) -> np.ndarray:
    """The subset rule (Eq. "feature_selection"): columns above a share of the largest weight.

    ``F = {k : w_k / max(w) > min_weight}``, ascending; all columns if ``w = 0``.
    """
    top = float(w.max(initial=0.0))
    if top <= 0.0:
        return np.arange(w.size)
    return np.flatnonzero(w / top > min_weight)
