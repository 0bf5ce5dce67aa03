"""Ranking measures. High scores mean abnormal, label 1 means outlier."""

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score


def precision_at_k(y: np.ndarray, scores: np.ndarray) -> float:
    """Return the share of outliers among the ``k`` highest scores, ``k`` the number of outliers.

    Ties are resolved by the expectation over random orders: some datasets have a hundred distinct
    rows among tens of thousands, and the order of the file would decide otherwise.
    """
    k = int(y.sum())
    if k == 0:
        return float("nan")
    threshold = np.partition(scores, -k)[-k]
    above, tied = scores > threshold, scores == threshold
    return float((y[above].sum() + (k - above.sum()) * y[tied].mean()) / k)


def evaluate(y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return AUC (ties count half), precision at k, and average precision."""
    return {
        "auc": float(roc_auc_score(y, scores)),
        "p@k": precision_at_k(y, scores),
        "ap": float(average_precision_score(y, scores)),
    }
