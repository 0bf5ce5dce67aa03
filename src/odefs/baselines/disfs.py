"""DisFS: columns that discriminate outliers from their neighbours (Dang et al. 2014).

For each outlier candidate, the columns that explain it are the fewest whose share in the direction
in which it stands out adds up to 80 %. The ODEFS paper does not describe how it turned explanations
of single rows into subsets to score on. Here, each of several rounds averages the explanations of
half of the candidates, drawn at random, and keeps the fewest columns that hold 80 % of the sum.
"""

from typing import ClassVar

import numpy as np

from odefs.baselines.base import Chosen, ColumnSelector, Context
from odefs.detectors.base import Detector, Metric
from odefs.ensemble.fit import score_bare
from odefs.inspection.contributions import fewest_with_share
from odefs.models.constraints import Constraints, Integer, Number
from odefs.models.fallbacks import few_candidates, no_relevant_column
from odefs.models.literals import DetectorName, FlagRule, Missing, Scaling
from odefs.selection.candidates import find_candidates

CHUNK_BYTES = 64 * 2**20


class DisFS(ColumnSelector):
    """Detector on the columns in which candidates stand out from their neighbours.

    Parameters
    ----------
    n_estimators : int, default=10
        Rounds, each on half of the candidates.
    n_neighbors : int, default=20
    share : float, default=0.8
        Share of a direction, and of the averaged explanations, that the kept columns hold.
    candidate_threshold : float, default=2.0
        Candidates score above mean + candidate_threshold * std.
    max_candidates : int, default=1000
    max_rows : int, default=10000
        Rows among which neighbours are sought.
    detector, n_subsets, subset_size, metric, scaling, missing
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.
    contamination, n_jobs, random_state, verbose
        As in :class:`odefs.ODEFS` and :class:`odefs.LeSiNN`.

    Attributes
    ----------
    outlier_scores_, is_outlier_, offset_, fit_info_, n_features_in_, feature_names_in_
        As in :class:`odefs.ODEFS`.
    feature_subsets_ : list of ndarray
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean share of each column in the explanations.
    """

    _constraints: ClassVar[Constraints] = {
        **ColumnSelector._constraints,
        "n_estimators": Integer(1),
        "n_neighbors": Integer(1),
        "share": Number(0, 1, open_low=True),
        "candidate_threshold": Number(0),
        "max_candidates": Integer(1),
        "max_rows": Integer(2),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 10,
        n_neighbors: int = 20,
        share: float = 0.8,
        candidate_threshold: float = 2.0,
        max_candidates: int = 1000,
        max_rows: int = 10_000,
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
        self.n_estimators = n_estimators
        self.n_neighbors = n_neighbors
        self.share = share
        self.candidate_threshold = candidate_threshold
        self.max_candidates = max_candidates
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
        bare = score_bare(context.engine, context.detector, context.scaled)
        found = find_candidates(bare, self.candidate_threshold)
        candidates, fallbacks = found.rows, few_candidates(found)
        if candidates.size > self.max_candidates:
            candidates = np.sort(
                context.rng.choice(candidates, size=self.max_candidates, replace=False)
            )
        explanations = self._explanations(context, candidates)
        half = max(1, (candidates.size + 1) // 2)
        subsets = []
        for _ in range(self.n_estimators):
            drawn = context.rng.choice(candidates.size, size=half, replace=False)
            subsets.append(fewest_with_share(explanations[drawn].mean(axis=0), self.share))
        if not explanations.any():
            fallbacks += no_relevant_column("no candidate stands out from its neighbours")
        return Chosen(subsets, np.ones(len(subsets)), explanations.mean(axis=0), fallbacks)

    def _explanations(self, context: Context, candidates: np.ndarray) -> np.ndarray:
        """Return for each candidate the shares of the columns that explain it; 0 elsewhere."""
        pool_rows = context.some_rows(self.max_rows)
        rows, pool = context.rows(candidates), context.rows(pool_rows)
        k = min(self.n_neighbors, len(pool) - 1)
        out = np.zeros_like(rows)
        step = max(1, CHUNK_BYTES // (8 * max(len(pool), k * rows.shape[1])))
        pool_norms = (pool * pool).sum(axis=1)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            # Without |x|^2, which does not change the order of a row's neighbours.
            distances = pool_norms - 2 * part @ pool.T
            # No row is its own neighbour.
            distances[candidates[start : start + step, None] == pool_rows] = np.inf
            nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
            # argpartition returns neighbours in any order, and sums depend on it in the last bit.
            directions = np.abs(standing_out(part, pool[np.sort(nearest, axis=1)], eps=0.1))
            for i, direction in enumerate(directions, start=start):
                if direction.any():
                    kept = fewest_with_share(direction, self.share)
                    out[i, kept] = direction[kept] / direction.sum()
        return out


def standing_out(rows: np.ndarray, neighbours: np.ndarray, eps: float) -> np.ndarray:
    """Return directions ``(n_rows, d)`` for rows and their neighbours ``(n_rows, k, d)``.

    For a row ``o`` with neighbours ``N``, mean ``mu``, covariance ``B``: the ``w`` that maximises
    ``w'Aw / w'(B + eps I)w`` with ``A`` the mean of ``(o - x)(o - x)'`` (Dang et al. 2013 and
    2014). As ``A = B + vv'`` with ``v = o - mu``, it is ``w ~ (B + eps lambda/(lambda-1) I)^-1 v``
    with ``lambda`` the largest ratio. All computations stay in the span of the neighbours:
    ``O(k^2 d)`` per row, nothing of size ``d x d``. ``eps`` is relative to the mean variance.
    """
    k = neighbours.shape[1]
    mean = neighbours.mean(axis=1)
    v = rows - mean
    Z = (neighbours - mean[:, None]) / np.sqrt(k)
    gram = Z @ Z.transpose(0, 2, 1)
    values, U = np.linalg.eigh(gram)
    # eigh returns small negative values for a singular Gram matrix.
    values = np.maximum(values, 0.0)
    ridge = eps * np.maximum(values.sum(axis=1) / rows.shape[1], 1e-12)
    # Coordinates of v in the neighbours' principal axes, without forming these: (U'Z v) / s.
    inside = values > 1e-12 * np.maximum(values.max(axis=1, keepdims=True), 1e-300)
    scale = np.where(inside, np.sqrt(np.where(inside, values, 1.0)), 1.0)
    a = np.where(inside, np.einsum("nij,ni->nj", U, np.einsum("nkd,nd->nk", Z, v)) / scale, 0.0)
    lam = _largest_ratio(
        a, np.maximum((v * v).sum(axis=1) - (a * a).sum(axis=1), 0.0), values, ridge
    )
    shift = ridge * lam / np.maximum(lam - 1, 1e-9)
    # (B + s I)^-1 v = v / s - axes (a / s - a / (values + s)), with axes = Z'U / scale.
    correction = a * (1 / shift[:, None] - 1 / (values + shift[:, None])) / scale
    return v / shift[:, None] - np.einsum("nkd,nk->nd", Z, np.einsum("nij,nj->ni", U, correction))


def _largest_ratio(
    a: np.ndarray, rest: np.ndarray, values: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Solve ``sum a_i^2 / ((lam-1) values_i + lam ridge) + rest / (lam ridge) = 1`` for ``lam``.

    The left side decreases in ``lam``; bisection on a log scale.
    """
    low = np.zeros(len(rest))
    # lam up to e^60; sixty halvings leave an interval of 60 / 2^60.
    high = np.full(len(rest), 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        lam = 1 + np.expm1(middle)
        total = (a**2 / ((lam - 1)[:, None] * values + (lam * ridge)[:, None])).sum(
            axis=1
        ) + rest / (lam * ridge)
        low, high = np.where(total > 1, middle, low), np.where(total > 1, high, middle)
    return 1 + np.expm1(high)
