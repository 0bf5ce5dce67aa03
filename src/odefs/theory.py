"""Theorem 1 of the paper as functions, and the guarantees of Cantelli's rule.

Notation: ``J'`` is the probability that an outlier is ranked above a random row (the ideal),
``J-hat*`` the same for outlier *candidates* on the training sample of ``m*`` candidates and ``m``
unlabelled rows. The theorem states, with probability at least ``1 - delta``,

    J-hat* - E(J-hat*) <= O( sqrt(kappa_m / m) + sqrt(kappa_m* / m*) ),
        kappa_m' = d' log(d m'/d') + log(1/delta)
    a^2/(1+a^2) E(J') + (1-pi)/(2(1+a^2)) <= E(J-hat*) <= E(J')

It rests on two assumptions that need not hold; :func:`check_assumptions` checks both if labels are
known:

1. *Precise candidates*: at least ``a^2/(1+a^2)`` of the candidates are outliers. The paper derives
   this from Cantelli's inequality, but that bounds the share of **all rows** above the threshold
   (:func:`cantelli_bound`), not the share of inliers among the candidates.
2. *Random inliers*: candidates that are inliers rank like inliers drawn at random. They do not,
   because they were chosen for their high scores.

The ``O(.)`` hides a constant that the paper does not give, and at ``m* = 32`` the bound is vacuous
for any plausible one. It shows the dependence on ``m`` and ``m*``; its value is not meaningful.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from odefs._row_selection import read_rows

PRECISE_CANDIDATES = "at least a^2/(1+a^2) of the candidates are outliers"
RANDOM_INLIERS = "candidates that are inliers rank like inliers drawn at random"
ASSUMPTIONS = (PRECISE_CANDIDATES, RANDOM_INLIERS)


def cantelli_bound(a: float) -> float:
    """Return the largest possible share of rows above ``mean + a std``: ``1 / (1 + a^2)``.

    It holds for any distribution, and it is all the rule guarantees. It does not bound the share of
    inliers among the rows above the threshold, which is arbitrary.
    """
    _require("a", a, a >= 0, "at least 0")
    return 1.0 / (1.0 + a * a)


def relaxed_auc(auc: float, pi: float, n: int | None = None) -> float:
    """Return ``J' = (1 - pi) J + (n+ + 1) / (2n)``, the AUC against all rows (the paper's Eq. 5).

    ``auc`` is the AUC ``J`` against inliers. Without ``n``, the limit of large ``n``: ``(1 - pi) J
    + pi / 2``.
    """
    _require_share("auc", auc)
    _require_share("pi", pi)
    # (n+ + 1) / (2 n) = pi / 2 + 1 / (2 n).
    return (1 - pi) * auc + pi / 2 + (0.0 if n is None else 1 / (2 * n))


def kappa(m: int, d: int, d_selected: int, delta: float) -> float:
    """Return ``d' log(d m / d') + log(1/delta)``, the complexity of choosing ``d'`` of ``d``
    columns.
    """
    _require("m", m, m >= 1, "at least 1")
    _require("d_selected", d_selected, 1 <= d_selected <= d, f"between 1 and d={d}")
    _require("delta", delta, 0 < delta < 1, "between 0 and 1")
    return float(d_selected * np.log(d * m / d_selected) + np.log(1 / delta))


def estimation_error(
    m: int, m_star: int, d: int, d_selected: int, delta: float = 0.05, constant: float = 1.0
) -> float:
    """Return ``constant * (sqrt(kappa_m / m) + sqrt(kappa_m* / m*))``, the theorem's first line.

    The paper gives the order but no constant; 1 is a placeholder, not a claim.
    """
    terms = (kappa(k, d, d_selected, delta) / k for k in (m, m_star))
    return constant * float(sum(np.sqrt(term) for term in terms))


@dataclass(frozen=True)
class Theorem1:
    """Bounds of Theorem 1; they hold if :data:`ASSUMPTIONS` do."""

    lower: float
    upper: float
    error: float
    assumptions: tuple[str, str] = ASSUMPTIONS

    @property
    def is_vacuous(self) -> bool:
        """Whether the error term alone exceeds the whole range of an AUC."""
        return self.error >= 1.0


def theorem1(
    a: float,
    m: int,
    m_star: int,
    d: int,
    d_selected: int,
    pi: float,
    ideal_auc: float,
    delta: float = 0.05,
    constant: float = 1.0,
) -> Theorem1:
    """Return the bounds on ``E(J-hat*)`` and the estimation error for given settings.

    Parameters
    ----------
    a : threshold rate
    m, m_star : unlabelled and outlier examples of a component
    d, d_selected : int
        Numbers of all and of selected columns.
    pi : share of outliers
    ideal_auc : ``E(J')``, unknown without labels: the theorem needs it as an input
    delta : probability with which the error bound may fail
    constant : constant of the ``O(.)``, which the paper does not give
    """
    _require_share("pi", pi)
    _require_share("ideal_auc", ideal_auc)
    miss = cantelli_bound(a)
    # Eq. 17: 1 - miss is a^2 / (1 + a^2).
    lower = (1 - miss) * ideal_auc + (1 - pi) * miss / 2
    return Theorem1(lower, ideal_auc, estimation_error(m, m_star, d, d_selected, delta, constant))


def candidate_auc(
    precision: float, pi: float, ideal_auc: float, inlier_above_outlier: float = 0.5
) -> float:
    """Return ``E(J-hat*) = p E(J') + (1-p)(1-pi)/2 + (1-p) pi Delta``.

    This is the step of the proof that uses the second assumption. ``precision`` is the share ``p``
    of outliers among the candidates, ``inlier_above_outlier`` the proof's ``Delta``, at most 1/2.
    """
    for name, value in (("precision", precision), ("pi", pi), ("ideal_auc", ideal_auc)):
        _require_share(name, value)
    _require(
        "inlier_above_outlier",
        inlier_above_outlier,
        0 <= inlier_above_outlier <= 0.5,
        "between 0 and 1/2",
    )
    rest = 1 - precision
    return precision * ideal_auc + rest * (1 - pi) / 2 + rest * pi * inlier_above_outlier


@dataclass(frozen=True)
class AssumptionCheck:
    """The theorem's assumptions on one dataset, measured with labels."""

    candidate_precision: float
    required_precision: float
    candidate_auc: float
    ideal_auc: float
    inlier_candidate_auc: float

    @property
    def precise_candidates(self) -> bool:
        return self.candidate_precision >= self.required_precision

    @property
    def random_inliers(self) -> bool:
        """Whether inlier candidates beat random inliers no more often than chance, up to 0.05."""
        return not self.inlier_candidate_auc > 0.55

    @property
    def upper_bound_holds(self) -> bool:
        """Whether ``E(J-hat*) <= E(J')``, the theorem's right-hand side."""
        return self.candidate_auc <= self.ideal_auc


def check_assumptions(
    scores: ArrayLike, candidates: ArrayLike, y: ArrayLike, a: float = 2.0
) -> AssumptionCheck:
    """Measure both assumptions with known labels (1 = outlier).

    ``candidates`` are row numbers from 0 or a boolean mask.
    """
    scores, y = np.asarray(scores, dtype=float), np.asarray(y).astype(bool)
    chosen = np.zeros(y.size, dtype=bool)
    if np.size(candidates):
        chosen[read_rows(candidates, "candidates").numbers(y.size)] = True
    if not chosen.any() or not y.any() or y.all():
        raise ValueError(
            "check_assumptions requires at least one candidate, one outlier and one inlier."
        )
    inlier_candidates = chosen & ~y
    return AssumptionCheck(
        candidate_precision=float(y[chosen].mean()),
        required_precision=1 - cantelli_bound(a),
        candidate_auc=probability_above(scores[chosen], scores),
        ideal_auc=probability_above(scores[y], scores),
        # Ties count half: only then a random order has 1/2 whatever the ties.
        inlier_candidate_auc=probability_above(scores[inlier_candidates], scores[~y], tie=0.5)
        if inlier_candidates.any()
        else 0.5,
    )


def probability_above(above: ArrayLike, below: ArrayLike, tie: float = 1.0) -> float:
    """Return the share of pairs in which a value of ``above`` is at least one of ``below``.

    This is the paper's ``1/(n+ n) sum_ij [s_i >= s_j]``: J for outliers and inliers, J' and BAUC
    for outliers and all rows, where each outlier is also compared with itself. A tied pair counts
    as ``tie``. The paper counts it fully, so that equal scores pass for a perfect ranking; 0.5
    gives the usual AUC.
    """
    values, ordered = np.asarray(above), np.sort(below)
    smaller, not_larger = (
        np.searchsorted(ordered, values, side=side).mean() / ordered.size
        for side in ("left", "right")
    )
    return float((1 - tie) * smaller + tie * not_larger)


def _require_share(name: str, value: float) -> None:
    _require(name, value, 0 <= value <= 1, "between 0 and 1")


def _require(name: str, value: float, fits: bool, allowed: str) -> None:
    if not fits:
        raise ValueError(f"{name}={value!r} must be {allowed}.")
