"""The ranking objective with its losses and proximal solver, for a batch of components in lockstep.

These are the device versions of :mod:`odefs.selection.objective`, :mod:`odefs.selection.losses` and
:mod:`odefs.selection.solvers`. All components have the same number of examples. ``G`` is
``(components, examples, columns)`` with the outlier examples first, ``w`` is ``(components,
columns)``, ``v`` is ``(components, outlier examples)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from odefs.selection.solvers import SUFFICIENT


@dataclass(frozen=True)
class PairLoss:
    """``h(z)`` and ``h'(z)``; the slope also receives the value, from which some compute it."""

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]


def _logistic(z: Tensor) -> Tensor:
    # softplus would drop values below e^-20.
    return torch.logaddexp(torch.zeros((), dtype=z.dtype, device=z.device), -z)


PAIR_LOSSES = {
    "sigmoid": PairLoss(lambda z: torch.sigmoid(-z), lambda z, p: p * (p - 1)),
    "logistic": PairLoss(_logistic, lambda z, _: -torch.sigmoid(-z)),
    "hinge": PairLoss(
        lambda z: 0.5 * (1 - z).clamp(min=0) ** 2, lambda z, _: -(1 - z).clamp(min=0)
    ),
}


@dataclass(frozen=True)
class BatchObjective:
    """The parameters that all components share."""

    n_outliers: int
    loss: PairLoss
    l1: float

    def margins(self, G: Tensor, w: Tensor) -> Tensor:
        """``G*_i . w - G_j . w`` of all pairs."""
        s = torch.bmm(G, w.unsqueeze(2)).squeeze(2)
        return s[:, : self.n_outliers, None] - s[:, None, self.n_outliers :]

    def example_losses(self, G: Tensor, w: Tensor) -> Tensor:
        return self.loss.value(self.margins(G, w)).mean(dim=2)

    def total(self, example_losses: Tensor, w: Tensor, v: Tensor, lam: Tensor) -> Tensor:
        return (v * (example_losses - lam[:, None])).sum(dim=1) / v.shape[1] + self.l1 * w.sum(
            dim=1
        )

    def smooth(self, G: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Value and gradient without penalty and age."""
        z = self.margins(G, w)
        values = self.loss.value(z)
        value = (v * values.mean(dim=2)).sum(dim=1) / v.shape[1]
        slopes = self.loss.slope(z, values)
        pull = torch.cat(
            [v * slopes.sum(dim=2), -torch.bmm(v.unsqueeze(1), slopes).squeeze(1)], dim=1
        )
        gradient = torch.bmm(pull.unsqueeze(1), G).squeeze(1)
        return value, gradient / (z.shape[1] * z.shape[2])


def solve_batch(
    objective: BatchObjective, G: Tensor, v: Tensor, start: Tensor, tol: float, max_steps: int
) -> tuple[Tensor, Tensor]:
    """Minimise over the weights; returns the weights and the number of steps of each component."""
    l1 = objective.l1
    found, steps_taken = (
        start.clone(),
        torch.zeros(start.shape[0], dtype=torch.int64, device=start.device),
    )
    who = torch.arange(start.shape[0], device=start.device)
    w, n_steps = start, steps_taken.clone()
    value, gradient = objective.smooth(G, w, v)
    norm = gradient.square().sum(dim=1).sqrt()
    step = torch.where(norm > 0, 1 / norm, 1.0)
    done = (violation_of(w, gradient, l1) <= tol) | (n_steps >= max_steps)
    while True:
        # The only synchronisation with the device in a step.
        n_left = int((~done).sum())
        if n_left == 0:
            found[who], steps_taken[who] = w, n_steps
            return found, steps_taken
        # As in solve_proximal: selecting the unfinished components copies G.
        if 2 * n_left <= done.shape[0]:
            found[who], steps_taken[who] = w, n_steps
            left = torch.nonzero(~done).squeeze(1)
            who, w, n_steps, value, gradient, step, done, G, v = (
                part[left] for part in (who, w, n_steps, value, gradient, step, done, G, v)
            )
        trial = (w - step[:, None] * gradient - (step * l1)[:, None]).clamp(min=0)
        move = trial - w
        squared = move.square().sum(dim=1)
        trial_value, trial_gradient = objective.smooth(G, trial, v)
        # The penalty is linear here, so the whole objective is smooth along the move.
        fall = value - trial_value - l1 * move.sum(dim=1)
        moves = (squared != 0) & ~done
        accepted = moves & (fall >= SUFFICIENT * squared / (2 * step))
        rejected = moves & ~accepted
        curvature = (move * (trial_gradient - gradient)).sum(dim=1)
        longer = torch.where(curvature > 0, squared / curvature, 4 * step).clamp(1e-12, 1e12)
        step = torch.where(accepted, longer, torch.where(rejected, step / 4, step))
        w = torch.where(accepted[:, None], trial, w)
        value = torch.where(accepted, trial_value, value)
        gradient = torch.where(accepted[:, None], trial_gradient, gradient)
        n_steps = n_steps + accepted
        at_rest = accepted & ((violation_of(w, gradient, l1) <= tol) | (n_steps >= max_steps))
        done = done | at_rest | (squared == 0) | (rejected & (step < 1e-16))


def violation_of(w: Tensor, gradient: Tensor, l1: float) -> Tensor:
    """Largest first-order violation (:func:`odefs.selection.objective.optimality_violation`)."""
    slope = gradient + l1
    return torch.where(w > 0, slope.abs(), (-slope).clamp(min=0)).amax(dim=1)
