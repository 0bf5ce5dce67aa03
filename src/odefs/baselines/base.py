"""Base of the competitors: choose subsets of columns, score on them with the detector, average."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from odefs._progress import verbose_logging
from odefs.detectors.base import METRICS, Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.fit_fixed import fit_subsets
from odefs.ensemble.model import Model
from odefs.ensemble.plan import Seeds
from odefs.ensemble.scaled_table import ScaledTable, scale_table
from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import observed
from odefs.exceptions import Fallback
from odefs.models.base import OF_DETECTOR
from odefs.models.constraints import Choice, Constraints
from odefs.models.fallbacks import few_rows, whole
from odefs.models.validation import detector_of


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

    _constraints: ClassVar[Constraints] = {
        **OF_DETECTOR,
        **BaseOutlierEstimator._constraints,
        "metric": Choice(*METRICS),
    }

    detector: str | Detector
    n_subsets: int
    subset_size: int
    metric: str
    verbose: int

    @abstractmethod
    def _choose(self, context: Context) -> Chosen:
        """Choose subsets of columns."""

    @observed
    @whole
    def fit(self, X: object, y: object = None) -> Self:
        """Choose columns and score the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        detector = detector_of(self._parameters())
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
            self._finish(engine, model, self._combined(engine, model, scores), seeds)
            self._report(fallbacks)
            return self

    def _combined(self, engine: InMemoryEngine, model: Model, scores: np.ndarray) -> np.ndarray:
        """Return the training scores, by default the weighted mean of the subsets' scores."""
        return scores


def _shares(relevance: np.ndarray) -> np.ndarray:
    total = relevance.sum()
    return relevance / total if total > 0 else np.full(relevance.size, 1 / relevance.size)
