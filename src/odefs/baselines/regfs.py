"""RegFS: columns that the others predict (Paulheim and Meusel 2015, ALSO; Noto et al. 2012, FRaC).

``w_k = 1 - min(1, RRSE_k)``: a column that the others do not predict counts as noise. One-hot
columns are one minus the rest of their block; they are predicted from the columns outside the
block, otherwise every one of them would look perfectly predictable.
"""

import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from odefs.baselines.base import Chosen, ColumnSelector, Context
from odefs.detectors.base import Detector, Metric
from odefs.models.constraints import Choice, Constraints, Integer, Number, Satisfies
from odefs.models.fallbacks import no_relevant_column
from odefs.models.literals import DetectorName, FlagRule, Missing, Scaling

if TYPE_CHECKING:
    from sklearn.base import RegressorMixin

FOLDS = 5


class RegFS(ColumnSelector):
    """Detector on the columns that are best predicted by the others.

    Parameters
    ----------
    n_features : "auto", int or float, default="auto"
        Columns to keep: a number, a share, or those that are predicted better than the average
        column. The paper does not specify it; ``odefs reproduce competitors`` shows which is
        closest to its numbers.
    regressor : "ridge" or scikit-learn regressor, default="ridge"
        Ridge regressions of all columns cost one matrix inverse; any other regressor is fitted per
        column and fold.
    alpha : float, default=1.0
        Ridge penalty.
    groups : "auto" or list of lists of int, default="auto"
        Columns that must not predict each other. "auto" finds neighbouring columns of which every
        row has exactly one set.
    max_rows : int, default=20000
        Rows on which the regressions are fitted.
    detector, n_subsets, subset_size, metric, scaling, missing
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.
    contamination, n_jobs, random_state, verbose
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.

    Attributes
    ----------
    outlier_scores_, is_outlier_, offset_, fit_info_, n_features_in_, feature_names_in_
        As in :class:`odefs.ODEFS`.
    feature_subsets_ : list of one ndarray
    feature_importances_ : ndarray of shape (n_features_in_,)
        ``1 - min(1, RRSE)``, divided by its sum.
    """

    _constraints: ClassVar[Constraints] = {
        **ColumnSelector._constraints,
        "n_features": Choice("auto") | Integer(1) | Number(0, 1, open_low=True),
        "regressor": Choice("ridge")
        | Satisfies(lambda value: hasattr(value, "fit"), "a scikit-learn regressor"),
        "alpha": Number(0, open_low=True),
        "groups": Choice("auto")
        | Satisfies(lambda value: not isinstance(value, str), "a list of lists of int"),
        "max_rows": Integer(2),
    }

    def __init__(
        self,
        *,
        n_features: float | Literal["auto"] = "auto",
        regressor: object = "ridge",
        alpha: float = 1.0,
        groups: Any = "auto",
        max_rows: int = 20_000,
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
        self.n_features = n_features
        self.regressor = regressor
        self.alpha = alpha
        self.groups = groups
        self.max_rows = max_rows
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
        X = context.rows(context.some_rows(self.max_rows))
        groups = (
            one_hot_blocks(X)
            if isinstance(self.groups, str)
            else _partition(self.groups, X.shape[1])
        )
        if self.regressor == "ridge":
            errors = ridge_errors(X, groups, self.alpha)
        else:
            errors = regressor_errors(X, groups, self.regressor, FOLDS)
        relevance = 1 - np.minimum(1, errors)
        fallbacks = (
            [] if relevance.any() else no_relevant_column("no column is predicted by the others")
        )
        return Chosen([self._best(relevance)], np.ones(1), relevance, fallbacks)

    def _best(self, relevance: np.ndarray) -> np.ndarray:
        d = relevance.size
        if not relevance.any():
            return np.arange(d)
        if isinstance(self.n_features, str):
            return np.flatnonzero(relevance >= relevance.mean())
        if isinstance(self.n_features, numbers.Integral):
            number = min(d, int(self.n_features))
        else:
            number = min(d, max(1, round(self.n_features * d)))
        return np.sort(np.argsort(-relevance, kind="stable")[:number])


def _partition(groups: Iterable[npt.ArrayLike], n_columns: int) -> list[np.ndarray]:
    """Return the given groups, and every other column alone."""
    given = [np.asarray(group, dtype=np.intp) for group in groups]
    named = np.concatenate(given) if given else np.empty(0, dtype=np.intp)
    if named.size != np.unique(named).size or (
        named.size and not 0 <= named.min() <= named.max() < n_columns
    ):
        raise ValueError(
            f"groups must hold different column numbers between 0 and {n_columns - 1}."
        )
    return [*given, *(np.array([k]) for k in np.setdiff1d(np.arange(n_columns), named))]


def one_hot_blocks(X: np.ndarray) -> list[np.ndarray]:
    """Partition the columns: one-hot blocks together, all others alone.

    ``X`` is scaled: two-valued columns hold 0 and one other value (``Scaling.centred`` leaves their
    origin).
    """
    indicator = X != 0
    two_valued = np.all((X == 0) | (X.max(axis=0) == X), axis=0)
    share = indicator.mean(axis=0)
    blocks: list[np.ndarray] = []
    start = 0
    while start < X.shape[1]:
        stop = _end_of_block(indicator, two_valued, share, start)
        blocks.append(np.arange(start, stop))
        start = stop
    return blocks


def _end_of_block(
    indicator: np.ndarray, two_valued: np.ndarray, share: np.ndarray, start: int
) -> int:
    """Return the end of the block that starts at ``start``, or ``start + 1`` if there is none."""
    total = 0.0
    for stop in range(start, share.size):
        if not two_valued[stop]:
            break
        total += share[stop]
        if total > 1 + 1e-9:
            break
        # Shares that add up to one are necessary and cheap to check; the rows decide.
        if (
            stop > start
            and total > 1 - 1e-9
            and (indicator[:, start : stop + 1].sum(axis=1) == 1).all()
        ):
            return stop + 1
    return start + 1


def ridge_errors(X: np.ndarray, groups: list[np.ndarray], alpha: float) -> np.ndarray:
    """Return the leave-one-out RRSE of every column under ridge regression.

    Predictors are the columns outside its group. All regressions come from one inverse. With ``P =
    (X'X + alpha I)^-1`` of the centred table, the residuals of group ``B`` given the rest are ``X
    P_B (P_BB)^-1``; dividing by ``1 - leverage`` makes them leave-one-out residuals.
    """
    n_rows, n_columns = X.shape
    X = X - X.mean(axis=0)
    P = np.linalg.inv(X.T @ X + alpha * np.eye(n_columns))
    projected = X @ P
    # 1 / n for the mean, which is estimated from the same rows.
    leverage = np.einsum("ij,ij->i", projected, X) + 1 / n_rows
    squares = np.empty(n_columns)
    for group in groups:
        part = projected[:, group]
        residual = part @ np.linalg.inv(P[np.ix_(group, group)])
        # Leverage of the regression on the other columns only.
        without = leverage - np.einsum("ij,ij->i", residual, part)
        squares[group] = ((residual / np.maximum(1 - without, 1e-9)[:, None]) ** 2).sum(axis=0)
    return _relative(squares, X)


def regressor_errors(
    X: np.ndarray, groups: list[np.ndarray], regressor: "RegressorMixin", folds: int
) -> np.ndarray:
    """Return the RRSE of every column under any scikit-learn regressor, by k-fold
    cross-validation.
    """
    from sklearn.base import clone
    from sklearn.model_selection import KFold, cross_val_predict

    n_rows, n_columns = X.shape
    squares = np.full(n_columns, np.inf)
    splitter = KFold(min(folds, n_rows), shuffle=True, random_state=0)
    for group in groups:
        rest = np.setdiff1d(np.arange(n_columns), group)
        if not rest.size:
            continue
        for k in group:
            predicted = cross_val_predict(clone(regressor), X[:, rest], X[:, k], cv=splitter)
            squares[k] = ((X[:, k] - predicted) ** 2).sum()
    return _relative(squares, X - X.mean(axis=0))


def _relative(squares: np.ndarray, centred: np.ndarray) -> np.ndarray:
    """Return errors relative to predicting the mean; infinite for a constant column."""
    total = (centred**2).sum(axis=0)
    varies = total > 1e-12 * max(1, centred.shape[0])
    return np.where(varies, np.sqrt(squares / np.where(varies, total, 1.0)), np.inf)
