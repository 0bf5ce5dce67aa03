"""Shares of the columns in the mean distance to the nearest, added up over the rows (:func:`odefs._ops.choices.total_shares`), on the device."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from odefs._ops.choices import NEGLIGIBLE, SMALL
from odefs.engines.torch.choices import first_nearest
from odefs.ensemble.model import Component

EPS = float(np.finfo(np.float64).eps)


def total_shares(X: Tensor, components: Sequence[Component], root: bool) -> list[np.ndarray | None]:
    """The shares of each component's columns over scaled rows; ``None`` where expanded squares have too few digits for them."""
    found = [_of_component(X, component, root) for component in components]
    left_out = torch.stack([share for _, share in found]).tolist()
    return [
        None if lost > NEGLIGIBLE else total.cpu().numpy() for (total, _), lost in zip(found, left_out, strict=True)
    ]


def _of_component(X: Tensor, component: Component, root: bool) -> tuple[Tensor, Tensor]:
    """The shares, and how much of the whole may have been left out: distances that are small against the norms."""
    x = X.index_select(1, torch.from_numpy(component.columns).to(X.device)).to(torch.float64)
    r = torch.from_numpy(np.array(component.state.rows, dtype=np.float64)).to(X.device)
    if component.w is not None:
        weights = torch.from_numpy(np.sqrt(component.w)).to(X.device)
        x, r = x * weights, r * weights
    centre = r.mean(dim=0)
    x, r = x - centre, r - centre
    chosen, smallest = first_nearest(x[None], r[None], component.state.n_subsets)
    sizes = x.square().sum(dim=1, keepdim=True)
    norms = sizes + r.square().sum(dim=1).amax()
    squares = (smallest[0] + sizes).clamp(min=0)
    certain = squares > SMALL * norms
    distances = squares.sqrt() if root else squares
    rounding = squares + 4 * EPS * norms
    lost = torch.where(certain, 0.0, rounding.sqrt() if root else rounding).sum()
    scale = torch.where(certain, distances / torch.where(certain, squares, 1.0), 0.0)
    A = (chosen[0] * scale.unsqueeze(1)).flatten(1)
    total = scale.sum(dim=1) @ x.square() - 2 * (r * (A.t() @ x)).sum(dim=0) + A.sum(dim=0) @ r.square()
    return total.clamp(min=0) / component.state.n_subsets, lost / torch.where(certain, distances, 0.0).sum()
