"""The surrogates of :mod:`odefs.selection.losses` for batches of pairs."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


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
