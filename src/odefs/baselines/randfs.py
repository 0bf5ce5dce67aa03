"""RandFS: feature bagging (Lazarevic and Kumar 2005).

Each round draws ``N`` uniformly from ``{floor(d/2), ..., d-1}`` and takes ``N`` columns without
replacement. Rounds are combined by the cumulative sum of their normalised scores, or breadth-first:
every round's best row, then every round's second, and so on.
"""

from typing import ClassVar, Literal, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from odefs.baselines.base import Chosen, ColumnSelector, Context
from odefs.detectors.base import Detector, Metric
from odefs.engines.in_memory import InMemoryEngine
from odefs.ensemble.model import Model
from odefs.inspection.explanation import Explanation, TopExplanation
from odefs.models.constraints import Choice, Constraints, Integer
from odefs.models.literals import DetectorName, FlagRule, Missing, Scaling


class RandFS(ColumnSelector):
    """Detector on random halves of the columns, averaged.

    Parameters
    ----------
    n_estimators : int, default=10
        Rounds.
    combination : {"cumulative", "breadth_first"}, default="cumulative"
        Mean of the normalised scores, or the best rank of any round. Ranks are taken among the
        training rows and do not split over columns, so ``explain`` needs the former.
    detector, n_subsets, subset_size, metric, scaling, missing
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.
    contamination, n_jobs, random_state, verbose
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.

    Attributes
    ----------
    outlier_scores_, is_outlier_, offset_, fit_info_, n_features_in_, feature_names_in_
        As in :class:`odefs.ODEFS`.
    feature_subsets_ : list of ndarray
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of the rounds that drew each column.
    """

    _constraints: ClassVar[Constraints] = {
        **ColumnSelector._constraints,
        "n_estimators": Integer(1),
        "combination": Choice("cumulative", "breadth_first"),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 10,
        combination: Literal["cumulative", "breadth_first"] = "cumulative",
        detector: DetectorName | Detector = "lesinn",
        n_subsets: int = 50,
        subset_size: int = 8,
        metric: Metric = "euclidean",
        scaling: Scaling = "minmax",
        missing: Missing = "error",
        contamination: float | FlagRule = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.combination = combination
        self.detector = detector
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.metric = metric
        self.scaling = scaling
        self.missing = missing
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _why_not_saved(self) -> str | None:
        if self.combination == "cumulative":
            return None
        return (
            "RandFS with combination='breadth_first' cannot be saved: it ranks new rows among all "
            "training rows, which model files do not store."
        )

    def _choose(self, context: Context) -> Chosen:
        d = context.engine.n_columns
        subsets = []
        for _ in range(self.n_estimators):
            # The upper end is exclusive: sizes up to d - 1, or 1 if there is a single column.
            size = int(context.rng.integers(max(1, d // 2), max(2, d)))
            subsets.append(np.sort(context.rng.choice(d, size=size, replace=False)))
        drawn = np.bincount(np.concatenate(subsets), minlength=d).astype(np.float64)
        return Chosen(subsets, np.ones(len(subsets)), drawn)

    def _combined(self, engine: InMemoryEngine, model: Model, scores: np.ndarray) -> np.ndarray:
        if self.combination == "cumulative":
            return scores
        raw = engine.raw_scores(model.scaling, model.detector, model.components)
        self._sorted_rounds = np.sort(np.nan_to_num(raw), axis=1)
        combined = self._breadth_first(raw)
        known = combined[~np.isnan(combined)]
        self._usual = float(known.sum() / max(1, known.size)) or 1.0
        return self._relative(combined)

    def outlier_scores(self, X: object) -> np.ndarray:
        if self.combination == "cumulative":
            return super().outlier_scores(X)
        check_is_fitted(self)
        engine, model = self._engine(self._validate(X, reset=False)), self._model
        raw = engine.raw_scores(model.scaling, model.detector, model.components)
        return self._relative(self._breadth_first(raw))

    def _relative(self, combined: np.ndarray) -> np.ndarray:
        # A row without observed cells counts as an ordinary one, as in other estimators.
        return np.where(np.isnan(combined), 1.0, combined / self._usual)

    def _breadth_first(self, raw: np.ndarray) -> np.ndarray:
        """Return the log of how early a row is met when the rounds' rankings are merged, best rows
        first; NaN for rows that no round can score.
        """
        n_rounds, n_rows = self._sorted_rounds.shape
        places = [
            (n_rows - np.searchsorted(training, scores, side="right")) * n_rounds + t
            for t, (training, scores) in enumerate(
                zip(self._sorted_rounds, np.nan_to_num(raw), strict=True)
            )
        ]
        early = np.log(n_rounds * (n_rows + 1)) - np.log1p(np.min(places, axis=0))
        return np.where(np.isnan(raw).all(axis=0), np.nan, early)

    @overload
    def explain(self, X: object, top: None = None) -> Explanation: ...
    @overload
    def explain(self, X: object, top: int) -> TopExplanation: ...
    def explain(self, X: object, top: int | None = None) -> Explanation | TopExplanation:
        if self.combination != "cumulative":
            raise TypeError(
                "explain requires combination='cumulative': ranks cannot be split over the columns."
            )
        return super().explain(X, top)
