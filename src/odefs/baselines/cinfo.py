"""CINFO: sequential sparse regression on the scores (Pang et al. 2018).

Round by round: candidates by Cantelli's rule, a lasso of their scores on the columns, the columns
with non-zero coefficients, the detector on these. It goes on while the cross-validated regression
error falls. Rounds are averaged with weights from one minus their normalised error.
"""

import warnings
from typing import ClassVar

import numpy as np

from odefs.baselines.base import Chosen, ColumnSelector, Context
from odefs.detectors.base import Detector, Metric
from odefs.ensemble.fit import score_bare
from odefs.ensemble.fit_fixed import subset_component
from odefs.models.constraints import Constraints, Integer, Number
from odefs.models.fallbacks import few_candidates, no_relevant_column, stopped_regressions
from odefs.models.literals import DetectorName, FlagRule, Missing, Scaling
from odefs.selection.candidates import find_candidates

FOLDS = 5
ITERATIONS = 2000


class CINFO(ColumnSelector):
    """Detector on the columns that explain its own scores, repeated in rounds.

    Parameters
    ----------
    candidate_threshold : float, default=1.732
        Candidates score above mean + candidate_threshold * std; at most a quarter of the rows for
        the default.
    max_rounds : int, default=20
    max_candidates : int, default=2000
        Maximum number of candidates in a lasso regression.
    detector, n_subsets, subset_size, metric, scaling, missing
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.
    contamination, n_jobs, random_state, verbose
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.

    Attributes
    ----------
    outlier_scores_, is_outlier_, offset_, fit_info_, n_features_in_, feature_names_in_
        As in :class:`odefs.ODEFS`.
    feature_subsets_ : list of ndarray
        Columns of each round.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Absolute lasso coefficients, averaged over the rounds.
    """

    _constraints: ClassVar[Constraints] = {
        **ColumnSelector._constraints,
        "candidate_threshold": Number(0),
        "max_rounds": Integer(1),
        "max_candidates": Integer(2),
    }

    def __init__(
        self,
        *,
        candidate_threshold: float = 1.732,
        max_rounds: int = 20,
        max_candidates: int = 2000,
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
        self.candidate_threshold = candidate_threshold
        self.max_rounds = max_rounds
        self.max_candidates = max_candidates
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

    def _choose(self, context: Context) -> Chosen:
        engine, detector, scaling = context.engine, context.detector, context.scaled.scaling
        scores = score_bare(engine, detector, context.scaled)
        fallbacks = few_candidates(find_candidates(scores, self.candidate_threshold))
        rounds = stopped = 0
        subsets: list[np.ndarray] = []
        errors: list[float] = []
        relevance = np.zeros(engine.n_columns)
        while len(subsets) < self.max_rounds:
            coefficients, error, settled = self._sparse_regression(context, scores)
            rounds += 1
            stopped += not settled
            columns = np.flatnonzero(coefficients)
            # The round that did not improve is not used.
            if not columns.size or (errors and error >= errors[-1]):
                break
            subsets.append(columns)
            errors.append(error)
            relevance += coefficients / coefficients.sum()
            # The same references as in the final scores, so that each round evaluates what is used.
            component = subset_component(
                engine, detector, scaling, columns, context.seeds.component(len(subsets) - 1)
            )
            scores = engine.raw_scores(scaling, detector, [component])[0]
        fallbacks += stopped_regressions(stopped, rounds)
        if not subsets:
            every = np.arange(engine.n_columns)
            fallbacks += no_relevant_column("no column explains the scores of the candidates")
            return Chosen([every], np.ones(1), np.ones(engine.n_columns), fallbacks)
        return Chosen(subsets, _round_weights(np.array(errors)), relevance, fallbacks)

    def _sparse_regression(
        self, context: Context, scores: np.ndarray
    ) -> tuple[np.ndarray, float, bool]:
        """Return the lasso's absolute coefficients on the candidates, its error, and whether it
        converged.

        The error is the cross-validated share of the variance that it leaves.
        """
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LassoCV
        from sklearn.model_selection import KFold

        candidates = find_candidates(scores, self.candidate_threshold).rows
        if candidates.size > self.max_candidates:
            candidates = np.sort(
                context.rng.choice(candidates, size=self.max_candidates, replace=False)
            )
        target = scores[candidates]
        known = ~np.isnan(target)
        candidates, target = candidates[known], target[known]
        # Equal scores leave nothing to explain, and a division by 0.
        spread = target.std() if target.size else 0.0
        if target.size < 2 or spread <= 0:
            return np.zeros(context.engine.n_columns), np.inf, True
        target = (target - target.mean()) / spread
        # Shuffled, so that the order of the rows does not matter.
        folds = KFold(min(FOLDS, target.size), shuffle=True, random_state=0)
        lasso = LassoCV(alphas=30, cv=folds, max_iter=ITERATIONS)
        # Recorded, since not converging becomes a fallback of the fit instead of a warning per
        # fold.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            lasso.fit(context.rows(candidates), target)
        settled = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        return np.abs(lasso.coef_), float(lasso.mse_path_.mean(axis=1).min()), settled


def _round_weights(errors: np.ndarray) -> np.ndarray:
    """Return one minus the share of each round in the sum of the errors; 1 for a single round."""
    if errors.size == 1:
        return np.ones(1)
    return 1 - errors / errors.sum()
