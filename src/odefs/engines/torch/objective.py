"""The ranking objective of :mod:`odefs.selection.objective` for a batch of components.

All have the same number of examples. ``G`` is ``(components, examples, columns)`` with the outlier
examples first, ``w`` is ``(components, columns)``, ``v`` is ``(components, outlier examples)``.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from odefs.engines.torch.losses import PairLoss


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
