"""Benefit of known cases: the AUC on the other rows as more rows are known.

Half of the known cases are true outliers, the other half ordinary rows, both drawn at random.
Smaller sets of known cases are subsets of larger ones, and all numbers are measured on the same
rows: those not among the first ``MAX_KNOWN`` cases.
"""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from odefs.estimators import ODEFS

MAX_KNOWN = 20


def draw_known(y: np.ndarray, n_known: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of known outliers (the larger half) and of known ordinary rows.

    At most half of either kind is ever known.
    """
    rng = np.random.default_rng([seed, 11])
    outliers, normal = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    sizes = -(-n_known // 2), n_known // 2
    return outliers[: min(sizes[0], outliers.size // 2)], normal[: min(sizes[1], normal.size // 2)]


def auc_with_known(
    X: np.ndarray, y: np.ndarray, n_known: int, seed: int, **parameters: Any
) -> float:
    """Return the AUC of ``ODEFS(random_state=seed, **parameters)`` with ``n_known`` known cases.

    It is measured on the rows that are not among the first ``MAX_KNOWN`` cases.
    """
    outliers, normal = draw_known(y, n_known, seed)
    model = ODEFS(random_state=seed, **parameters).fit(
        X, known_outliers=outliers, known_normal=normal
    )
    rest = np.ones(y.size, dtype=bool)
    rest[np.concatenate(draw_known(y, max(n_known, MAX_KNOWN), seed))] = False
    return float(roc_auc_score(y[rest], model.outlier_scores_[rest]))
