"""Base class of the outlier estimators: scikit-learn's conventions on top of the models.

Outlier scores of models are high for abnormal rows. Scikit-learn's signs are opposite:
``score_samples`` is the negated outlier score.
"""

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, estimator_html_repr
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from odefs.detectors.base import Detector
from odefs.engines.other_arrays import local_table
from odefs.engines.row_blocks import unmasked
from odefs.estimators.callbacks import CallbackSupport
from odefs.estimators.fitted_facts import facts_html
from odefs.models.base import OutlierModel
from odefs.models.validation import (
    hint_for,
    is_missing_error,
    missing_message,
    require_any_column,
    require_distinct_names,
    require_no_dates,
)


class BaseOutlierEstimator(CallbackSupport, OutlierMixin, BaseEstimator, OutlierModel):
    """Base class of the estimators; subclasses may also inherit from a model."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        detector = getattr(self, "detector", None)
        # Built-in detectors, given by name, all handle missing cells.
        refuses = isinstance(detector, Detector) and not detector.handles_missing
        tags.input_tags.allow_nan = self.missing == "ignore" and not refuses
        tags.input_tags.sparse = True
        return tags

    def score_samples(self, X: object) -> np.ndarray:
        """Negated outlier scores: low = abnormal, as in scikit-learn."""
        return -self.outlier_scores(X)

    def decision_function(self, X: object) -> np.ndarray:
        """``score_samples(X) - offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: object) -> np.ndarray:
        """-1 for outliers, 1 for inliers."""
        # A score equal to the threshold is not an outlier, as in is_outlier_.
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: object, y: object = None, **more: object) -> np.ndarray:
        """Fit the model and return -1 for outliers and 1 for inliers of the training rows.

        Further arguments are passed to ``fit``.
        """
        return np.where(self.fit(X, y, **more).is_outlier_, -1, 1)

    @property
    def decision_scores_(self) -> np.ndarray:
        """Alias of ``outlier_scores_`` (high = abnormal, unlike ``decision_function``)."""
        return self.outlier_scores_

    def _html_repr(self) -> str:
        """Scikit-learn's diagram, and what the fit found below it; notebooks show this."""
        diagram: str = estimator_html_repr(self)
        return diagram + facts_html(self) if self.__sklearn_is_fitted__() else diagram

    def _require_fitted(self) -> None:
        check_is_fitted(self)

    def _validate(self, X: object, reset: bool) -> object:
        finite = "allow-nan" if self.missing == "ignore" else True
        least = 2 if reset else 1
        X = local_table(unmasked(X))
        try:
            require_any_column(X)
            require_distinct_names(X)
            require_no_dates(X)
            # The check for infinity sums all values, and huge ones may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                found = validate_data(
                    self,
                    X,
                    reset=reset,
                    accept_sparse="csr",
                    ensure_all_finite=finite,
                    ensure_min_samples=least,
                )
                # Again: a list has no type before the conversion.
                require_no_dates(found)
                if found.dtype != object:
                    return found
                # Categorical and polars text columns, whose cells have not been checked.
                return check_array(
                    found.astype(np.float64), ensure_all_finite=finite, input_name="X"
                )
        except (TypeError, ValueError) as error:
            if is_missing_error(error):
                # scikit-learn's message starts with other estimators.
                raise ValueError(missing_message(X, _with_missing(X))) from None
            if (hint := hint_for(X, error)) is None:
                raise
            # Part of the message, not a note: notebooks and logs leave notes out.
            if error.args == (str(error),):
                error.args = (f"{error}\n{hint}",)
            else:
                error.add_note(hint)
            raise


def _with_missing(X: object) -> object:
    """The rows as a matrix that may have missing cells."""
    return check_array(
        X, accept_sparse="csr", ensure_all_finite=False, ensure_min_samples=0, dtype=np.float64
    )
