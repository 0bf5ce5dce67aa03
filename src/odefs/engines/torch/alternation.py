"""The alternation of :mod:`odefs.selection.alternation` for a batch of components in lockstep.

Components that have converged leave the batch.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from odefs.engines.torch.nearest_members import Examples, mean_squares
from odefs.engines.torch.objective import PAIR_LOSSES, BatchObjective, solve_batch, violation_of
from odefs.engines.torch.pacing import BatchPace, BatchPacing, batch_pacing_for, everyone
from odefs.ensemble.plan import Plan
from odefs.selection.alternation import (
    EARLY_STOPPING,
    MAX_HALVINGS,
    MAX_ROUNDS,
    LearnedWeights,
    extend_traces,
)


@dataclass(frozen=True)
class Batch:
    """What a batch of components learns from; ``scale`` multiplies their scores in the loss."""

    examples: Examples
    scale: Tensor
    objective: BatchObjective

    def linearised(self, w: Tensor) -> Tensor:
        """``G`` with the nearest references under ``w``, or under equal weights where ``w = 0``."""
        nothing = ~(w != 0).any(dim=1, keepdim=True)
        return mean_squares(self.examples, torch.where(nothing, 1.0, w)).mul_(
            self.scale[:, None, None]
        )

    def of(self, which: Tensor) -> "Batch":
        if which.shape[0] == self.scale.shape[0]:
            return self
        return Batch(self.examples.of(which), self.scale[which], self.objective)


@dataclass(frozen=True)
class Point:
    """Weights, ``G`` at these weights, and the examples' losses."""

    w: Tensor
    G: Tensor
    losses: Tensor

    def of(self, which: Tensor) -> "Point":
        return Point(self.w[which], self.G[which], self.losses[which])


def learn_batch(examples: Examples, n_outliers: int, plan: Plan) -> list[LearnedWeights]:
    """Learn the weights of all components."""
    n, _, n_columns = examples.x.shape
    objective = BatchObjective(n_outliers, PAIR_LOSSES[plan.loss], plan.l1)
    scale = examples.x.new_ones(n)
    w = examples.x.new_zeros((n, n_columns))
    G = Batch(examples, scale, objective).linearised(w)
    if plan.standardize_scores:
        # correction=0 is NumPy's default; torch divides by n - 1 otherwise.
        spread = G.sum(dim=2).std(dim=1, correction=0)
        scale = torch.where(spread > 0, 1 / spread, 1.0)
        G *= scale[:, None, None]
    return _alternate(
        Batch(examples, scale, objective), Point(w, G, objective.example_losses(G, w)), plan
    )


def _alternate(batch: Batch, point: Point, plan: Plan) -> list[LearnedWeights]:
    """Alternate age, example weights and feature weights until the objective stops decreasing."""
    objective, pacing = batch.objective, batch_pacing_for(plan.self_paced)
    point, n_steps = _weight_step(batch, point, everyone(point.losses), plan)
    pace = pacing.first(point.losses)
    last = objective.total(point.losses, point.w, pace.v, pace.lam)
    n = last.shape[0]
    traces: list[list[float]] = [[value] for value in last.tolist()]
    learned: list[LearnedWeights | None] = [None] * n
    who = np.arange(n)
    for round_ in range(1, MAX_ROUNDS + 1):
        point, steps = _weight_step(batch, point, pace, plan)
        n_steps = n_steps + steps
        pace = pacing.next(point.losses, pace)
        now = objective.total(point.losses, point.w, pace.v, pace.lam)
        extend_traces(traces, who, now.tolist())
        converged = pace.settled & (last - now <= plan.tol * now.abs().clamp(min=1.0))
        last = now
        leaving = converged if round_ < MAX_ROUNDS else torch.ones_like(converged)
        if not bool(leaving.any()):
            continue
        gone = torch.nonzero(leaving).squeeze(1)
        places = who[gone.cpu().numpy()]
        final = Final(point.of(gone), pace.of(gone), n_steps[gone], converged[gone], point.w[gone])
        if plan.tol < EARLY_STOPPING:
            final = _finish(objective, final, pacing, plan)
            extend_traces(traces, places, final.value(objective).tolist())
        for i, one in zip(places, _collect(final, traces, places), strict=True):
            learned[i] = one
        stay = torch.nonzero(~leaving).squeeze(1)
        if not stay.shape[0]:
            break
        who = who[stay.cpu().numpy()]
        batch, point, pace, n_steps, last = (
            batch.of(stay),
            point.of(stay),
            pace.of(stay),
            n_steps[stay],
            last[stay],
        )
    return [one for one in learned if one is not None]


def _weight_step(batch: Batch, point: Point, pace: BatchPace, plan: Plan) -> tuple[Point, Tensor]:
    """Minimise over ``w``, then backtrack to the old ``w`` until the objective is no higher."""
    objective = batch.objective
    now = objective.total(point.losses, point.w, pace.v, pace.lam)
    trial, n_steps = solve_batch(objective, point.G, pace.v, point.w, plan.tol, plan.max_steps)
    pending = torch.nonzero((trial != point.w).any(dim=1)).squeeze(1)
    w, G, losses = point.w.clone(), point.G, point.losses.clone()
    for _ in range(MAX_HALVINGS):
        if not pending.shape[0]:
            break
        at = trial[pending]
        G_at = batch.of(pending).linearised(at)
        losses_at = objective.example_losses(G_at, at)
        falls = objective.total(losses_at, at, pace.v[pending], pace.lam[pending]) <= now[pending]
        accepted = pending[falls]
        if accepted.shape[0] == G.shape[0]:
            return Point(at, G_at, losses_at), n_steps
        w[accepted], losses[accepted] = at[falls], losses_at[falls]
        # Copied only when a part of the components is replaced: G is the largest array of the
        # batch.
        if G is point.G:
            G = point.G.clone()
        G[accepted] = G_at[falls]
        pending = pending[~falls]
        trial[pending] = (trial[pending] + point.w[pending]) / 2
    return Point(w, G, losses), n_steps


@dataclass(frozen=True)
class Final:
    """Components at the end of their alternation, and the weights of their last choices."""

    point: Point
    pace: BatchPace
    n_steps: Tensor
    converged: Tensor
    chosen_at: Tensor

    def value(self, objective: BatchObjective) -> Tensor:
        return objective.total(self.point.losses, self.point.w, self.pace.v, self.pace.lam)


def _finish(objective: BatchObjective, final: Final, pacing: BatchPacing, plan: Plan) -> Final:
    """Alternate with the choices held fixed until the optimality conditions hold."""
    G, w, pace, n_steps = final.point.G, final.point.w, final.pace, final.n_steps
    for _ in range(MAX_ROUNDS):
        w, steps = solve_batch(objective, G, pace.v, w, plan.tol, plan.max_steps)
        losses = objective.example_losses(G, w)
        following = pacing.next(losses, pace)
        n_steps = n_steps + steps
        violation = violation_of(w, objective.smooth(G, w, pace.v)[1], objective.l1)
        converged = (violation <= plan.tol) & (following.v == pace.v).all(dim=1)
        pace = following
        if bool(converged.all()):
            break
    return Final(Point(w, G, losses), pace, n_steps, converged, final.chosen_at)


def _collect(
    final: Final, all_traces: list[list[float]], places: np.ndarray
) -> list[LearnedWeights]:
    """Collect the results of components that have finished, at these places of all components."""
    traces = [all_traces[place] for place in places]
    point, pace = final.point, final.pace
    n_outliers = pace.v.shape[1]
    kept = pace.v / pace.v.sum(dim=1, keepdim=True)
    examples = torch.bmm(kept.unsqueeze(1), point.G[:, :n_outliers]).squeeze(1)
    gap = point.w * (examples - point.G[:, n_outliers:].mean(dim=1))
    columns = (part.cpu().numpy() for part in (point.w, gap, pace.v))
    numbers = (part.tolist() for part in (pace.lam, final.n_steps, final.converged))
    return [
        LearnedWeights(w, g, v, lam, trace[-1], tuple(trace), steps, settled, chosen_at)
        for w, g, v, trace, lam, steps, settled, chosen_at in zip(
            *columns, traces, *numbers, final.chosen_at.cpu().numpy(), strict=True
        )
    ]
