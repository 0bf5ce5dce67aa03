"""LeSiNN estimator: the detector on all columns, without feature selection."""

from typing import ClassVar, Self

import numpy as np

from odefs._known_options import names_its_parameters
from odefs._progress import verbose_logging
from odefs.detectors.base import METRICS, Metric
from odefs.ensemble.fit_fixed import fit_bare
from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import observed
from odefs.models.base import MAX_FALSE_FLAGS, OF_SUBSETS
from odefs.models.constraints import Choice, Constraints
from odefs.models.fallbacks import few_rows, whole
from odefs.models.literals import FlagRule, Missing, Scaling
from odefs.models.select_engine import open_training_rows
from odefs.models.validation import detector_of


class LeSiNN(BaseOutlierEstimator):
    """Outlier scores from the mean distance to the nearest rows in many small random subsets.

    Linear in rows and columns, without training. :class:`ODEFS` selects columns for this detector.

    Parameters
    ----------
    n_subsets : int, default=50
        Number of random subsets.
    subset_size : int, default=8
        Rows per subset.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        Distance. The authors of LeSiNN use the Euclidean distance, the ODEFS paper its square.
    scaling : {"minmax", "rootstd", "damped", "robust", "none"}, default="minmax"
        Column scaling. "minmax" scales to [0, 1]; "rootstd" also divides by the root of the
        standard deviation; "damped" does the same but limits the weight of binary columns;
        "robust" does this after extreme values have been drawn in logarithmically.
    missing : {"error", "ignore"}, default="error"
        Whether missing cells (NaN, masked cells of ``numpy.ma``) raise an error, or distances are
        computed on the observed columns and divided by the share of the columns these represent.
    contamination : {"auto", "paper"} or float in (0, 0.5], default="auto"
        Which training rows to flag: a share of them, or by their scores. "auto" flags rows beyond
        what the bulk of the scores explains: in a table without outliers, about
        ``max_false_flags`` rows are flagged. "paper" flags scores above mean + 2 std, in most
        tables 3 to 6 % of the rows. "auto" does the same for fewer than 30 rows (see
        ``fit_info_["flag_rule"]``), and flags only the highest scores if nearly all rows have equal
        ones.
    max_false_flags : float, default=1.0
        Expected number of flagged rows in a table of this size without outliers; for
        ``contamination="auto"``.
    n_jobs : int or None, default=None
        Number of threads; None uses every core available to the process, whereas scikit-learn's
        None is one. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random draws. The same seed gives the same scores, bit for bit.
    verbose : int, default=0
        With 1 or more, the progress of ``fit`` is logged. A notebook shows a progress bar instead,
        which is gone at the end, and with 2 both.

    Attributes
    ----------
    outlier_scores_ : ndarray of shape (n_samples,)
        Scores of the training rows: high = abnormal; their average is 1.0.
    is_outlier_ : ndarray of shape (n_samples,) of bool
    offset_ : float
        ``decision_function = score_samples - offset_``.
    score_quantiles_ : ndarray of shape (256,)
        Quantiles of the training scores, from which :meth:`score_percentiles` is computed.
    fit_info_ : dict
        Number of rows and fallbacks of the fit.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    G. Pang, K. M. Ting, D. Albrecht: LeSiNN: Detecting anomalies by identifying least similar
    nearest neighbours. ICDM Workshops 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from odefs import LeSiNN
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[7] = 9
    >>> int(LeSiNN(random_state=0).fit(X).outlier_scores_.argmax())
    7
    """

    _constraints: ClassVar[Constraints] = {
        **BaseOutlierEstimator._constraints,
        **OF_SUBSETS,
        "metric": Choice(*METRICS),
        "max_false_flags": MAX_FALSE_FLAGS,
    }

    @names_its_parameters
    def __init__(
        self,
        *,
        n_subsets: int = 50,
        subset_size: int = 8,
        metric: Metric = "euclidean",
        scaling: Scaling = "minmax",
        missing: Missing = "error",
        contamination: float | FlagRule = "auto",
        max_false_flags: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.metric = metric
        self.scaling = scaling
        self.missing = missing
        self.contamination = contamination
        self.max_false_flags = max_false_flags
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @observed
    @whole
    def fit(self, X: object, y: object = None) -> Self:
        """Sample the subsets and score the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection
        y : ignored
        """
        detector = detector_of(self._parameters())
        with verbose_logging(self.verbose):
            engine, seeds = open_training_rows(self, X, detector), self._seeds()
            model, scores = fit_bare(engine, detector, self.scaling, seeds)
            fallbacks = few_rows(detector, engine.n_rows)
            self.fit_info_ = {"n_rows": engine.n_rows, "fallbacks": fallbacks}
            self._finish(engine, model, scores, seeds)
            self._report(fallbacks)
            return self
