"""ODEFS, the ensemble with embedded feature selection."""

from dataclasses import asdict
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from odefs._logging import logger, verbose_logging
from odefs.detectors.base import Detector
from odefs.engines.in_memory import InMemoryEngine
from odefs.engines.select import check_engine, in_memory_engine, scoring_engine
from odefs.ensemble.combine import as_shares, component_weights
from odefs.ensemble.engine import Engine
from odefs.ensemble.fit import FitInputs, FitResult, fit_ensemble
from odefs.ensemble.plan import Plan
from odefs.ensemble.scaled_table import ScaledTable, scale_table
from odefs.ensemble.stopping import MIN_RANK_CORRELATION
from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import observed
from odefs.estimators.fallbacks import few_candidates, few_rows, off_device, training_fallbacks
from odefs.estimators.known_outliers import NamedCases
from odefs.estimators.parameters import require_choice, require_integer, require_number, resolve_detector
from odefs.estimators.reset_on_failure import whole
from odefs.estimators.select_engine import judge_rows, open_training_rows
from odefs.inspection.importances import feature_importances
from odefs.selection.losses import LOSSES
from odefs.selection.solvers import SOLVERS

MAX_SOLVER_STEPS = 1000

WEIGHT_POWERS = {"root": 0.5, "weighted": 1.0, "subset": 0.0}
"""The power of the learned weights in the final scores."""

PAPER: dict[str, Any] = {
    "detector": "lesinn",
    "n_estimators": "paper",
    "n_outlier_examples": "auto",
    "unlabeled_ratio": 6,
    "threshold_rate": 2.0,
    "loss": "sigmoid",
    "l1": 1e-4,
    "tol": 1e-4,
    "self_paced": True,
    "min_weight": 0.05,
    "n_subsets": 50,
    "subset_size": 8,
    "references": "fresh",
    "metric": "sqeuclidean",
    "scaling": "minmax",
    "noise_columns": "keep",
    "loss_scale": "none",
    "final_distance": "subset",
    "n_rounds": 1,
    "trust": 1.0,
    "row_sample": None,
}
"""All that bears on the result, so that no later change of a default changes the paper's method."""


class ODEFS(BaseOutlierEstimator):
    """Outlier detection ensemble with embedded feature selection (Cheng et al., AAAI 2020).

    Scores rows with a bare detector (all of them in the paper, up to 8,192 by default), takes those far above the mean as outlier candidates, and trains
    components that each learn which columns rank a sample of the candidates above ordinary rows. The detector then scores all rows on every component's
    columns and, as far as these are not trusted, on all columns; the scores are averaged. ``ODEFS()`` is the project's best default, :meth:`ODEFS.paper` follows the paper to the letter.

    Parameters
    ----------
    detector : {"lesinn", "iforest", "tails"} or Detector, default="lesinn"
        The detector that columns are selected for. An instance carries its own settings; ``n_subsets``, ``subset_size`` and ``metric`` then have no effect.
    n_estimators : "auto", "paper" or int, default="auto"
        Number of components. The paper takes ``2 ceil(n_candidates / n_outlier_examples)``; as each component scores every row, that is quadratic in
        the number of rows, while on a few hundred rows it is two or four. "auto" takes the first of the same sequence: 12, then 8 more until the ranking has settled, that is until two ensembles of
        as many components are expected to correlate to 0.98 in the ranks they give to 2,048 sampled rows, 32 at most (see ``fit_info_["stopping"]``).
    n_outlier_examples : "auto" or int, default="auto"
        Candidates that a component learns from (the paper's m*): 32 up to 10,000 rows, 64 above.
    unlabeled_ratio : float, default=6
        Unlabelled rows per candidate in a component (the paper's m / m*).
    threshold_rate : float, default=2.0
        Candidates score above mean + threshold_rate * std (the paper's a).
    loss : {"sigmoid", "logistic", "hinge"}, default="sigmoid"
        Ranking loss. The paper uses the sigmoid and names the others; the hinge is squared to be smooth.
    l1 : float, default=1e-4
        Weight of the l1 penalty (the paper's theta).
    solver : {"proximal", "lbfgs"}, default="proximal"
        Solver of the weight step; the paper says SGD.
    tol : float, default=1e-3
        The weight step ends when first-order optimality is violated by less than this; the alternation, when the objective falls by less.
        The paper does not say, ``paper()`` takes 1e-4. The default exceeds ``l1``: it acts as early stopping, keeps more columns, and
        often leaves little to the penalty and to self-pacing. On the paper's data that ranks better; take 1e-5 where few columns are wanted.
    self_paced : True, False or "classic", default=True
        Thresholded self-paced learning; False is the paper's ODEFS*, "classic" lets every example in at the end.
    min_weight : float, default=0.05
        A column is selected if its weight exceeds this share of the largest (the paper's epsilon).
    n_subsets, subset_size : int, default=50 and 8
        Reference subsets of LeSiNN.
    references : {"fresh", "shared"}, default="fresh"
        Whether components draw their own references or share those of the bare scores. The paper is silent; running a detector that
        draws subsets anew draws new ones, and an unlucky draw then spoils one component and not all.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        Distance in the scores. The paper writes the squared one; its root ranks better. Training uses the squared one in either case,
        since it is linear in the weights.
    scaling : {"damped", "rootstd", "minmax", "none"}, default="damped"
        Column scaling. The paper does not say; min-max reproduces its bare scores. There, a balanced binary column outweighs any
        other. "rootstd" divides further by the root of the standard deviation, half-way to z-scores, which ranks better on
        average and lets unusual numbers beside binary columns be seen and named as reasons. "damped" does so too, but keeps a rare value of a two-valued column from
        outweighing all others.
    noise_columns : {"damp", "keep"}, default="damp"
        Whether columns that look like pure noise count a tenth. These are columns that are related to no other, neither in their values nor in the squares of these, and have
        no far values; fewer than 400 rows are not enough to tell. A column that sets known outliers apart is not damped, nor is any with a detector that
        does not depend on the scale of columns ("iforest", "tails"). The paper leaves all selection to its components.
    loss_scale : {"std", "none"}, default="std"
        Whether scores inside the loss are divided by their standard deviation. Plain scores grow with the number of columns and
        saturate the sigmoid.
    final_distance : {"root", "weighted", "subset"}, default="root"
        Whether selected columns count with the roots of their learned weights, with these weights, or alike, as in the paper.
    n_rounds : int, default=2
        Rounds of learning. The paper has one. In each further round the candidates come from what the components of the round before and the full space say
        together about up to 8,192 sampled rows.
    trust : "auto" or float in [0, 1], default="auto"
        Share of the learned subsets in the final score; the rest goes to the scores on all columns. The paper trusts them fully, but a subset learned from the
        wrong candidates may leave out the very column that gives a row away. "auto" measures on sampled rows whether the subsets raise the contrast of the scores
        more than random subsets of the same size would, whether the candidates depend on the luck of the draw, and whether the foremost rows leave the others further behind;
        known outliers may raise it (``fit_info_["trust"]``). The full space is then
        scored with as many references as settle its ranking, up to 24 times as many.
    row_sample : int or None, default=524288
        Rows on which normalisers are computed (None: all, as in the paper); the same when there are fewer rows.
    missing : {"error", "ignore"}, default="error"
        Whether missing cells (NaN, masked cells of ``numpy.ma``) are refused, or distances run over
        the observed columns and are divided by the share these cover.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of the training rows to flag. "auto" flags scores above mean + threshold_rate * std, a convention without a promise.
    engine : {"auto", "local", "stream", "dask", "torch", "torch:cpu", "torch:cuda", "torch:cuda:N"}, default="auto"
        Where training and the sweeps over the rows run: in memory; in passes over :class:`odefs.engines.stream.RowBlocks` (or a parquet file), which may
        be larger than memory; on the workers of a Dask cluster; on a GPU. "auto" goes by what is given to ``fit``. All give the same result, "torch" to
        1e-4. "torch" is a GPU where PyTorch sees one, otherwise PyTorch on the processor, which is slower than "local"; detectors other than LeSiNN, sparse
        tables and tables with missing cells then run as "local", which is said in a warning.
    n_jobs : int, optional
        Threads; None uses every core the process may use. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    outlier_scores_, decision_scores_ : ndarray of shape (n_samples,)
        Scores of the training rows: high = abnormal, 1.0 = an ordinary row.
    is_outlier_ : ndarray of shape (n_samples,) of bool
    agreement_ : ndarray of shape (n_samples,)
        For each training row the weighted share of the components that put it above their own threshold; see :meth:`agreement`.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each column in the gap between outlier examples and other rows, averaged over the components; adds up to 1.
    feature_weights_ : ndarray of shape (n_components, n_features_in_)
    feature_subsets_ : list of ndarray
        Columns each component selected.
    component_loss_, component_weight_ : ndarray of shape (n_components,)
    candidate_indices_ : ndarray
        Rows that stand out on all columns, and known outliers: the outlier candidates of the first round.
    noise_columns_ : ndarray of int
        Columns that look like pure noise and count a tenth; none with ``noise_columns="keep"``.
    trust_ : float
        Share of the learned subsets in the score; 0 where the full space ranks alone.
    fit_info_ : dict
        What the fit did: sizes, objective traces, fallbacks. ``fit_info_["stopping"]`` says why there are as many components as there are: ``reason``
        ("settled", "limit", "paper", "given", or "not trusted" where a few components have shown that more would be in vain), ``limit``, the ``paper``'s number, ``agreement`` (pairs of a number of components and the rank
        correlation at it), what was ``enough``, and all of it as a ``message``.
    n_iter_ : int
        Rounds of the longest alternation.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    L. Cheng, Y. Wang, X. Liu, B. Li: Outlier Detection Ensemble with Embedded Feature Selection. AAAI 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from odefs import ODEFS
    >>> X = np.random.default_rng(0).normal(size=(500, 30))
    >>> X[:12, 4] += 7
    >>> model = ODEFS(random_state=0).fit(X)
    >>> int(model.feature_importances_.argmax())
    4
    >>> model.explain(X[:1]).reasons(0)[0].column
    'x4'
    """

    def __init__(
        self,
        detector: str | Detector = "lesinn",
        n_estimators: int | str = "auto",
        n_outlier_examples: int | str = "auto",
        unlabeled_ratio: float = 6,
        threshold_rate: float = 2.0,
        loss: str = "sigmoid",
        l1: float = 1e-4,
        solver: str = "proximal",
        tol: float = 1e-3,
        self_paced: bool | str = True,
        min_weight: float = 0.05,
        n_subsets: int = 50,
        subset_size: int = 8,
        references: str = "fresh",
        metric: str = "euclidean",
        scaling: str = "damped",
        noise_columns: str = "damp",
        loss_scale: str = "std",
        final_distance: str = "root",
        n_rounds: int = 2,
        trust: float | str = "auto",
        row_sample: int | None = 2**19,
        missing: str = "error",
        contamination: float | str = "auto",
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.detector = detector
        self.n_estimators = n_estimators
        self.n_outlier_examples = n_outlier_examples
        self.unlabeled_ratio = unlabeled_ratio
        self.threshold_rate = threshold_rate
        self.loss = loss
        self.l1 = l1
        self.solver = solver
        self.tol = tol
        self.self_paced = self_paced
        self.min_weight = min_weight
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.references = references
        self.metric = metric
        self.scaling = scaling
        self.noise_columns = noise_columns
        self.loss_scale = loss_scale
        self.final_distance = final_distance
        self.n_rounds = n_rounds
        self.trust = trust
        self.row_sample = row_sample
        self.missing = missing
        self.contamination = contamination
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """The paper to the letter where it speaks; overrides are constructor parameters."""
        return cls(**{**PAPER, **overrides})

    @observed
    @whole
    def fit(self, X: Any, y: Any = None, known_outliers: Any = None, known_normal: Any = None) -> Self:
        """Learn the ensemble and score the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection
            With RowBlocks or a Dask collection, attributes with one entry per row (``outlier_scores_``, ``is_outlier_``) lie in temporary files, which go
            when they do.
        y : ignored
        known_outliers, known_normal : int, str, or array-like of int, bool or str, optional
            Rows whose kind is known. Integers are always row numbers from 0 (negative ones are
            refused), booleans a mask with one value per row, and text names rows by their labels in
            the index of a pandas frame. Labels of all rows (0 and 1, or 1 and -1) are refused:
            pass ``y == 1`` or ``y == -1``. A boolean Series of pandas must have the index of ``X``
            or the default one.

            Every component learns from the known outliers (from a sample of them where they are
            more than its examples); known normal rows are never candidates. All rows are scored
            alike, known or not. Give masks wherever rows are chosen before ``fit``, as in
            ``GridSearchCV`` and ``cross_validate``: masks are split with the rows, while row
            numbers reach every fold as they are and mean other rows there.
        """
        known_cases = NamedCases(X, known_outliers, known_normal)
        detector = resolve_detector(self.detector, self.n_subsets, self.subset_size, self.metric)
        plan = self._plan(damps_noise=detector.depends_on_scale)
        self._check_shared_parameters(detector)
        with verbose_logging(self.verbose):
            engine, seeds = open_training_rows(self, X, detector, self.engine), self._seeds()
            scaled = scale_table(engine, detector, self.scaling, seeds, plan, known_cases)
            known = known_cases(engine.n_rows)
            fitted = fit_ensemble(FitInputs(engine, detector, plan, scaled, seeds, known))
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
            self.fit_info_ = _fit_info(plan, engine, scaled, fitted) | {"known": cases, "fallbacks": fallbacks}
            assert fitted.judged.agreement is not None
            self.agreement_ = as_shares(fitted.judged.agreement)
            self._finish(engine, fitted.model, fitted.judged.scores, self.threshold_rate, seeds)
            self._report(fallbacks)
            return self

    def agreement(self, X: Any) -> np.ndarray:
        """How far the components agree that a row stands out: the weighted share of them that put it above their own threshold.

        A component's threshold is mean + ``threshold_rate`` * std of its scores of the training rows. Members on all columns count too, with their share in the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection

        Returns
        -------
        agreement : ndarray of shape (n_samples,)
            From 0 (no component) to 1 (all). For RowBlocks and Dask collections in a temporary file, as with :meth:`outlier_scores`.
        """
        check_is_fitted(self)
        if not self._model.has_thresholds:
            raise ValueError(
                "This model was saved by a version of odefs whose components kept no thresholds, so nothing can be said about their agreement: fit it again."
            )
        agreement = judge_rows(self, X).agreement
        assert agreement is not None
        return agreement

    def _engine_for_fit(self, X: Any, detector: Detector) -> InMemoryEngine:
        return in_memory_engine(X, self.engine, detector, self.n_jobs)

    def _engine(self, X: Any) -> InMemoryEngine:
        return scoring_engine(X, self.engine, self._model, self.n_jobs)

    def _check_settings(self, detector: Detector) -> None:
        self._plan()
        super()._check_settings(detector)

    def _plan(self, damps_noise: bool = True) -> Plan:
        """Check the parameters and turn them into a plan."""
        if self.n_estimators not in ("auto", "paper"):
            require_integer("n_estimators", self.n_estimators, 1)
        if self.n_outlier_examples != "auto":
            require_integer("n_outlier_examples", self.n_outlier_examples, 1)
        if self.row_sample is not None:
            require_integer("row_sample", self.row_sample, 1)
        require_number("unlabeled_ratio", self.unlabeled_ratio, 0.0, open_low=True)
        require_number("threshold_rate", self.threshold_rate, 0.0)
        require_number("l1", self.l1, 0.0)
        require_number("tol", self.tol, 0.0)
        if self.trust != "auto":
            require_number("trust", self.trust, 0.0, 1.0)
        require_integer("n_rounds", self.n_rounds, 1)
        require_number("min_weight", self.min_weight, 0.0, 1.0, open_high=True)
        require_choice("loss", self.loss, LOSSES)
        require_choice("solver", self.solver, SOLVERS)
        require_choice("self_paced", self.self_paced, (True, False, "classic"))
        require_choice("references", self.references, ("fresh", "shared"))
        require_choice("noise_columns", self.noise_columns, ("damp", "keep"))
        require_choice("loss_scale", self.loss_scale, ("std", "none"))
        require_choice("final_distance", self.final_distance, WEIGHT_POWERS)
        check_engine(self.engine)
        return Plan(
            n_estimators=_whole(self.n_estimators),
            n_outlier_examples=_whole(self.n_outlier_examples),
            unlabeled_ratio=self.unlabeled_ratio,
            threshold_rate=self.threshold_rate,
            loss=self.loss,
            l1=self.l1,
            solver=self.solver,
            tol=self.tol,
            max_steps=MAX_SOLVER_STEPS,
            self_paced=self.self_paced,
            min_weight=self.min_weight,
            fresh_references=self.references == "fresh",
            scale_loss=self.loss_scale == "std",
            weight_power=WEIGHT_POWERS[self.final_distance],
            trust=None if isinstance(self.trust, str) else float(self.trust),
            n_rounds=int(self.n_rounds),
            row_sample=None if self.row_sample is None else int(self.row_sample),
            damps_noise=damps_noise and self.noise_columns == "damp",
        )

    def _set_learned(self, plan: Plan, fitted: FitResult) -> None:
        components = fitted.learned
        self.trust_ = fitted.trust.share
        self.feature_weights_ = np.stack([part.w for part in fitted.training])
        self.feature_subsets_ = [component.columns for component in components]
        self.component_loss_ = np.array([component.loss for component in components])
        self.component_weight_ = component_weights(self.component_loss_)
        learned = [part.learned for part in fitted.training]
        self.feature_importances_ = feature_importances(learned, self.component_weight_, plan.min_weight)
        self.candidate_indices_ = fitted.candidates.rows
        self.n_iter_ = max(len(part.learned.trace) for part in fitted.training)


def _whole(value: int | str) -> int | str:
    """NumPy's integers, which grid searches hand in, as plain ones."""
    return value if isinstance(value, str) else int(value)


def _fit_info(plan: Plan, engine: Engine, scaled: ScaledTable, fitted: FitResult) -> dict[str, Any]:
    learned = [part.learned for part in fitted.training]
    return {
        "n_rows": engine.n_rows,
        "n_candidates": fitted.candidates.rows.size,
        "n_above_threshold": fitted.candidates.n_above,
        "candidate_threshold": fitted.candidates.threshold,
        "n_components": len(learned),
        "stopping": asdict(fitted.stopping) | {"enough": MIN_RANK_CORRELATION, "message": fitted.stopping.message},
        "n_outlier_examples": min(plan.outlier_examples(engine.n_rows), fitted.candidates.rows.size),
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
