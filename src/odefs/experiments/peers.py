"""PyOD and scikit-learn detectors for comparison, with the min-max scaling that all methods get.

PyOD is imported when a detector is created, not with this module. Peers that would run for hours or
exhaust memory on a large table reject it, and the tables show this.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np


class TooLargeError(ValueError):
    """A table is too large for a peer."""


class Limit(NamedTuple):
    """Maximum number of cells that a peer may touch, as a power of the number of rows, and why."""

    most: float
    power: int
    reason: str


PAIRS = Limit(3e11, 2, "it compares all pairs of rows")
"""rows x rows x columns: a few minutes on one core."""

COPIES = Limit(1e8, 1, "it holds several copies of the table in double precision")
"""rows x columns: 0.8 GB for each copy."""

PYOD = {
    # name: module, class, whether it takes a seed, limit on the size of the table
    "PyOD-KNN": ("pyod.models.knn", "KNN", False, PAIRS),
    "PyOD-LOF": ("pyod.models.lof", "LOF", False, PAIRS),
    "PyOD-ECOD": ("pyod.models.ecod", "ECOD", False, COPIES),
    "PyOD-COPOD": ("pyod.models.copod", "COPOD", False, COPIES),
    "PyOD-HBOS": ("pyod.models.hbos", "HBOS", False, None),
    "PyOD-INNE": ("pyod.models.inne", "INNE", True, None),
    "PyOD-LODA": ("pyod.models.loda", "LODA", False, None),
    "PyOD-PCA": ("pyod.models.pca", "PCA", True, COPIES),
    "PyOD-GMM": ("pyod.models.gmm", "GMM", True, COPIES),
}

Scores = Callable[[Any, np.ndarray], np.ndarray]


class ScaledPeer:
    """Peer with min-max scaling, and training scores as ``outlier_scores_``."""

    def __init__(
        self, model: Any, training_scores: Scores, new_scores: Scores, limit: Limit | None = None
    ) -> None:
        self.model = model
        self.training_scores = training_scores
        self.new_scores = new_scores
        self.limit = limit

    def fit(self, X: np.ndarray) -> "ScaledPeer":
        from sklearn.preprocessing import MinMaxScaler

        self._check_size(*X.shape)
        # Double precision throughout, also because compiled peers would compile again for single
        # precision.
        X = np.asarray(X, dtype=np.float64)
        self.scaler = MinMaxScaler().fit(X)
        X = self.scaler.transform(X)
        self.model.fit(X)
        self.outlier_scores_ = self.training_scores(self.model, X)
        return self

    def outlier_scores(self, X: np.ndarray) -> np.ndarray:
        return self.new_scores(self.model, self.scaler.transform(np.asarray(X, dtype=np.float64)))

    def _check_size(self, n_rows: int, n_columns: int) -> None:
        if self.limit is None:
            return
        cells = float(n_rows) ** self.limit.power * n_columns
        if cells > self.limit.most:
            raise TooLargeError(
                f"{n_rows:,} x {n_columns:,} is too large for {type(self.model).__name__}: "
                f"{self.limit.reason}, {cells:.1e} cells where at most {self.limit.most:.1e} are "
                "allowed"
            )


def _pyod(module: str, name: str, seeded: bool, limit: Limit | None) -> Callable[[int], ScaledPeer]:
    def make(seed: int) -> ScaledPeer:
        cls = _class(module, name)
        model = cls(random_state=seed) if seeded else cls()
        return ScaledPeer(
            model, lambda m, _: m.decision_scores_, lambda m, X: m.decision_function(X), limit
        )

    return make


@cache
def _class(module: str, name: str) -> type:
    """Return a PyOD class that has run once, so that imports and compilation are not timed."""
    cls = getattr(import_module(module), name)
    cls().fit(np.random.default_rng(0).random((64, 3)))
    return cls


def _isolation_forest(seed: int) -> ScaledPeer:
    from sklearn.ensemble import IsolationForest

    return ScaledPeer(
        IsolationForest(random_state=seed),
        lambda m, X: -m.score_samples(X),
        lambda m, X: -m.score_samples(X),
    )


def peers() -> dict[str, Callable[[int], ScaledPeer]]:
    """Return factories by name; PyOD is imported when one of its detectors is created."""
    return {"IForest": _isolation_forest} | {name: _pyod(*where) for name, where in PYOD.items()}
