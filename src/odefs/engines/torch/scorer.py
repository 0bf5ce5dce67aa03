"""Scoring of row blocks by all components: which are exact in half precision, which are fused.

Companions of the distances score complete scaled rows in float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor

from odefs.detectors.coupling import CouplingState
from odefs.detectors.lesinn import LeSiNNDetector
from odefs.detectors.relations import RelationsDetector, RelationsState
from odefs.engines.torch.scoring import (
    DeviceReferences,
    is_exact,
    lay_rows_out,
    raw_scores,
    send_references,
)
from odefs.engines.torch.triton_launch import (
    FusedReferences,
    can_fuse,
    fused_scores,
    is_proven,
    lay_out_fused,
)
from odefs.ensemble.model import Component


@dataclass(frozen=True, eq=False)
class Scorer:
    """Components of one detector, and their references, sent to the device on demand."""

    detector: LeSiNNDetector
    components: Sequence[Component]
    n_columns: int
    device: torch.device

    def score(self, X: Tensor) -> Tensor:
        """Raw scores of scaled rows, ``(n_components, n_rows)``, float64.

        The method is chosen per row: blocks are as high as memory allows.
        """
        if not self._exact:
            return self._score_rows(X, binary=False)
        # Row by row: one row with other values must not slow down its whole block.
        is_binary = ((X == 0) | (X == 1)).all(dim=1)
        if is_binary.all() or not is_binary.any():
            return self._score_rows(X, binary=bool(is_binary.all()))
        out = torch.empty(
            (len(self.components), X.shape[0]), dtype=torch.float64, device=self.device
        )
        out[:, is_binary] = self._score_rows(X[is_binary], binary=True)
        out[:, ~is_binary] = self._score_rows(X[~is_binary], binary=False)
        return out

    def _score_rows(self, X: Tensor, binary: bool) -> Tensor:
        """Score rows that hold only zeros and ones (``binary``), or others."""
        out = torch.empty(
            (len(self.components), X.shape[0]), dtype=torch.float64, device=self.device
        )
        if binary:
            self._score_exact(X, out)
        self._score_plain(X, self._others if binary else self._plain, out, exact=False)
        return out

    def _score_exact(self, X: Tensor, out: Tensor) -> None:
        if not can_fuse(self.device, self.detector.n_subsets):
            self._score_plain(X, self._products, out, exact=True)
            return
        lines = lay_rows_out(X, exact=True)
        root = self.detector.metric == "euclidean"
        for group in self._fused:
            places = group.places.tolist()
            if is_proven(lines, group, root, partial(self._product_scores, places[0])):
                out[group.places] = fused_scores(lines, group, root)[:, : X.shape[0]]
                continue
            for place in places:
                out[place] = self._product_scores(place, lines)[: X.shape[0]]

    def _product_scores(self, place: int, lines: Tensor) -> Tensor:
        """The scores without the fused kernel."""
        references = send_references(
            self.components[place], self.n_columns, self.device, exact=True
        )
        return raw_scores(lines, references, self.detector)

    def _score_plain(
        self, X: Tensor, references: dict[int, DeviceReferences], out: Tensor, exact: bool
    ) -> None:
        if not references:
            return
        lines = lay_rows_out(X, exact)
        for place, one in references.items():
            out[place] = raw_scores(lines, one, self.detector)[: X.shape[0]]

    @cached_property
    def _exact(self) -> list[int]:
        return [place for place, component in enumerate(self.components) if is_exact(component)]

    @cached_property
    def _fused(self) -> list[FusedReferences]:
        return lay_out_fused(self.components, self._exact, self.n_columns + 1, self.device)

    @cached_property
    def _products(self) -> dict[int, DeviceReferences]:
        return self._send(self._exact, exact=True)

    @cached_property
    def _others(self) -> dict[int, DeviceReferences]:
        return self._send(sorted(set(range(len(self.components))) - set(self._exact)), exact=False)

    @cached_property
    def _plain(self) -> dict[int, DeviceReferences]:
        return self._send(range(len(self.components)), exact=False)

    def _send(self, places: Sequence[int], exact: bool) -> dict[int, DeviceReferences]:
        return {
            place: send_references(self.components[place], self.n_columns, self.device, exact)
            for place in places
        }


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
        # Padding is infinite, and nothing is above it.
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
