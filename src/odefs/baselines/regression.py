"""Cross-validated prediction of each column from the others: relative root squared errors."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.base import RegressorMixin


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
    leverage = np.einsum("ij,ij->i", projected, X) + 1 / n_rows
    squares = np.empty(n_columns)
    for group in groups:
        part = projected[:, group]
        residual = part @ np.linalg.inv(P[np.ix_(group, group)])
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
