"""Nearest reference of each subset, and mean squares to these, for a batch of components.

The float64 device version of :mod:`odefs.kernels.nearest_members`. For column shares, components
with similar numbers of columns are grouped and padded with columns of zeros: one by one they would
leave the device idle in between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from odefs.engines.torch.device import bytes_at_once, in_parts
from odefs.ensemble.model import Component
from odefs.kernels.nearest_members import NEGLIGIBLE, SMALL, TIE


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
        # In place on a view of chosen.
        plane &= ~taken
        taken |= plane
    return chosen, smallest


EPS = float(np.finfo(np.float64).eps)
WIDEST = 1.5
"""Largest ratio of the widest to the narrowest component of a group."""


def total_shares(X: Tensor, components: Sequence[Component], root: bool) -> list[np.ndarray | None]:
    """The shares of each component's columns over scaled rows.

    ``None`` where expanded squares have too few digits.
    """
    found: list[np.ndarray | None] = [None] * len(components)

    def run(group: list[int], part: slice) -> None:
        places = group[part]
        totals, left_out = _of_group(X, [components[place] for place in places], root)
        for place, total, lost in zip(places, totals.cpu().numpy(), left_out.tolist(), strict=True):
            found[place] = None if lost > NEGLIGIBLE else total[: components[place].columns.size]

    for group in _groups(components):
        at_once = bytes_at_once(X.device) // _bytes_per_component(X.shape[0], components[group[-1]])
        in_parts(len(group), at_once, partial(run, group))
    return found


def _groups(components: Sequence[Component]) -> Iterator[list[int]]:
    """Places of components with equal references and subsets and similar widths, widest last."""

    def shape(place: int) -> tuple[int, int, int]:
        component = components[place]
        return component.state.n_subsets, component.state.rows.shape[0], component.columns.size

    group: list[int] = []
    for place in sorted(range(len(components)), key=shape):
        if group and (
            shape(place)[:2] != shape(group[0])[:2] or shape(place)[2] > WIDEST * shape(group[0])[2]
        ):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _bytes_per_component(n_rows: int, widest: Component) -> int:
    """Memory for rows and references (several copies), distances and intermediate results."""
    n_references, n_columns = widest.state.rows.shape
    return 8 * (4 * (n_rows + n_references) * n_columns + 4 * n_rows * n_references)


def _of_group(X: Tensor, components: Sequence[Component], root: bool) -> tuple[Tensor, Tensor]:
    """The shares, and how much may be missing: distances that are small relative to the norms."""
    x, r = _rows_and_references(X, components)
    n_subsets = components[0].state.n_subsets
    chosen, smallest = first_nearest(x, r, n_subsets)
    sizes = x.square().sum(dim=2, keepdim=True)
    norms = sizes + r.square().sum(dim=2).amax(dim=1)[:, None, None]
    squares = (smallest + sizes).clamp(min=0)
    certain = squares > SMALL * norms
    distances = squares.sqrt() if root else squares
    rounding = squares + 4 * EPS * norms
    lost = torch.where(certain, 0.0, rounding.sqrt() if root else rounding).sum(dim=(1, 2))
    scale = torch.where(certain, distances / torch.where(certain, squares, 1.0), 0.0)
    A = (chosen * scale.unsqueeze(2)).flatten(2)
    crossed = (r * torch.bmm(A.transpose(1, 2), x)).sum(dim=1)
    total = (
        _weighted(scale.sum(dim=2), x.square()) - 2 * crossed + _weighted(A.sum(dim=1), r.square())
    )
    return total.clamp(min=0) / n_subsets, lost / torch.where(certain, distances, 0.0).sum(
        dim=(1, 2)
    )


def _rows_and_references(X: Tensor, components: Sequence[Component]) -> tuple[Tensor, Tensor]:
    """Weighted rows and references, centred on the references' mean.

    Shape ``(components, rows, columns)`` in float64, padded with zeros.
    """
    width = max(component.columns.size for component in components)
    columns = np.zeros((len(components), width), dtype=np.int64)
    weights = np.zeros((len(components), 1, width))
    held = np.result_type(*(component.state.rows.dtype for component in components))
    rows = np.zeros((len(components), components[0].state.rows.shape[0], width), dtype=held)
    for place, component in enumerate(components):
        own = slice(component.columns.size)
        columns[place, own] = component.columns
        weights[place, 0, own] = 1.0 if component.w is None else np.sqrt(component.w)
        rows[place, :, own] = component.state.rows
    # Padding repeats column 0 with weight 0, which adds nothing to distances and shares.
    roots = torch.from_numpy(weights).to(X.device)
    x = X[:, torch.from_numpy(columns).to(X.device)].transpose(0, 1).to(torch.float64) * roots
    r = torch.from_numpy(rows).to(X.device).to(torch.float64) * roots
    centre = r.mean(dim=1, keepdim=True)
    return x - centre, r - centre


def _weighted(weights: Tensor, values: Tensor) -> Tensor:
    """Weighted sums over the rows of each component."""
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1)
