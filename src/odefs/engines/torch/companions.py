"""Scores of complete scaled rows by the companions of the distances, in float64."""

import numpy as np
import torch
from torch import Tensor

from odefs.detectors.coupling import CouplingState
from odefs.detectors.relations import RelationsDetector, RelationsState
from odefs.ensemble.model import Component


def companion_scores(X: Tensor, component: Component) -> Tensor:
    """Raw scores of scaled rows by a component that has its own detector."""
    if isinstance(component.state, CouplingState):
        return _sum_of_values(X, component.state)
    assert isinstance(component.detector, RelationsDetector)
    columns = torch.from_numpy(component.columns).to(X.device)
    squares = _squared_distances(X[:, columns], component.state)
    return squares if component.detector.metric == "sqeuclidean" else squares.sqrt_()


def _sum_of_values(X: Tensor, state: CouplingState) -> Tensor:
    values = torch.tensor(state.values, dtype=torch.float64, device=X.device)
    found = values[0].sum().expand(X.shape[0]).clone()
    for limits, step in zip(state.cuts, values.diff(dim=0), strict=True):
        columns = np.flatnonzero(np.isfinite(limits))
        # Compared in float64, as NumPy does: rounded limits might be values.
        above = X[:, columns].double() > torch.tensor(limits[columns], device=X.device)
        found += (above * step[columns]).sum(dim=1)
    return found


def _squared_distances(X: Tensor, state: RelationsState) -> Tensor:
    mean, std, precision = (
        torch.tensor(one, dtype=torch.float64, device=X.device)
        for one in (state.mean, state.std, state.precision)
    )
    z = (X.double() - mean) / std
    return (z * (z @ precision)).sum(dim=1).clamp_(min=0)
