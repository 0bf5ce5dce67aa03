"""The proximal solver of :mod:`odefs.selection.solvers` for a batch in lockstep.

Each iteration tries one step of every unfinished component, which accepts it or shortens the step
as it would alone. Once half of a batch is finished, the others continue in a smaller one.
"""

import torch
from torch import Tensor

from odefs.engines.torch.objective import BatchObjective
from odefs.selection.solvers import SUFFICIENT


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
    done = (_violation(w, gradient, l1) <= tol) | (n_steps >= max_steps)
    while True:
        n_left = int((~done).sum())
        if n_left == 0:
            found[who], steps_taken[who] = w, n_steps
            return found, steps_taken
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
        at_rest = accepted & ((_violation(w, gradient, l1) <= tol) | (n_steps >= max_steps))
        done = done | at_rest | (squared == 0) | (rejected & (step < 1e-16))


def _violation(w: Tensor, gradient: Tensor, l1: float) -> Tensor:
    """Largest first-order violation (:func:`odefs.selection.objective.optimality_violation`)."""
    slope = gradient + l1
    return torch.where(w > 0, slope.abs(), (-slope).clamp(min=0)).amax(dim=1)
