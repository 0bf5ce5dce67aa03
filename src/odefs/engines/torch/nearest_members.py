"""Nearest reference of each subset, and mean squares to these, for a batch of components.

The float64 device version of :mod:`odefs.kernels.nearest_members`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from odefs.kernels.nearest_members import TIE


@dataclass(frozen=True)
class Examples:
    """Rows ``x`` and references ``r`` of each component, shifted to keep digits of products."""

    x: Tensor
    r: Tensor
    top: Tensor
    """Largest value of each column of the references.

    A column of 0 and ``top`` only is not shifted: its squares are ``top * r``.
    """
    squares: Tensor | None
    """``r^2``, if there are other columns."""
    n_subsets: int

    def of(self, which: Tensor) -> "Examples":
        squares = None if self.squares is None else self.squares[which]
        return Examples(self.x[which], self.r[which], self.top[which], squares, self.n_subsets)


def lay_out(rows: Tensor, references: Tensor, n_subsets: int) -> Examples:
    """Examples from scaled rows ``(components, rows, columns)`` and member-major references.

    Both are float64.
    """
    top = references.amax(dim=1, keepdim=True)
    two_valued = ((references == 0) | (references == top)).all(dim=1, keepdim=True)
    if bool(two_valued.all()):
        return Examples(rows, references, top, None, n_subsets)
    centre = torch.where(two_valued, 0.0, references.mean(dim=1, keepdim=True))
    r = references - centre
    return Examples(rows - centre, r, top, r.square(), n_subsets)


def mean_squares(examples: Examples, w: Tensor) -> Tensor:
    """``G``: ``1/c sum_i (x_k - r_ik)^2`` with ``r_i`` the nearest of subset ``i`` under ``w``."""
    x, r = examples.x, examples.r
    A = _choices(examples, w)
    mean = torch.bmm(A, r).div_(examples.n_subsets)
    if examples.squares is None:
        mean_square = mean * examples.top
    else:
        mean_square = torch.bmm(A, examples.squares).div_(examples.n_subsets)
    return mean.mul_(-2.0).add_(x).mul_(x).add_(mean_square).clamp_(min=0)


def _choices(examples: Examples, w: Tensor) -> Tensor:
    """1 where a reference is the nearest of its subset, ``(components, rows, references)``."""
    root = w.sqrt().unsqueeze(1)
    chosen, _ = first_nearest(examples.x * root, examples.r * root, examples.n_subsets)
    return chosen.flatten(2).to(w.dtype)


def first_nearest(x: Tensor, r: Tensor, n_subsets: int) -> tuple[Tensor, Tensor]:
    """Which member is the nearest of its subset, and the smallest square less ``|x|^2``.

    The mask has the shape ``(components, rows, members, subsets)``; ties go to the first member.
    """
    norms = r.square().sum(dim=2)
    # |x|^2 is the same for all references of a row and does not affect their order.
    distances = torch.baddbmm(norms.unsqueeze(1), x, r.transpose(1, 2), alpha=-2.0)
    slack = TIE * (x.square().sum(dim=2) + norms.amax(dim=1, keepdim=True))
    planes = distances.view(*distances.shape[:2], -1, n_subsets)
    smallest = planes.amin(dim=2)
    chosen = planes <= (smallest + slack.unsqueeze(2)).unsqueeze(2)
    taken = chosen[:, :, 0].clone()
    for p in range(1, chosen.shape[2]):
        plane = chosen[:, :, p]
        plane &= ~taken
        taken |= plane
    return chosen, smallest
