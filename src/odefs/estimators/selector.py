"""ODEFSSelector: a transformer that keeps the columns which separate outliers from other rows."""

import numbers
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted

from odefs.engines.other_arrays import local_table
from odefs.engines.row_blocks import unmasked
from odefs.engines.select import require_in_memory
from odefs.estimators.base import BaseOutlierEstimator
from odefs.estimators.callbacks import CallbackSupport, fit_inside
from odefs.estimators.lesinn import LeSiNN
from odefs.estimators.odefs import ODEFS
from odefs.inspection.contributions import MOST_ROWS, fewest_with_share, shares_of_rows
from odefs.models.constraints import (
    RANDOM_STATE,
    Choice,
    Constraints,
    Integer,
    Number,
    Satisfies,
    checked,
)
from odefs.models.fallbacks import whole


def _selects_columns(estimator: object) -> bool:
    return isinstance(estimator, BaseOutlierEstimator) and not isinstance(estimator, LeSiNN)


class ODEFSSelector(CallbackSupport, SelectorMixin, BaseEstimator):
    """Feature selector that keeps the columns which separate outliers, found without labels.

    For later steps of a pipeline, such as another detector or a plot. :class:`ODEFS` itself needs
    no selector before it.

    Parameters
    ----------
    estimator : ODEFS or one of odefs.baselines, default=None
        Estimator that selects the columns; a clone is fitted. None is ``ODEFS()``.
    keep : "any", int or float, default="any"
        "any" keeps every column that any component selected. Components that learned nothing
        select nothing; if none learned anything, all columns are kept. An integer is the number of
        columns to keep, in order of importance (all if it exceeds their number). A float in (0, 1]
        keeps the fewest columns whose importances add up to this share. Importances are those of
        the estimator or, if it does not trust the learned columns (``trust_`` is 0), the shares of
        the columns in the scores of the flagged rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator; an explicit ``estimator`` has its own.

    Attributes
    ----------
    estimator_ : the fitted estimator
    support_ : ndarray of shape (n_features_in_,) of bool
        Mask of the columns that are kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from odefs import ODEFSSelector
    >>> X = np.random.default_rng(0).normal(size=(500, 30))
    >>> X[:12, 4] += 7
    >>> ODEFSSelector(keep=1, random_state=0).fit(X).get_feature_names_out()
    array(['x4'], dtype=object)
    """

    _constraints: ClassVar[Constraints] = {
        "estimator": Choice(None) | Satisfies(_selects_columns, "ODEFS or one of odefs.baselines"),
        "keep": Choice("any") | Integer(1) | Number(0, 1, open_low=True),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        estimator: BaseOutlierEstimator | None = None,
        *,
        keep: float | Literal["any"] = "any",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.keep = keep
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(ODEFS() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse = of_estimator.sparse
        tags.input_tags.allow_nan = of_estimator.allow_nan
        return tags

    @whole
    def fit(self, X: object, y: object = None) -> Self:
        """Select the columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        checked(self, self._constraints)
        require_in_memory(X, "ODEFSSelector")
        X = local_table(unmasked(X))
        fitted = fit_inside(self, self._unfitted(), X)
        importances = _importances(fitted, X)
        support = np.zeros(fitted.n_features_in_, dtype=bool)
        support[_kept_columns(fitted, importances, self.keep)] = True
        self.n_features_in_ = fitted.n_features_in_
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_
        self.feature_importances_ = importances
        self.estimator_, self.support_ = fitted, support
        return self

    def transform(self, X: object) -> Any:
        """Return the selected columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return super().transform(local_table(unmasked(X)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def _unfitted(self) -> BaseOutlierEstimator:
        if self.estimator is None:
            return ODEFS(random_state=self.random_state)
        copy: BaseOutlierEstimator = clone(self.estimator)
        return copy

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_


def _importances(estimator: BaseOutlierEstimator, X: object) -> np.ndarray:
    learned: np.ndarray = estimator.feature_importances_
    # Competitors have no trust_: their subsets are the whole score.
    if getattr(estimator, "trust_", None) != 0:
        return learned
    top_ranked = np.argsort(-estimator.outlier_scores_, kind="stable")[:MOST_ROWS]
    flagged = top_ranked[estimator.is_outlier_[top_ranked]]
    shares = shares_of_rows(estimator, _rows(X, flagged)) if flagged.size else None
    return learned if shares is None else shares


def _rows(X: object, numbers: np.ndarray) -> object:
    """Rows of an array, data frame or sparse matrix by number."""
    if sparse.issparse(X):
        table: Any = X
        return table.tocsr()[numbers]
    return _safe_indexing(X if hasattr(X, "columns") else np.asarray(X), numbers)


def _kept_columns(
    estimator: BaseOutlierEstimator, importances: np.ndarray, keep: str | float
) -> np.ndarray:
    if isinstance(keep, str):
        subsets = estimator.feature_subsets_
        if hasattr(estimator, "feature_weights_"):
            learned = estimator.feature_weights_.any(axis=1)
            # A component with w = 0 uses all columns, which is not a selection.
            subsets = [
                subset for subset, useful in zip(subsets, learned, strict=True) if useful
            ] or subsets
        return np.unique(np.concatenate(subsets))
    if isinstance(keep, numbers.Integral):
        return np.argsort(-importances, kind="stable")[: int(keep)]
    return fewest_with_share(importances, float(keep))
