"""Base of the competitors: choose subsets of columns, score on them with the detector, average."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from odefs._logging import verbose_logging
from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.fit import ScaledTable, fit_subsets, scale_table
from odefs.ensemble.model import Model
from odefs.ensemble.plan import Seeds
from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import observed
from odefs.estimators.fallbacks import few_rows
from odefs.estimators.parameters import resolve_detector
from odefs.estimators.reset_on_failure import whole
from odefs.exceptions import Fallback

THRESHOLD_RATE = 2.0


@dataclass(frozen=True, eq=False)
class Chosen:
    """Subsets of columns, their weights, the relevance of every column, and fallbacks taken."""

    subsets: list[np.ndarray]
    weights: np.ndarray
    relevance: np.ndarray
    fallbacks: list[Fallback] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Context:
    """Data available to a competitor while it chooses: the scaled table through its engine."""

    engine: InMemoryEngine
    detector: Detector
    scaled: ScaledTable
    seeds: Seeds
    rng: np.random.Generator

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return scaled rows in float64, with missing cells replaced by their column's mean."""
        rows = self.engine.take(numbers, self.scaled.scaling).astype(np.float64)
        holes = np.isnan(rows)
        if holes.any():
            seen = np.maximum(1, (~holes).sum(axis=0))
            rows = np.where(holes, np.where(holes, 0.0, rows).sum(axis=0) / seen, rows)
        return rows

    def some_rows(self, at_most: int) -> np.ndarray:
        """Return a seeded sample of row numbers in ascending order; all of them if there are
        fewer.
        """
        n_rows = self.engine.n_rows
        if n_rows <= at_most:
            return np.arange(n_rows)
        return np.sort(self.rng.choice(n_rows, size=at_most, replace=False))


class ColumnSelector(BaseOutlierEstimator):
    """Base of the competitors; subclasses implement :meth:`_choose`."""

    detector: str | Detector
    n_subsets: int
    subset_size: int
    metric: str
    verbose: int

    @abstractmethod
    def _choose(self, context: Context) -> Chosen:
        """Choose subsets of columns."""

    def _check_parameters(self) -> None:
        """Check the parameters that only the subclass has."""

    def _check_settings(self, detector: Detector) -> None:
        self._check_parameters()
        super()._check_settings(detector)

    @observed
    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose columns and score the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        detector = resolve_detector(self.detector, self.n_subsets, self.subset_size, self.metric)
        self._check_shared_parameters(detector)
        self._check_parameters()
        rows = self._validate(X, reset=True)
        with verbose_logging(self.verbose):
            engine, seeds = self._engine(rows), self._seeds()
            scaled = scale_table(engine, detector, self.scaling, seeds)
            chosen = self._choose(Context(engine, detector, scaled, seeds, seeds.selection()))
            self.feature_subsets_ = chosen.subsets
            self.component_weight_ = chosen.weights / chosen.weights.sum()
            self.feature_importances_ = _shares(chosen.relevance)
            model, scores = fit_subsets(
                engine,
                detector,
                scaled.scaling,
                self.feature_subsets_,
                self.component_weight_,
                seeds,
            )
            fallbacks = few_rows(detector, engine.n_rows) + chosen.fallbacks
            self.fit_info_ = {"n_rows": engine.n_rows, "fallbacks": fallbacks}
            self._finish(
                engine, model, self._combined(engine, model, scores), THRESHOLD_RATE, seeds
            )
            self._report(fallbacks)
            return self

    def _combined(self, engine: InMemoryEngine, model: Model, scores: np.ndarray) -> np.ndarray:
        """Return the training scores, by default the weighted mean of the subsets' scores."""
        return scores


def _shares(relevance: np.ndarray) -> np.ndarray:
    total = relevance.sum()
    return relevance / total if total > 0 else np.full(relevance.size, 1 / relevance.size)
