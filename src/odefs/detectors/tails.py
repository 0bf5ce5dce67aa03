"""Additive detector based on the tail probability of each value in its column.

``G_k(x) = max(0, -log(2 t_k(x)))`` with ``t_k`` the smaller of the two tail probabilities of
``x_k`` in the reference rows, counting ``x_k`` itself. A value in the middle contributes nothing, a
value beyond all ``n`` references ``log(n/2)``. It ignores interactions, is cheap, and splits
exactly.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from odefs.detectors.base import Detector, row_sums


@dataclass(frozen=True, eq=False)
class TailsState:
    """Reference values, sorted per column (missing ones last), and the number of observed ones."""

    sorted_values: np.ndarray
    observed: np.ndarray


@dataclass(frozen=True)
class TailsDetector(Detector[TailsState]):
    """Sum over columns of the log tail probabilities, estimated from ``n_references`` rows."""

    n_references: int = 4096

    name: ClassVar[str] = "tails"
    depends_on_scale = False
    handles_missing: ClassVar[bool] = True

    def prepare(
        self, rows: np.ndarray, rng: np.random.Generator, w: np.ndarray | None = None
    ) -> TailsState:
        return TailsState(np.sort(rows, axis=0), (~np.isnan(rows)).sum(axis=0))

    def linearise(
        self, X: np.ndarray, state: TailsState, w: np.ndarray | None = None
    ) -> np.ndarray:
        G = np.zeros(X.shape)
        for k in range(X.shape[1]):
            n = int(state.observed[k])
            values, x = state.sorted_values[:n, k], X[:, k]
            # Both tails include equal values, so that ties never look rarer than they are.
            above = n - np.searchsorted(values, x, side="left")
            below = np.searchsorted(values, x, side="right")
            # A value beyond all references counts as one of them: the logarithm stays finite.
            tail = np.maximum(np.minimum(above, below), 1) / max(1, n)
            G[:, k] = np.maximum(0.0, -np.log(2 * tail))
        seen = ~np.isnan(X)
        if not seen.all():
            weights = np.ones(X.shape[1]) if w is None else np.asarray(w, dtype=np.float64)
            covered = row_sums(seen * weights)
            with np.errstate(divide="ignore", invalid="ignore"):
                # A row without observed cells becomes NaN: it has no score.
                # searchsorted places NaN after all values, which would be an extreme: G of missing
                # cells is dropped here.
                G = np.where(seen, G, 0.0) * (weights.sum() / covered)[:, None]
        return G
