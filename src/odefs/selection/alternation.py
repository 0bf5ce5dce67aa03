"""The alternation: lines 6 to 11 of the paper's Algorithm 1 for a batch of components.

The weights ``w`` are found with the detector's choices (LeSiNN's nearest references) held fixed.
Updating the choices at the new ``w`` changes scores that enter the loss with both signs, so it may
raise the objective. Each w-step is therefore evaluated by the true objective, with updated choices,
and shortened towards the old ``w`` until that does not rise. The trace holds the true objective.
Components that have converged leave the batch.

The true objective has its minima where two references are equally near, and no gradient vanishes
there. Learning to convergence therefore ends with the choices held fixed (:func:`_finish`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from odefs.selection.objective import RankingObjective
from odefs.selection.pacing import Pace, Pacing, everyone
from odefs.selection.solvers import Solver

Linearise = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From component numbers and weights to their ``G``, linearised under those weights."""

MAX_ROUNDS = 30
MAX_HALVINGS = 8

EARLY_STOPPING = 1e-5
"""Tolerances from here on stop early; smaller ones learn until the optimality conditions hold.

Those also need rows in float64: rounded to float32, equal distances differ by more than the
tolerance of ties, and rounding would choose the references.
"""


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Result of one component's alternation.

    ``trace`` is the true objective after each round, with the choices held fixed in the last entry
    if the weights were learned to convergence; ``loss`` is its last value. ``gap`` is what each
    column adds to the mean score of the kept examples above that of unlabelled rows:
    ``w_k (mean G*_k - mean G_k)``. ``chosen_at`` are the weights of the choices in ``loss``;
    zero stands for equal weights.
    """

    w: np.ndarray
    gap: np.ndarray
    v: np.ndarray
    lam: float
    loss: float
    trace: tuple[float, ...]
    n_steps: int
    converged: bool
    chosen_at: np.ndarray


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
    # Not 1: from there the solver stays near 1 and selects nothing.
    w = np.zeros((n, start.G.shape[2]))
    point = _Point(np.arange(n), w, start, start.example_losses(w))
    # Line 6: w0 with every example.
    point, n_steps = _weight_step(
        point, linearise, everyone(point.example_losses), solver, tol, max_steps
    )
    # Lines 8 and 9. In the loop they follow line 10 and serve the next round.
    pace = pacing.first(point.example_losses)
    last = point.value(pace)
    traces: list[list[float]] = [[value] for value in last.tolist()]
    learned: dict[int, LearnedWeights] = {}
    for round_ in range(1, MAX_ROUNDS + 1):
        point, steps = _weight_step(point, linearise, pace, solver, tol, max_steps)
        n_steps = n_steps + steps
        pace = pacing.next(point.example_losses, pace)
        now = point.value(pace)
        extend_traces(traces, point.who, now.tolist())
        # Relative to at least 1, since the objective is a difference of losses and age that may be
        # near 0.
        converged = pace.settled & (last - now <= tol * np.maximum(1.0, np.abs(now)))
        # Components that reach the last round leave as they are, with converged = False.
        leaving = converged if round_ < MAX_ROUNDS else np.ones_like(converged)
        final = _Final(point, pace, n_steps, converged, point.w).of(np.flatnonzero(leaving))
        if final.who.size and tol < EARLY_STOPPING:
            final = _finish(final, solver, pacing, tol, max_steps)
            extend_traces(traces, final.who, final.point.value(final.pace).tolist())
        for k, i in enumerate(final.who.tolist()):
            learned[i] = _outcome(final, k, traces[i])
        stay = np.flatnonzero(~leaving)
        if not stay.size:
            break
        last = now
        if final.who.size:
            point, pace, n_steps, last = point.of(stay), pace.of(stay), n_steps[stay], last[stay]
    return [learned[i] for i in range(n)]


def extend_traces(traces: list[list[float]], who: np.ndarray, values: list[float]) -> None:
    """Append a value of the objective to the trace of each of these components."""
    for i, value in zip(who.tolist(), values, strict=True):
        traces[i].append(value)


@dataclass(frozen=True, eq=False)
class _Final:
    """Components at the end of their alternation, and the weights of their last choices."""

    point: _Point
    pace: Pace
    n_steps: np.ndarray
    converged: np.ndarray
    chosen_at: np.ndarray

    @property
    def who(self) -> np.ndarray:
        return self.point.who

    def of(self, which: np.ndarray) -> "_Final":
        if which.size == self.who.size:
            return self
        return _Final(
            self.point.of(which),
            self.pace.of(which),
            self.n_steps[which],
            self.converged[which],
            self.chosen_at[which],
        )


def _finish(final: _Final, solver: Solver, pacing: Pacing, tol: float, max_steps: int) -> _Final:
    """Alternate with the choices held fixed until the optimality conditions hold.

    The objective is smooth then, and the paper's proof of convergence applies. A component that
    has finished is left as it is by further rounds, whichever others need them.
    """
    point, pace, n_steps = final.point, final.pace, final.n_steps
    for _ in range(MAX_ROUNDS):
        solution = solver(point.objective, pace.v, point.w, tol, max_steps)
        losses = point.objective.example_losses(solution.w)
        point = _Point(point.who, solution.w, point.objective, losses)
        following = pacing.next(losses, pace)
        n_steps = n_steps + solution.n_steps
        converged = (solution.violation <= tol) & (following.v == pace.v).all(axis=1)
        pace = following
        if converged.all():
            break
    return _Final(point, pace, n_steps, converged, final.chosen_at)


def _outcome(final: _Final, k: int, trace: list[float]) -> LearnedWeights:
    """The result of component ``k`` of those that have finished."""
    point, pace = final.point, final.pace
    w, v, G, n_outliers = point.w[k], pace.v[k], point.objective.G[k], point.objective.n_outliers
    # v is never all 0 (examples_below).
    gap = w * ((v / v.sum()) @ G[:n_outliers] - G[n_outliers:].mean(axis=0))
    # Copies: a view would keep the arrays of all components.
    return LearnedWeights(
        w.copy(),
        gap,
        v.copy(),
        float(pace.lam[k]),
        trace[-1],
        tuple(trace),
        int(final.n_steps[k]),
        bool(final.converged[k]),
        final.chosen_at[k].copy(),
    )


def _weight_step(
    point: _Point, linearise: Linearise, pace: Pace, solver: Solver, tol: float, max_steps: int
) -> tuple[_Point, np.ndarray]:
    """Minimise over ``w``, then backtrack to the old ``w`` until the objective is no higher."""
    now = point.value(pace)
    solution = solver(point.objective, pace.v, point.w, tol, max_steps)
    trial = solution.w
    # A component whose weights did not move needs no new choices of references.
    pending = np.flatnonzero((trial != point.w).any(axis=1))
    for _ in range(MAX_HALVINGS):
        if not pending.size:
            break
        at = _at(point, pending, trial[pending], linearise)
        falls = at.value(pace.of(pending)) <= now[pending]
        point = _replaced(point, pending[falls], at, falls)
        pending = pending[~falls]
        # After MAX_HALVINGS a component keeps its old weights, so that the objective never
        # increases.
        trial[pending] = (trial[pending] + point.w[pending]) / 2
    return point, solution.n_steps


def _at(point: _Point, which: np.ndarray, w: np.ndarray, linearise: Linearise) -> _Point:
    """The point of some components at other weights; zero weights count as equal weights."""
    who, objective = point.who[which], point.objective
    # Under w = 0 all distances are 0, and no reference would be the nearest.
    G = linearise(who, np.where(w.any(axis=1, keepdims=True), w, 1.0))
    objective = replace(objective, G=G)
    return _Point(who, w, objective, objective.example_losses(w))


def _replaced(point: _Point, places: np.ndarray, other: _Point, chosen: np.ndarray) -> _Point:
    """The point with the ``chosen`` components of another one at some places."""
    if places.size == point.who.size:
        return other
    if not places.size:
        return point
    w, G, losses = (part.copy() for part in (point.w, point.objective.G, point.example_losses))
    w[places], losses[places] = other.w[chosen], other.example_losses[chosen]
    # One component at a time: G[places] = other.G[chosen] would first copy all chosen ones.
    for place, k in zip(places, np.flatnonzero(chosen), strict=True):
        G[place] = other.objective.G[k]
    return _Point(point.who, w, replace(point.objective, G=G), losses)


def select_columns(w: np.ndarray, min_weight: float) -> np.ndarray:
    """The subset rule (Eq. 10): columns above a share of the largest weight.

    ``F = {k : w_k / max(w) > min_weight}``, ascending; all columns if ``w = 0``.
    """
    top = float(w.max(initial=0.0))
    if top <= 0.0:
        return np.arange(w.size)
    return np.flatnonzero(w / top > min_weight)
