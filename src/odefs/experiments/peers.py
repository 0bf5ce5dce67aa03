"""Detectors of PyOD and scikit-learn as further columns, with the min-max scaling that all methods get.

This is the only file that imports PyOD.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

PYOD = {
    "PyOD-KNN": ("pyod.models.knn", "KNN", False),
    "PyOD-LOF": ("pyod.models.lof", "LOF", False),
    "PyOD-ECOD": ("pyod.models.ecod", "ECOD", False),
    "PyOD-COPOD": ("pyod.models.copod", "COPOD", False),
    "PyOD-HBOS": ("pyod.models.hbos", "HBOS", False),
    "PyOD-INNE": ("pyod.models.inne", "INNE", True),
    "PyOD-LODA": ("pyod.models.loda", "LODA", False),
    "PyOD-PCA": ("pyod.models.pca", "PCA", True),
    "PyOD-GMM": ("pyod.models.gmm", "GMM", True),
}


class ScaledPeer:
    """A peer behind min-max scaling, with training scores as ``outlier_scores_``."""

    def __init__(
        self, model: Any, training_scores: Callable[[Any, Any], Any], new_scores: Callable[[Any, Any], Any]
    ) -> None:
        self.model = model
        self.training_scores = training_scores
        self.new_scores = new_scores

    def fit(self, X: Any) -> "ScaledPeer":
        from sklearn.preprocessing import MinMaxScaler

        self.scaler = MinMaxScaler().fit(X)
        X = self.scaler.transform(X)
        self.model.fit(X)
        self.outlier_scores_ = self.training_scores(self.model, X)
        return self

    def outlier_scores(self, X: Any) -> Any:
        return self.new_scores(self.model, self.scaler.transform(X))


def _pyod(module: str, name: str, seeded: bool) -> Callable[[int], ScaledPeer]:
    def make(seed: int) -> ScaledPeer:
        cls = getattr(import_module(module), name)
        model = cls(random_state=seed) if seeded else cls()
        return ScaledPeer(model, lambda m, _: m.decision_scores_, lambda m, X: m.decision_function(X))

    return make


def _isolation_forest(seed: int) -> ScaledPeer:
    from sklearn.ensemble import IsolationForest

    return ScaledPeer(
        IsolationForest(random_state=seed), lambda m, X: -m.score_samples(X), lambda m, X: -m.score_samples(X)
    )


def peers() -> dict[str, Callable[[int], ScaledPeer]]:
    """Factories by name; PyOD is imported when one of its detectors is made."""
    return {"IForest": _isolation_forest} | {name: _pyod(*where) for name, where in PYOD.items()}
