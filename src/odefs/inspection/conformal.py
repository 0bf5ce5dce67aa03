"""P-values against rows known to be clean (split conformal prediction).

If a row and the reference rows were drawn alike, its rank among them is uniform: the p-value
``(1 + number of reference rows that score at least as high) / (1 + number of reference rows)`` is
at most ``a`` with probability at most ``a``, whatever the model and the distribution. The reference
rows must not be training rows, whose scores are lower than those of new ones.

Among many rows, the limit of Benjamini and Hochberg keeps the expected share of clean rows among
the flagged ones below a level; p-values that share their reference rows satisfy its condition
(Bates, Candes, Lei, Romano, Sesia: Testing for outliers with conformal p-values, 2023).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from odefs.kernels.row_reductions import row_chunks

LEVEL = 0.1
"""Default share of clean rows among the flagged ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """Ascending scores of clean rows."""

    scores: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray) -> "Reference":
        known = np.asarray(scores, dtype=np.float64)
        known = np.sort(known[~np.isnan(known)])
        if not known.size:
            raise ValueError("no reference row has a score: give rows without missing cells.")
        return cls(known)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: scores of {self.scores.size:,} clean rows>"

    def p_values(self, scores: np.ndarray) -> np.ndarray:
        """Return the p-value of each score; NaN for NaN."""
        scores = np.asarray(scores)
        # The row itself counts as one of the reference rows: without the ones p-values could be 0
        # and would be too small on average.
        found = (1 + self._at_least(scores)) / (1 + self.scores.size)
        return np.where(np.isnan(scores), np.nan, found)

    def threshold(self, scores: np.ndarray, level: float = LEVEL) -> float:
        """Return the score above which rows are flagged by the rule of Benjamini and Hochberg."""
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must be above 0 and below 1.")
        n = self.scores.size
        counts, total = np.zeros(n + 1, dtype=np.int64), 0
        for part in row_chunks(scores.size):
            known = np.asarray(scores[part])
            known = known[~np.isnan(known)]
            counts += np.bincount(self._at_least(known), minlength=n + 1)
            total += known.size
        # Rows are counted by their p-value, of which there are n + 1: no sort of all scores, which
        # may be in a file. cumsum is the number of rows with at most that p-value.
        limits = level * np.cumsum(counts) / max(1, total)
        flagged = np.flatnonzero((1 + np.arange(n + 1)) / (n + 1) <= limits)
        if not flagged.size:
            return np.inf
        # A p-value of at most (k + 1) / (n + 1) means that at most k reference rows score at least
        # as high: the score is above the (k + 1)-th highest of them.
        k = int(flagged[-1])
        return float(self.scores[n - 1 - k]) if k < n else -np.inf

    def _at_least(self, scores: np.ndarray) -> np.ndarray:
        """Return how many reference rows score at least as high."""
        return self.scores.size - np.searchsorted(self.scores, scores, side="left")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A model with the scores of clean rows, returned by :func:`calibrate`."""

    model: Any
    reference: Reference

    def __repr__(self) -> str:
        n_rows = self.reference.scores.size
        return f"<{type(self).__name__} of {type(self.model).__name__} on {n_rows:,} clean rows>"

    def p_values(self, X: object) -> np.ndarray:
        """Probability that a clean row scores as high as each row, or less than that.

        Parameters
        ----------
        X : rows as the model takes them

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Between 1 / (1 + number of reference rows) and 1.
        """
        return self.reference.p_values(_scores(self.model, X))

    def predict(self, X: object, level: float = LEVEL) -> np.ndarray:
        """Flag rows so that few of the flagged ones are clean: -1 for outliers, 1 for inliers.

        The rows are judged together by the rule of Benjamini and Hochberg. To judge each row by
        itself, with a false alarm in a share ``a`` of the clean rows, compare ``p_values(X) <= a``.
        With ``n`` clean rows, no row is flagged unless at least
        ``len(X) / (level * (n + 1))`` rows score above all clean ones.

        Parameters
        ----------
        X : rows as the model takes them
        level : float, default=0.1
            Expected share of clean rows among the flagged ones, at most.
        """
        scores = _scores(self.model, X)
        return np.where(scores > self.reference.threshold(scores, level), -1, 1)


def calibrate(model: object, X_clean: object) -> Calibration:
    """Measure a fitted model on clean rows, so that scores of new rows become p-values.

    Parameters
    ----------
    model : fitted estimator
        ``ODEFS``, ``LeSiNN``, a pipeline that ends with one, or a loaded model.
    X_clean : rows as the model takes them
        Rows known to be clean that the model was not fitted to. Their number limits the smallest
        p-value: 1 / (1 + number of rows).

    Returns
    -------
    Calibration

    Examples
    --------
    >>> import numpy as np
    >>> import odefs
    >>> rng = np.random.default_rng(0)
    >>> model = odefs.ODEFS(random_state=0).fit(rng.normal(size=(500, 4)))
    >>> calibration = odefs.calibrate(model, rng.normal(size=(999, 4)))
    >>> calibration.p_values([[0, 0, 0, 0], [9, 9, 9, 9]])[1].round(3).item()
    0.001
    """
    return Calibration(model, Reference.of(_scores(model, X_clean)))


def _scores(model: object, X: object) -> np.ndarray:
    if hasattr(model, "outlier_scores"):
        return np.asarray(model.outlier_scores(X))
    if hasattr(model, "score_samples"):
        return -np.asarray(model.score_samples(X))
    raise TypeError(f"model is of type {type(model).__name__}, which has no score_samples.")
