"""Base class of the outlier models: scoring, thresholds, explanations and saving.

High scores are abnormal. Rows are numeric matrices here; input from users is validated in
:mod:`odefs.estimators.base`.
"""

import numbers
import os
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from odefs._progress import logger, stage
from odefs.detectors import BUILT_IN
from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.row_blocks import RowBlocks
from odefs.engines.select import require_in_memory
from odefs.ensemble.engine import Engine
from odefs.ensemble.flag_threshold import tail_threshold
from odefs.ensemble.model import FLAG_RATE, Model
from odefs.ensemble.plan import Seeds
from odefs.ensemble.score_percentiles import percentiles, score_quantiles
from odefs.exceptions import Fallback, warn
from odefs.inspection.contributions import (
    explain_all,
    explain_top,
    require_attribution,
    usual_contributions,
)
from odefs.inspection.explanation import Explanation, TopExplanation
from odefs.kernels.row_reductions import fill, negated_percentile
from odefs.models.constraints import (
    RANDOM_STATE,
    Choice,
    Constraints,
    Integer,
    Number,
    Parameters,
    Satisfies,
    checked,
    random_state_of,
)
from odefs.models.select_engine import open_blocks, open_rows
from odefs.scaling import KINDS
from odefs.selection.candidates import cantelli_threshold

OF_TRAINING_ROWS = (
    "outlier_scores_",
    "decision_scores_",
    "is_outlier_",
    "agreement_",
    "candidate_indices_",
)
"""Attributes with one value per training row; model files do not store them."""

OF_SUBSETS: Constraints = {"n_subsets": Integer(1), "subset_size": Integer(1)}
"""Parameters of LeSiNN."""

OF_DETECTOR: Constraints = {
    "detector": Choice(*BUILT_IN)
    | Satisfies(lambda value: isinstance(value, Detector), "an odefs.detectors.Detector"),
    **OF_SUBSETS,
}
"""Parameters of the estimators with a ``detector`` parameter."""

MAX_FALSE_FLAGS = Number(0, open_low=True)


class OutlierModel(Parameters):
    """Base class; subclasses implement ``fit`` and define the parameters used here."""

    _constraints: ClassVar[Constraints] = {
        "scaling": Choice(*KINDS),
        "missing": Choice("error", "ignore"),
        "contamination": Choice("auto", "paper") | Number(0, 0.5, open_low=True),
        "n_jobs": Choice(None) | Integer(),
        "random_state": RANDOM_STATE,
        "verbose": Integer(0),
    }

    contamination: float | str
    max_false_flags: float = 1.0
    missing: str
    scaling: str
    n_jobs: int | None
    random_state: Any
    verbose: int
    fit_info_: dict[str, Any]
    score_quantiles_: np.ndarray | None

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise ValueError(f"This {type(self).__name__} is not fitted yet: call fit first.")

    def _validate(self, X: Any, reset: bool) -> object:
        """Return the rows as a numeric matrix; ``reset`` is true in ``fit``."""
        if reset:
            self.n_features_in_ = X.shape[1]
        return X

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit completed; attributes set by an interrupted fit do not count."""
        return "_model" in self.__dict__

    def outlier_scores(self, X: object) -> np.ndarray:
        """Outlyingness of each row: high = abnormal; training rows average 1.0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            For RowBlocks and Dask collections the array is backed by a temporary file, which is
            deleted together with the array.
        """
        self._require_fitted()
        return open_rows(self, X).outlier_scores(self._model)

    def score_percentiles(self, X: object) -> np.ndarray:
        """Positions of the scores among the training scores: 0 is the lowest, 100 the highest.

        They are interpolated between 256 quantiles of the training scores. A score that many
        training rows share is in the middle of their range.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection

        Returns
        -------
        percentiles : ndarray of shape (n_samples,)
        """
        scores = np.asarray(self.outlier_scores(X))
        return percentiles(self.score_quantiles_, scores)

    def outlier_score_blocks(self, blocks: RowBlocks) -> Iterator[np.ndarray]:
        """Yield the scores of rows that come in blocks, in row order.

        Each array holds some hundred to some thousand scores. Nothing with one value per row is
        kept in memory or on disk. The scores equal those of :meth:`outlier_scores` for any block
        sizes.

        Parameters
        ----------
        blocks : RowBlocks
        """
        self._require_fitted()
        return (lines[0] for lines in open_blocks(self, blocks).judged_blocks(self._model))

    @overload
    def explain(self, X: object, top: None = None) -> Explanation: ...
    @overload
    def explain(self, X: object, top: int) -> TopExplanation: ...
    def explain(self, X: object, top: int | None = None) -> Explanation | TopExplanation:
        """Contributions of the columns to the outlier score of each row, including new rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        top : int, optional
            Keep only the ``top`` columns whose contribution exceeds their usual one most. No array
            of shape (n_samples, n_features) is allocated in this case.

        Returns
        -------
        Explanation, or TopExplanation with ``top``
            ``values`` of an Explanation add up to ``outlier_scores(X)``, together with
            ``answers.total`` for a model that has learned from answers or known cases.
        """
        self._require_fitted()
        require_attribution(self._model.detector)
        require_in_memory(X)
        rows = self._validate(X, reset=False)
        engine = self._engine(rows)
        if top is None:
            return explain_all(engine, self._model, self._baseline, rows, self._feature_names())
        if not isinstance(top, numbers.Integral) or top < 1:
            raise ValueError(f"top={top!r} is not a whole number of at least 1.")
        return explain_top(engine, self._model, self._baseline, int(top), self._feature_names())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file; :func:`odefs.load` reads it.

        The file consists of arrays and JSON, without pickle. It contains rows of the training data
        (the references that scores are measured against): treat it as confidential as the data.

        Parameters
        ----------
        path : str or path
        """
        from odefs.models.files import save_model

        save_model(self, path)

    if not TYPE_CHECKING:  # or checkers of user code would accept any name

        def __getattr__(self, name: str) -> Any:
            # Called only for attributes that do not exist. __dict__ avoids another call of this
            # method.
            if name in OF_TRAINING_ROWS and "_from_file" in self.__dict__:
                raise AttributeError(
                    f"A model from a file or a review has no {name}: it does not hold values per "
                    "training row. Score the rows again with outlier_scores(X)."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _engine_for_fit(self, X: Any, detector: Detector) -> InMemoryEngine:
        """Engine for fitting a model to a table in memory."""
        return InMemoryEngine(X, self.n_jobs)

    def _engine(self, X: Any) -> InMemoryEngine:
        return InMemoryEngine(X, self.n_jobs)

    def _feature_names(self) -> np.ndarray:
        names = getattr(self, "feature_names_in_", None)
        return np.array([f"x{k}" for k in range(self.n_features_in_)]) if names is None else names

    def _seeds(self) -> Seeds:
        # 124 bits of entropy for the SeedSequence. Little-endian bytes, so that a seed gives the
        # same results on every machine.
        words = random_state_of(self.random_state).randint(0, 2**31 - 1, size=4)
        return Seeds(int.from_bytes(words.astype("<u4").tobytes(), "little"))

    def _parameters(self) -> dict[str, object]:
        """The validated parameters; NumPy scalars, as grid searches pass them, become Python's."""
        return checked(self, self._constraints)

    def _n_informative(self) -> int | None:
        """Number of columns that vary and are not noise; None if no column is noise."""
        return None

    def _why_not_saved(self) -> str | None:
        """Why the model cannot be stored in a file; None if it can."""
        return None

    def _finish(
        self,
        engine: Engine,
        model: Model,
        scores: np.ndarray,
        seeds: Seeds,
        usual: np.ndarray | None = None,
    ) -> Self:
        """Set the attributes that every fitted estimator has.

        ``_model`` is set last because its presence marks the estimator as fitted. ``usual`` are the
        scores without what known cases add to them: these would raise their own threshold.
        """
        if model.detector.attribution is not None:
            with stage("finding the usual contributions"):
                self._baseline = usual_contributions(engine, model, seeds)
        self.outlier_scores_ = scores
        usual = scores if usual is None else usual
        self.score_quantiles_ = score_quantiles(usual)
        self._set_offset(scores, usual)
        # The arithmetic of decision_function, not scores > -offset_: rounding must not make
        # is_outlier_ and predict disagree on a training row.
        self.is_outlier_ = fill(engine.per_row(bool), lambda part: -scores[part] - self.offset_ < 0)
        self._model = model
        return self

    def _set_offset(self, scores: np.ndarray, usual: np.ndarray) -> None:
        """Choose the threshold; ``fit_info_["flag_rule"]`` is the rule that was applied."""
        rule = "contamination"
        if isinstance(self.contamination, str):
            found = None
            if self.contamination == "auto":
                # None for fewer than 30 rows.
                found = tail_threshold(usual, self.max_false_flags, self._n_informative())
            rule = "paper" if found is None else "tail"
            self.offset_ = -(cantelli_threshold(usual, FLAG_RATE) if found is None else found)
        else:
            # The percentile of score_samples, as in scikit-learn's detectors.
            self.offset_ = negated_percentile(scores, 100.0 * float(self.contamination))
        self.fit_info_["flag_rule"] = rule

    def _report(self, fallbacks: list[Fallback], silent: Container[str] = ()) -> None:
        """Log each fallback, and warn about it once; those of ``silent`` kinds are only logged."""
        for fallback in fallbacks:
            logger.info(fallback.message)
            if fallback.kind not in silent:
                warn(fallback.message)
