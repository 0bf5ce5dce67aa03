"""ODEFS: outlier ensemble with embedded feature selection."""

from dataclasses import asdict, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from odefs._known_options import names_its_parameters
from odefs._progress import logger, stage, verbose_logging
from odefs.answers.known import remember_known
from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.select import ON_PROCESSORS, in_memory_engine, on_device, scoring_engine
from odefs.ensemble.component import KnownCases
from odefs.ensemble.engine import Engine
from odefs.ensemble.fit import FitInputs, FitResult, fit_ensemble
from odefs.ensemble.model import as_shares, component_weights
from odefs.ensemble.plan import Plan, Seeds
from odefs.ensemble.scaled_table import ScaledTable, scale_table
from odefs.ensemble.stopping import MIN_RANK_CORRELATION
from odefs.inspection.contributions import feature_importances
from odefs.models.base import MAX_FALSE_FLAGS, OF_DETECTOR, OutlierModel
from odefs.models.constraints import Choice, Constraints, Integer, Number, Satisfies, checked
from odefs.models.fallbacks import few_candidates, few_rows, off_device, training_fallbacks, whole
from odefs.models.feature_selection import FeatureSelection, NestedSelection
from odefs.models.literals import DetectorName, FlagRule, Missing, NoiseColumns, NumberRule, Scaling
from odefs.models.select_engine import judge_rows, open_training_rows
from odefs.models.validation import AUTO, NamedCases, detector_of
from odefs.selection.alternation import EARLY_STOPPING
from odefs.system.threads import one_blas_thread

PAPER: dict[str, Any] = {
    "detector": "lesinn",
    "n_estimators": "paper",
    "n_subsets": 50,
    "subset_size": 8,
    "scaling": "minmax",
    "noise_columns": "keep",
    "trust": 1.0,
    "contamination": "paper",
}
"""With ``FeatureSelection.paper()``, every parameter that affects the result.

All are set explicitly, so that changing a default does not change the paper's method.
"""

ENGINE = Choice(*ON_PROCESSORS, "torch", "torch:cpu", "torch:cuda") | Satisfies(
    lambda value: isinstance(value, str) and on_device(value), "'torch:cuda:N'"
)


class ODEFSMethod(OutlierModel):
    """Fitting and scoring of ODEFS; :class:`odefs.ODEFS` documents parameters and attributes."""

    _constraints: ClassVar[Constraints] = {
        **OF_DETECTOR,
        **OutlierModel._constraints,
        "detector": Choice(AUTO) | OF_DETECTOR["detector"],
        "n_estimators": Choice("auto", "paper") | Integer(1),
        "noise_columns": Choice("damp", "keep"),
        "trust": Choice("auto") | Number(0, 1),
        "max_false_flags": MAX_FALSE_FLAGS,
        "engine": ENGINE,
        "selection": Choice(None)
        | Satisfies(lambda value: isinstance(value, FeatureSelection), "an odefs.FeatureSelection"),
    }

    @names_its_parameters
    def __init__(
        self,
        *,
        detector: DetectorName | Detector = "auto",
        n_estimators: int | NumberRule = "auto",
        n_subsets: int = 50,
        subset_size: int = 8,
        scaling: Scaling = "robust",
        noise_columns: NoiseColumns = "damp",
        trust: float | Literal["auto"] = "auto",
        missing: Missing = "error",
        contamination: float | FlagRule = "auto",
        max_false_flags: float = 1.0,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        selection: FeatureSelection | None = None,
    ) -> None:
        self.detector = detector
        self.n_estimators = n_estimators
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.scaling = scaling
        self.noise_columns = noise_columns
        self.trust = trust
        self.missing = missing
        self.contamination = contamination
        self.max_false_flags = max_false_flags
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.selection = selection

    @classmethod
    def paper(cls, **overrides: object) -> Self:
        """The method of the paper, as far as the paper specifies it.

        Parameters
        ----------
        **overrides
            Parameters to change; those of the selection have the prefix ``selection__``, such as
            ``selection__l1``.
        """
        return cls(**PAPER, selection=FeatureSelection.paper()).set_params(**overrides)

    @whole
    def fit(
        self,
        X: object,
        y: object = None,
        known_outliers: object = None,
        known_normal: object = None,
    ) -> Self:
        """Fit the ensemble and score the training rows; see :meth:`odefs.ODEFS.fit`."""
        known_cases = NamedCases(X, known_outliers, known_normal)
        parameters = self._parameters()
        detector = detector_of(parameters)
        plan = Plan.of(parameters, detector)
        # One setting for the whole fit: changing it for every step takes a tenth of a short fit.
        with verbose_logging(self.verbose), one_blas_thread():
            engine, seeds = open_training_rows(self, X, detector, self.engine), self._seeds()
            if plan.tol < EARLY_STOPPING:
                # Rounding to float32 would decide between references at equal distances
                # (EARLY_STOPPING).
                engine.dtype = np.dtype(np.float64)
            scaled = scale_table(engine, detector, self.scaling, seeds, plan, known_cases)
            # After scale_table, which has counted the rows of a stream.
            known = known_cases(engine.n_rows)
            fitted = fit_ensemble(
                FitInputs(
                    engine, detector, plan, scaled, seeds, known, parameters["detector"] == AUTO
                )
            )
            usual = None
            if known.outliers.size or known.normal.size:
                # Percentiles and the thresholds of "auto" and "paper" come from the scores before
                # known cases change them: raised scores of known outliers would raise their own
                # threshold.
                usual = fitted.judged.scores
                fitted = self._with_known(engine, fitted, known, seeds)
            logger.info("scored %d rows on %d columns", engine.n_rows, engine.n_columns)
            logger.info("trained %s", fitted.stopping.message)
            logger.info("%s", fitted.trust.message)
            self._set_learned(plan, fitted)
            self.noise_columns_ = scaled.noise
            fallbacks = [
                *off_device(self.engine, engine, detector),
                *few_rows(detector, engine.n_rows),
                *few_candidates(fitted.candidates, known.outliers.size),
                *training_fallbacks(fitted.training),
            ]
            cases = {"outliers": int(known.outliers.size), "normal": int(known.normal.size)}
            self.fit_info_ = _fit_info(plan, engine, scaled, fitted) | {
                "known": cases,
                "fallbacks": fallbacks,
            }
            assert fitted.judged.agreement is not None
            self.agreement_ = as_shares(fitted.judged.agreement)
            self._finish(engine, fitted.model, fitted.judged.scores, seeds, usual)
            # Without trust in what was learned, neither candidates nor it affect the score.
            silent = () if self.trust_ else ("few_candidates", "nothing_learned")
            # Last: a warning that the user has turned into an error leaves a fitted estimator.
            self._report(fallbacks, silent)
            return self

    def agreement(self, X: object) -> np.ndarray:
        """Weighted share of the components that score a row above their own threshold.

        A component's threshold is mean + 2 std of its scores on the training rows, the rule of
        ``contamination="paper"``. Members on all columns are included, weighted by their share in
        the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection

        Returns
        -------
        agreement : ndarray of shape (n_samples,)
            From 0 (no component) to 1 (all). For RowBlocks and Dask collections the array is backed
            by a temporary file, as in :meth:`outlier_scores`.
        """
        self._require_fitted()
        if not self._model.has_thresholds:
            raise ValueError(
                "This model was saved by a version of odefs whose components kept no thresholds, "
                "so their agreement cannot be computed: fit it again."
            )
        agreement = judge_rows(self, X).agreement
        assert agreement is not None
        return agreement

    def _engine_for_fit(self, X: object, detector: Detector) -> InMemoryEngine:
        return in_memory_engine(X, self.engine, detector, self.n_jobs)

    def _engine(self, X: object) -> InMemoryEngine:
        return scoring_engine(X, self.engine, self._model, self.n_jobs)

    def _parameters(self) -> dict[str, object]:
        """The parameters of the model and of its selection, whose names are disjoint."""
        own = super()._parameters()
        selection = FeatureSelection() if self.selection is None else self.selection
        return own | checked(selection, selection._constraints)

    def _with_known(
        self, engine: Engine, fitted: FitResult, known: KnownCases, seeds: Seeds
    ) -> FitResult:
        """The model and the scores with what known cases add to them."""
        scaling = fitted.model.scaling
        answers = remember_known(
            fitted.judged.scores,
            lambda rows: engine.take(rows, scaling),
            known.outliers,
            known.normal,
            seeds.known_cases(),
        )
        model = replace(fitted.model, answers=answers)
        with stage("applying known cases"):
            return replace(fitted, model=model, judged=engine.judged(model))

    def _n_informative(self) -> int | None:
        if not self.noise_columns_.size:
            return None
        n_constant = int(np.count_nonzero(self.fit_info_["constant_columns"]))
        return self.n_features_in_ - self.noise_columns_.size - n_constant

    def _set_learned(self, plan: Plan, fitted: FitResult) -> None:
        components = fitted.learned
        self.trust_ = fitted.trust.share
        self.feature_weights_ = np.stack([part.w for part in fitted.training])
        self.feature_subsets_ = [component.columns for component in components]
        self.component_loss_ = np.array([component.loss for component in components])
        # Among the learned components alone, whatever their share in the score.
        self.component_weight_ = component_weights(self.component_loss_)
        self.feature_importances_ = feature_importances(
            fitted.training, self.component_weight_, plan.min_weight
        )
        self.candidate_indices_ = fitted.candidates.rows
        self.n_iter_ = max(len(part.trace) for part in fitted.training)


class ODEFSModel(NestedSelection, ODEFSMethod):
    """ODEFS without scikit-learn."""


def _fit_info(
    plan: Plan, engine: Engine, scaled: ScaledTable, fitted: FitResult
) -> dict[str, object]:
    learned = fitted.training
    return {
        "n_rows": engine.n_rows,
        "n_candidates": fitted.candidates.rows.size,
        "n_above_threshold": fitted.candidates.n_above,
        "candidate_threshold": fitted.candidates.threshold,
        "n_components": len(learned),
        "stopping": asdict(fitted.stopping)
        | {"enough": MIN_RANK_CORRELATION, "message": fitted.stopping.message},
        "n_outlier_examples": min(
            plan.outlier_examples(engine.n_rows), fitted.candidates.rows.size
        ),
        "n_unlabeled_examples": plan.unlabeled_examples(engine.n_rows),
        "subset_sizes": [component.columns.size for component in fitted.learned],
        "n_full_space": fitted.n_full_space,
        "trust": asdict(fitted.trust) | {"message": fitted.trust.message},
        "objective_traces": [list(part.trace) for part in learned],
        "examples_kept": [float(part.v.mean()) for part in learned],
        "ages": [part.lam for part in learned],
        "solver_steps": [part.n_steps for part in learned],
        "converged": [part.converged for part in learned],
        "constant_columns": scaled.ranges.constant,
        "noise_columns": scaled.noise,
    }
