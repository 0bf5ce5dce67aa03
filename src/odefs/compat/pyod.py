"""PyOD detectors: the estimators with PyOD's interface.

High scores are abnormal and labels are 0 and 1; PyOD's probabilities, confidence and rejection
work. Parameters are those of :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`, except that
``contamination`` is a number (default 0.1), as everywhere in PyOD, or one of its threshold objects.
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from odefs._extras import require_extra
from odefs._known_options import require_parameters
from odefs._row_selection import LABELS_FROM
from odefs.engines.row_blocks import RowBlocks
from odefs.estimators import ODEFS as _ODEFS
from odefs.estimators import LeSiNN as _LeSiNN
from odefs.estimators.base import BaseOutlierEstimator
from odefs.inspection.explanation import Explanation, TopExplanation
from odefs.models.feature_selection import FeatureSelection, NestedSelection
from odefs.models.odefs import PAPER

with require_extra("odefs.compat.pyod", "pyod"):
    from pyod.models.base import BaseDetector

__all__ = ["ODEFS", "LeSiNN"]

CONTAMINATION = 0.1
"""PyOD's default."""


def _constructor(wrapped: type[BaseOutlierEstimator]) -> Callable[..., None]:
    """Return a constructor with the parameters of the estimator, so that they are listed only once.

    PyOD and scikit-learn read its signature.
    """
    parameters = [
        parameter.replace(default=CONTAMINATION, annotation=Any)
        if name == "contamination"
        else parameter
        for name, parameter in inspect.signature(wrapped.__init__).parameters.items()
        if name != "max_false_flags"  # PyOD computes the threshold itself
    ]
    signature = inspect.Signature(parameters)
    # Without self.
    n_unnamed = sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters) - 1

    def construct(self: object, *args: object, **kwargs: object) -> None:
        known = list(signature.parameters)[1:]
        require_parameters(type(self).__name__, args, kwargs, known, n_unnamed)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        # PyOD checks the range of contamination here.
        BaseDetector.__init__(self, contamination=given.arguments["contamination"])
        for name in known:
            setattr(self, name, given.arguments[name])

    construct.__signature__ = signature  # type: ignore[attr-defined]
    return construct


def _is_labels(X: Any, rows: Any) -> bool:
    """Whether rows are given as PyOD's labels: one 0 or 1 per row of the table."""
    if rows is None or isinstance(X, RowBlocks):
        return False
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    values = np.asarray(rows)
    # In a table of two rows, 0 and 1 may be row numbers.
    is_one_per_row = values.shape == (n_rows,) and n_rows >= LABELS_FROM
    return is_one_per_row and values.dtype.kind in "iuf" and bool(np.isin(values, (0, 1)).all())


def _outliers_of_labels(X: object, rows: Any) -> object:
    """Return labels as a mask; as row numbers they would select the first two rows."""
    return np.asarray(rows) == 1 if _is_labels(X, rows) else rows


def _no_labels(X: object, rows: object) -> object:
    if _is_labels(X, rows):
        raise ValueError(
            "known_normal holds one 0 or 1 per row, which could mean labels (0 is normal) or a "
            "mask (1 is normal): pass booleans, y == 0 for labels y."
        )
    return rows


class _Adapter(BaseDetector):
    """Shared implementation; ``estimator_`` is the fitted estimator with its full interface."""

    _wrapped: ClassVar[type[Any]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Tags such as allow_nan depend on parameters; scikit-learn's checks rely on them.
        tags.input_tags = self._estimator().__sklearn_tags__().input_tags
        return tags

    def _estimator(self) -> Any:
        parameters = self.get_params(deep=False)
        # PyOD computes the threshold itself, from the scores.
        del parameters["contamination"]
        return self._wrapped(**parameters)

    def _fit(self, X: object, y: object, **known: object) -> Self:
        if isinstance(self.contamination, str):
            raise ValueError(
                f"contamination={self.contamination!r} must be a number above 0 and at most 0.5, "
                "or one of PyOD's threshold objects."
            )
        # Warns if labels are given, as other detectors of PyOD do.
        self._set_n_classes(y)
        self.estimator_ = self._estimator().fit(X, **known)
        self.n_features_in_ = self.estimator_.n_features_in_
        self.decision_scores_ = self.estimator_.outlier_scores_
        # Sets threshold_ and labels_, and the moments that predict_proba() needs.
        self._process_decision_scores()
        return self

    def decision_function(self, X: object) -> np.ndarray:
        """Return outlier scores: high = abnormal; training rows average 1.0."""
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        scores: np.ndarray = self.estimator_.outlier_scores(X)
        return scores

    @overload
    def explain(self, X: object, top: None = None) -> Explanation: ...
    @overload
    def explain(self, X: object, top: int) -> TopExplanation: ...
    def explain(self, X: object, top: int | None = None) -> Explanation | TopExplanation:
        """Return the contributions of the columns to each row's score; see
        :meth:`odefs.ODEFS.explain`.
        """
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        explanation: Explanation | TopExplanation = self.estimator_.explain(X, top)
        return explanation


# NestedSelection comes first: it adds to the parameters that PyOD's base class returns.
class ODEFS(NestedSelection, _Adapter):
    """:class:`odefs.ODEFS` as a detector of PyOD."""

    _wrapped = _ODEFS
    __init__ = _constructor(_ODEFS)

    def fit(
        self,
        X: object,
        y: object = None,
        known_outliers: object = None,
        known_normal: object = None,
    ) -> Self:
        """Fit, score the training rows and compute the threshold.

        Parameters
        ----------
        X : table of numbers
        y : ignored
            As in all unsupervised detectors of PyOD, which warn about it: labels for an evaluation
            do not leak into the fit. To learn from labels, pass them as known cases:
            ``fit(X, known_outliers=y)``.
        known_outliers, known_normal : optional
            Rows known to be outliers or normal, in the forms that :meth:`odefs.ODEFS.fit` accepts:
            row numbers from 0, or one boolean per row. ``known_outliers`` also accepts PyOD's
            labels, one 0 or 1 per row: rows labelled 1 are known outliers, and those labelled 0
            are unknown. Pass ``known_normal=y == 0`` if they were checked.

        Examples
        --------
        >>> from pyod.utils.data import generate_data
        >>> from odefs.compat.pyod import ODEFS
        >>> X, y = generate_data(n_train=100, train_only=True, random_state=0)
        >>> model = ODEFS(n_estimators=2, random_state=0).fit(X, known_outliers=y)
        >>> int(model.labels_.sum())
        10
        """
        return self._fit(
            X,
            y,
            known_outliers=_outliers_of_labels(X, known_outliers),
            known_normal=_no_labels(X, known_normal),
        )

    @classmethod
    def paper(cls, **overrides: object) -> Self:
        """The method of the paper; see :meth:`odefs.ODEFS.paper`."""
        given = {**PAPER, "contamination": CONTAMINATION}
        return cls(**given, selection=FeatureSelection.paper()).set_params(**overrides)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each column in the learned components; sums to 1."""
        check_is_fitted(self, ["decision_scores_"])
        importances: np.ndarray = self.estimator_.feature_importances_
        return importances


class LeSiNN(_Adapter):
    """:class:`odefs.LeSiNN` as a PyOD detector."""

    _wrapped = _LeSiNN
    __init__ = _constructor(_LeSiNN)

    def fit(self, X: object, y: object = None) -> Self:
        """Fit, score the training rows and compute the threshold; ``y`` is ignored.

        LeSiNN learns nothing from known cases; :class:`ODEFS` does.
        """
        return self._fit(X, y)
