"""Self-pacing (:mod:`odefs.selection.pacing`) for a batch of components."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from odefs.selection.pacing import TIE, Classic


@dataclass(frozen=True)
class BatchPace:
    """Age, example weights, convergence and step of the age of each component."""

    lam: Tensor
    v: Tensor
    settled: Tensor
    step: Tensor

    def of(self, which: Tensor) -> "BatchPace":
        return BatchPace(self.lam[which], self.v[which], self.settled[which], self.step[which])


@dataclass(frozen=True)
class BatchPacing:
    """Functions for the first pace (from the losses) and the next (from losses and last pace)."""

    first: Callable[[Tensor], BatchPace]
    next: Callable[[Tensor, BatchPace], BatchPace]


def everyone(losses: Tensor) -> BatchPace:
    """Every example counts."""
    none = torch.zeros(losses.shape[0], dtype=losses.dtype, device=losses.device)
    return BatchPace(none, torch.ones_like(losses), none == 0, none)


def batch_pacing_for(self_paced: bool | str) -> BatchPacing:
    """The pacing for the estimator's parameter ``self_paced``."""
    if self_paced == "classic":
        return BatchPacing(_first_classic, _next_classic)
    if self_paced:
        return BatchPacing(
            lambda losses: _thresholded(losses, _mean_and_std(losses)), _next_thresholded
        )
    return BatchPacing(everyone, lambda losses, previous: previous)


def _below(losses: Tensor, lam: Tensor) -> Tensor:
    v = (losses < (lam + TIE * lam.abs().clamp(min=1.0))[:, None]).to(losses.dtype)
    return torch.where((v != 0).any(dim=1, keepdim=True), v, 1.0)


def _mean_and_std(losses: Tensor) -> Tensor:
    # correction=0 as in NumPy: the age of both engines must be the same.
    return losses.mean(dim=1) + losses.std(dim=1, correction=0)


def _thresholded(losses: Tensor, lam: Tensor) -> BatchPace:
    settled = torch.ones(lam.shape, dtype=torch.bool, device=lam.device)
    return BatchPace(lam, _below(losses, lam), settled, torch.zeros_like(lam))


def _next_thresholded(losses: Tensor, previous: BatchPace) -> BatchPace:
    return _thresholded(losses, torch.maximum(previous.lam, _mean_and_std(losses)))


def _first_classic(losses: Tensor) -> BatchPace:
    ordered = losses.sort(dim=1).values
    # torch.median returns the lower of two middle values, numpy.median their mean.
    middle = losses.shape[1] // 2
    lam = (
        ordered[:, middle]
        if losses.shape[1] % 2
        else (ordered[:, middle - 1] + ordered[:, middle]) / 2
    )
    step = ((ordered[:, -1] - lam) / 4).clamp(min=Classic.smallest_step)
    v = _below(losses, lam)
    return BatchPace(lam, v, (v != 0).all(dim=1), step)


def _next_classic(losses: Tensor, previous: BatchPace) -> BatchPace:
    lam = torch.where(previous.settled, previous.lam, previous.lam + previous.step)
    v = torch.where(previous.settled[:, None], 1.0, _below(losses, lam))
    return BatchPace(lam, v, previous.settled | (v != 0).all(dim=1), previous.step)
