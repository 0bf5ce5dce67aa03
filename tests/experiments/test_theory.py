"""Theorem 1 by hand, and the warnings that come with it."""

import numpy as np
import pytest

from odefs import theory


def test_terms_at_the_papers_setting():
    """d=100, d'=20, m*=32, m=192: the two terms are .85 and 1.81 with constant 1, without delta."""
    unlabeled, outliers = (np.sqrt(theory.kappa(m, 100, 20, 1 - 1e-12) / m) for m in (192, 32))
    assert unlabeled == pytest.approx(0.85, abs=0.005)
    assert outliers == pytest.approx(1.81, abs=0.03)
    assert theory.theorem1(2, 192, 32, 100, 20, 0.05, 0.9).is_vacuous


def test_bounds_by_hand():
    found = theory.theorem1(
        a=2, m=192, m_star=32, d=100, d_selected=20, pi=0.1, ideal_auc=0.9, constant=0.1
    )
    assert found.lower == pytest.approx(0.8 * 0.9 + 0.9 / 10)
    assert found.upper == 0.9
    assert found.error == pytest.approx(theory.estimation_error(192, 32, 100, 20, constant=0.1))
    assert found.assumptions == (theory.PRECISE_CANDIDATES, theory.RANDOM_INLIERS)


def test_bounds_follow_from_the_decomposition():
    """The theorem's sides are extremes of the decomposition over allowed precisions and Deltas."""
    bounds = theory.theorem1(2, 192, 32, 100, 20, 0.1, 0.9)
    values = [
        theory.candidate_auc(p, 0.1, 0.9, delta)
        for p in np.linspace(0.8, 1, 21)
        for delta in np.linspace(0, 0.5, 11)
    ]
    assert min(values) == pytest.approx(bounds.lower)
    assert max(values) == pytest.approx(bounds.upper)


def test_more_unlabelled_rows_help_less_and_less():
    errors = [theory.estimation_error(k * 32, 32, 100, 20) for k in range(1, 13)]
    gains = -np.diff(errors)
    assert (gains > 0).all()
    assert (np.diff(gains) < 0).all()
    assert min(errors) > theory.kappa(32, 100, 20, 0.05) ** 0.5 / 32**0.5, "the term of m* stays"


def test_a_larger_rate_closes_the_gap():
    gaps = [0.9 - theory.theorem1(a, 192, 32, 100, 20, 0.0, 0.9).lower for a in (1, 2, 3, 10)]
    assert (np.diff(gaps) < 0).all()


def test_relaxed_auc_is_the_auc_against_all_rows():
    rng = np.random.default_rng(0)
    n, n_out = 400, 40
    scores = rng.permutation(n).astype(float)
    y = np.arange(n) < n_out
    against_inliers = np.mean(scores[y][:, None] > scores[~y][None])
    against_all = np.mean(scores[y][:, None] >= scores[None])
    assert theory.relaxed_auc(against_inliers, n_out / n, n) == pytest.approx(against_all)


@pytest.mark.parametrize("n_values", [10_000, 7], ids=["distinct", "tied"])
def test_probability_above_is_the_papers_j(n_values):
    """Eqs. 4 and 5 as printed; with distinct scores J' is also the relaxed AUC of J."""
    rng = np.random.default_rng(0)
    scores = rng.choice(n_values, size=60, replace=n_values < 60).astype(float)
    y = np.arange(60) < 9
    outliers, inliers = scores[y], scores[~y]
    J = sum(a >= b for a in outliers for b in inliers) / (9 * 51)
    relaxed = sum(a >= b for a in outliers for b in scores) / (9 * 60)
    assert theory.probability_above(outliers, inliers) == pytest.approx(J, abs=1e-12)
    assert theory.probability_above(outliers, scores) == pytest.approx(relaxed, abs=1e-12)
    found = theory.check_assumptions(scores, np.flatnonzero(y), y)
    assert found.ideal_auc == found.candidate_auc == pytest.approx(relaxed, abs=1e-12)
    if n_values > 60:
        assert relaxed == pytest.approx(theory.relaxed_auc(J, 9 / 60, 60), abs=1e-12)


def test_ties_may_count_half():
    assert theory.probability_above([1.0, 2.0], [1.0, 1.0], tie=0.5) == 0.75
    assert theory.probability_above([1.0, 2.0], [1.0, 1.0]) == 1.0


@pytest.mark.parametrize("a", [0.5, 1, 2, 4])
@pytest.mark.parametrize("draw", ["normal", "lognormal", "bernoulli", "pareto"])
def test_cantelli_bounds_the_share_of_all_rows(a, draw):
    rng = np.random.default_rng(1)
    x = {
        "normal": rng.normal(size=5000),
        "lognormal": rng.lognormal(sigma=2, size=5000),
        "bernoulli": (rng.random(5000) < 0.1).astype(float),
        "pareto": rng.pareto(1.5, size=5000),
    }[draw]
    assert (x > x.mean() + a * x.std()).mean() <= theory.cantelli_bound(a)


def test_cantelli_promises_nothing_about_the_candidates():
    """Every row above the threshold is an inlier here, at any rate."""
    scores = np.r_[np.ones(990), np.full(10, 100.0)]
    y = np.zeros(1000, int)
    y[:10] = 1
    candidates = np.flatnonzero(scores > scores.mean() + 2 * scores.std())
    found = theory.check_assumptions(scores, candidates, y)
    assert found.candidate_precision == 0 < found.required_precision
    assert not found.precise_candidates
    assert not found.random_inliers
    assert not found.upper_bound_holds


def test_assumptions_hold_for_perfect_scores():
    scores = np.arange(1000.0) ** 8
    y = (np.arange(1000) >= 900).astype(int)
    found = theory.check_assumptions(scores, np.arange(940, 1000), y)
    assert found.precise_candidates
    assert found.random_inliers


def test_assumptions_need_candidates():
    with pytest.raises(ValueError, match="candidate"):
        theory.check_assumptions([1.0, 2.0], [], [0, 1])


@pytest.mark.parametrize(
    "arguments",
    [{"a": -1}, {"pi": 2}, {"ideal_auc": -0.1}, {"d_selected": 200}, {"m": 0}, {"delta": 0.0}],
    ids=str,
)
def test_impossible_settings_are_refused(arguments):
    fine = {"a": 2, "m": 192, "m_star": 32, "d": 100, "d_selected": 20, "pi": 0.1, "ideal_auc": 0.9}
    with pytest.raises(ValueError, match=next(iter(arguments))):
        theory.theorem1(**(fine | arguments))
