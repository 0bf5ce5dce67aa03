"""ODEFS estimator: the outlier detection ensemble with embedded feature selection."""

from typing import Self

from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import observed
from odefs.models.feature_selection import NestedSelection
from odefs.models.odefs import ODEFSMethod


class ODEFS(NestedSelection, BaseOutlierEstimator, ODEFSMethod):
    """Outlier detection ensemble with embedded feature selection (Cheng et al., AAAI 2020).

    The detector first scores rows on all columns (all rows in the paper, up to 8,192 by default).
    Rows that score far above the mean are outlier candidates. Each component of the ensemble
    learns which columns rank a sample of the candidates above ordinary rows. The detector then
    scores all rows on the columns of every component and, to the extent that these are not
    trusted, on all columns; the scores are averaged. ``ODEFS()`` has the defaults that work best
    in this project's experiments, and :meth:`ODEFS.paper` follows the paper exactly wherever it
    specifies the method.

    Parameters
    ----------
    detector : str or Detector, default="auto"
        The detector that columns are selected for: "auto", "lesinn", "iforest", "tails", "coupling"
        or "relations". "lesinn" measures distances to random rows. "auto" is "lesinn" with up to
        two companions: "coupling", where columns with few values make up part of the table, and
        "relations", where at most 15 columns of numbers are not noise and explain each other.
        "coupling" looks for rare values, above all several in one row; "relations" for rows that
        break a relation between columns, such as a total that does not add up; "tails" for extreme
        values of single columns; "iforest" is an isolation forest. An instance has its own
        settings; ``n_subsets``, ``subset_size`` and ``selection.metric`` then have no effect.
    n_estimators : {"auto", "paper"} or int, default="auto"
        Number of components. "auto" trains 8; if these are worth trusting, 12, and then 8 more at a
        time (at most 32) until the ranking is stable: two ensembles of that size are expected to
        rank 2,048 sampled rows with a correlation of 0.98 (see ``fit_info_["stopping"]``). "paper"
        takes ``2 ceil(n_candidates / n_outlier_examples)``. Each component scores every row, so
        the time is then quadratic in the number of rows.
    n_subsets : int, default=50
        Number of random subsets of reference rows in the detector "lesinn".
    subset_size : int, default=8
        Number of rows in each of these subsets.
    scaling : {"robust", "damped", "rootstd", "minmax", "none"}, default="robust"
        Column scaling. "minmax" scales to [0, 1] and reproduces the paper's scores on all columns;
        balanced binary columns then outweigh all others. "rootstd" also divides by the root of
        the standard deviation, half-way to z-scores, which ranks better on average and makes
        unusual numbers visible next to binary columns. "damped" is "rootstd" with a limit that
        keeps rare values of a binary column from outweighing everything else. "robust" is "damped"
        after values more than 3 robust standard deviations from the median have been drawn in
        logarithmically, so that one huge value does not hide the next one.
    noise_columns : {"damp", "keep"}, default="damp"
        Whether columns that look like pure noise are down-weighted to 10 %, within the range of
        the training rows; beyond it a value counts in full. Such columns are unrelated to every
        other column, in their values and in the squares of these, and have no extreme values. At
        least 250 rows are needed to detect them. Columns that separate known outliers from other
        rows are never down-weighted, and only detectors that measure distances ("lesinn", "auto")
        are affected. "keep" weights all columns alike, as in the paper.
    trust : "auto" or float in [0, 1], default="auto"
        Share of the learned column subsets in the final score; the rest comes from the scores on
        all columns. The paper trusts the subsets fully, but subsets learned from wrong candidates
        can omit the very column that reveals an outlier. "auto" measures on sampled rows
        whether the subsets increase the contrast of the scores more than random subsets do,
        whether the candidates depend on the random draw, and whether the top-ranked rows move
        further away from the others, not just by the rare value of one column; known outliers can
        increase it (see ``fit_info_["trust"]``). The scores on all columns then use as many
        reference subsets as make their ranking stable, up to 24 times ``n_subsets``.
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
    engine : {"auto", "local", "stream", "dask", "torch", "torch:DEVICE"}, default="auto"
        Where the rows are held and scored: in memory; in passes over :class:`odefs.RowBlocks` or
        a parquet file, which may be larger than memory; on the workers of a Dask cluster; on a
        GPU. "auto" depends on the type of ``X``. All engines return the same result, "torch" with
        the default settings to 1e-4; with another loss, or learning until convergence (``tol``
        below 1e-5, as in :meth:`paper`), it may reach another minimum and select other columns.
        "torch" uses a GPU if PyTorch finds one, otherwise PyTorch on the CPU, which is slower than
        "local"; "torch:cpu", "torch:cuda" and "torch:cuda:N" name the device. Detectors other than
        LeSiNN, sparse tables and tables with missing cells then run as "local", with a warning.
    n_jobs : int or None, default=None
        Number of threads; None uses every core available to the process, whereas scikit-learn's
        None is one. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random draws. The same seed gives the same scores, bit for bit.
    verbose : int, default=0
        With 1 or more, the progress of ``fit`` is logged. A notebook shows a progress bar instead,
        which is gone at the end, and with 2 both.
    selection : FeatureSelection or None, default=None
        Settings of the feature selection, which studies vary and most users leave alone. None is
        :class:`odefs.FeatureSelection` with its defaults. Single settings are set as
        ``selection__l1`` in ``set_params`` and in grid searches.

    Attributes
    ----------
    outlier_scores_, decision_scores_ : ndarray of shape (n_samples,)
        Scores of the training rows: high = abnormal; their average is 1.0, before known cases
        change them.
    is_outlier_ : ndarray of shape (n_samples,) of bool
    agreement_ : ndarray of shape (n_samples,)
        Weighted share of the components that score a training row above their own threshold; see
        :meth:`agreement`.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    score_quantiles_ : ndarray of shape (256,)
        Quantiles of the training scores, from which :meth:`score_percentiles` is computed.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each column in the gap between outlier examples and other rows, averaged over the
        components. The shares add up to 1.
    feature_weights_ : ndarray of shape (n_components, n_features_in_)
    feature_subsets_ : list of ndarray
        Columns that each component selected.
    component_loss_, component_weight_ : ndarray of shape (n_components,)
    candidate_indices_ : ndarray
        Outlier candidates of the first round: rows with high scores on all columns, and known
        outliers.
    noise_columns_ : ndarray of int
        Columns that look like pure noise and are down-weighted to 10 %; empty with
        ``noise_columns="keep"``.
    trust_ : float
        Share of the learned column subsets in the score; 0 if only all columns are used.
    fit_info_ : dict
        Details of the fit: sizes, objective traces, fallbacks. ``fit_info_["stopping"]`` explains
        the number of components: ``reason`` ("settled", "limit", "paper", "given", or "not
        trusted" if the first components showed that more would not help), ``limit``, the number in
        the ``paper``, ``agreement`` (pairs of a number of components and its rank correlation),
        the rank correlation that is ``enough``, and a ``message`` with all of this.
    n_iter_ : int
        Number of rounds of the longest alternation with self-pacing.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    L. Cheng, Y. Wang, X. Liu, B. Li: Outlier Detection Ensemble with Embedded Feature Selection.
    AAAI 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from odefs import ODEFS
    >>> X = np.random.default_rng(0).normal(size=(500, 30))
    >>> X[:12, 4] += 7
    >>> model = ODEFS(random_state=0).fit(X)
    >>> int(model.feature_importances_.argmax())
    4
    >>> model.explain(X[:1]).reasons(0)[0][0].column
    'x4'
    """

    @observed
    def fit(
        self,
        X: object,
        y: object = None,
        known_outliers: object = None,
        known_normal: object = None,
    ) -> Self:
        """Train the ensemble and score the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), RowBlocks, Dask collection
            With RowBlocks or a Dask collection, attributes with one entry per row
            (``outlier_scores_``, ``is_outlier_``) are stored in temporary files, which are deleted
            together with the attributes.
        y : ignored
        known_outliers, known_normal : int, str, or array-like of int, bool or str, optional
            Rows known to be outliers or normal. Integers are row numbers from 0 (negative numbers
            raise an error), booleans are a mask with one value per row, and strings are labels in
            the index of a pandas DataFrame. Labels of all rows (0 and 1, or 1 and -1) raise an
            error: pass ``y == 1`` or ``y == -1`` instead. A boolean pandas Series must have the
            index of ``X`` or the default index.

            Every component learns from the known outliers, or from a sample if there are more than
            ``n_outlier_examples``; known normal rows are never candidates. Rows that are shifted in
            the same direction as at least three known outliers score higher. If normal rows are
            known too, rows also score higher or lower by the known rows they resemble, as after a
            review (:class:`odefs.Review`). Known rows are scored by the same rule as all others.
            Use masks if rows are selected before ``fit``, as in ``GridSearchCV`` and
            ``cross_validate``: masks are split with the rows, while row numbers are passed to every
            fold unchanged and refer to other rows there.
        """
        return ODEFSMethod.fit(self, X, y, known_outliers, known_normal)
