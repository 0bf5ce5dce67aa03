"""Number of components with ``n_estimators="auto"``: added until the ranking is stable."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from odefs import ODEFS, FeatureSelection
from odefs.detectors import LeSiNNDetector
from odefs.ensemble.pilot import MOST_CELLS, MOST_ROWS, pilot_rows
from odefs.ensemble.plan import MAX_AUTO_COMPONENTS, Plan, Seeds, sample_rows
from odefs.ensemble.stopping import (
    COMPONENTS_PER_STEP,
    FIRST_COMPONENTS,
    MIN_RANK_CORRELATION,
    batches,
    rank_agreement,
)

TRUSTED = {"random_state": 0, "trust": 1.0}
"""As in the paper, every component has its share in the score."""
SOME_CANDIDATES = FeatureSelection(n_rounds=1, candidate_threshold=1.0, n_outlier_examples=8)


def stopping(model):
    return model.fit_info_["stopping"]


@pytest.fixture(scope="module")
def clear():
    """4,000 rows with outliers in the same columns: every component learns the same."""
    rng = np.random.default_rng(0)
    X = rng.random((4000, 8))
    X[:400, :2] += 3
    return X


@pytest.fixture(scope="module")
def murky():
    """Rows with nothing to learn: what a component finds depends on what it draws."""
    return np.random.default_rng(1).normal(size=(3000, 40))


def test_a_clear_case_settles_at_the_first_look(clear):
    model = ODEFS(
        random_state=0,
        trust=0.5,
        selection=FeatureSelection(n_rounds=1, candidate_threshold=0.5, n_outlier_examples=10),
    ).fit(clear)
    info = stopping(model)
    assert info["reason"] == "settled"
    assert model.fit_info_["n_components"] == FIRST_COMPONENTS < info["limit"] <= info["paper"]
    assert [n for n, _ in info["agreement"]] == [FIRST_COMPONENTS]
    assert info["agreement"][-1][1] >= MIN_RANK_CORRELATION == info["enough"]
    assert f"{FIRST_COMPONENTS} components" in info["message"]


def test_a_murky_case_takes_more(murky):
    model = ODEFS(
        **TRUSTED,
        selection=FeatureSelection(n_rounds=1, candidate_threshold=0.0, n_outlier_examples=5),
    ).fit(murky)
    info = stopping(model)
    numbers = [n for n, _ in info["agreement"]]
    assert numbers[:2] == [FIRST_COMPONENTS, FIRST_COMPONENTS + COMPONENTS_PER_STEP]
    assert model.fit_info_["n_components"] == numbers[-1] == len(model.feature_subsets_)
    assert all(value < MIN_RANK_CORRELATION for _, value in info["agreement"][:-1])
    assert (info["reason"] == "settled") == (info["agreement"][-1][1] >= MIN_RANK_CORRELATION)
    assert info["limit"] == MAX_AUTO_COMPONENTS < info["paper"]


@pytest.mark.parametrize("table", ["clear", "murky"])
def test_auto_is_the_head_of_the_paper(table, request):
    """Component i does not depend on the total, and "auto" equals the same explicit number."""
    X = request.getfixturevalue(table)
    settings = TRUSTED | {"selection": SOME_CANDIDATES}
    auto, paper = ODEFS(**settings).fit(X), ODEFS(n_estimators="paper", **settings).fit(X)
    n = auto.fit_info_["n_components"]
    assert np.array_equal(auto.feature_weights_, paper.feature_weights_[:n])
    same = ODEFS(n_estimators=n, **settings).fit(X)
    assert np.array_equal(auto.outlier_scores_, same.outlier_scores_)
    assert (stopping(paper)["reason"], stopping(same)["reason"]) == ("paper", "given")


def test_the_decision_does_not_depend_on_threads_or_type(murky):
    settings = TRUSTED | {"selection": SOME_CANDIDATES}
    one, many = (ODEFS(n_jobs=n, **settings).fit(murky) for n in (1, 5))
    assert stopping(one) == stopping(many)
    single = stopping(ODEFS(**settings).fit(murky.astype(np.float32)))
    assert single["reason"] == stopping(one)["reason"]
    np.testing.assert_allclose(single["agreement"], stopping(one)["agreement"], atol=1e-2)


def test_a_small_table_gets_more_than_the_papers_number(noisy):
    """Of 500 rows the paper makes two components, and what two say depends on what they drew."""
    auto, paper = ODEFS(**TRUSTED).fit(noisy), ODEFS(n_estimators="paper", **TRUSTED).fit(noisy)
    n = auto.fit_info_["n_components"]
    assert FIRST_COMPONENTS <= n <= stopping(auto)["limit"] == MAX_AUTO_COMPONENTS
    n_paper = paper.fit_info_["n_components"]
    assert n_paper == stopping(auto)["paper"] < FIRST_COMPONENTS
    assert np.array_equal(auto.feature_weights_[:n_paper], paper.feature_weights_)


def test_the_bare_share_counts(clear):
    """Without trust in learned subsets, nothing about them can unsettle the ranking."""
    model = ODEFS(
        random_state=0,
        trust=0.0,
        selection=FeatureSelection(n_rounds=1, candidate_threshold=0.0, n_outlier_examples=5),
    ).fit(clear)
    assert stopping(model)["agreement"] == ((FIRST_COMPONENTS, pytest.approx(1.0)),)


@pytest.mark.parametrize("limit", [1, FIRST_COMPONENTS, FIRST_COMPONENTS + 1, 62, 64])
def test_batches_cover_every_component_once(limit):
    parts = list(batches(limit))
    assert [i for part in parts for i in part] == list(range(limit))
    assert all(len(part) <= COMPONENTS_PER_STEP for part in parts[1:])


@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("skewed", [False, True])
def test_agreement_predicts_the_correlation_of_two_ensembles(noise, skewed):
    """Against the rank correlation of two independent ensembles of the same size.

    Spearman-Brown is exact for plain correlation. With ranks of skewed scores it is close, and
    closest where it decides.
    """
    rng = np.random.default_rng(2)
    truth = rng.gamma(2.0, size=1500) if skewed else rng.normal(size=1500)
    pairs = [truth + noise * rng.normal(size=(2, 24, 1500)) for _ in range(10)]
    found = np.mean([rank_agreement(a, np.zeros(24), 1.0, truth) for a, _ in pairs])
    expected = np.mean([spearmanr(a.mean(axis=0), b.mean(axis=0)).statistic for a, b in pairs])
    assert found == pytest.approx(expected, abs=0.2 * (1 - expected))


def test_agreement_of_degenerate_scores():
    ones = np.ones(50)
    assert rank_agreement(np.ones((16, 50)), np.zeros(16), 0.5, ones) == 1.0
    opposed = np.stack([np.arange(50.0) * (-1) ** i for i in range(16)])
    assert 0.0 <= rank_agreement(opposed, np.zeros(16), 1.0, ones) <= 1.0


def test_pilot_rows_are_keyed_on_row_numbers():
    def plan_for(normalization_rows):
        model = ODEFS(selection=FeatureSelection(normalization_rows=normalization_rows))
        return Plan.of(model._parameters(), LeSiNNDetector())

    plan = plan_for(None)
    assert pilot_rows(300, 20, plan, Seeds(7)).tolist() == list(range(300))
    many = pilot_rows(10**6, 20, plan, Seeds(7))
    assert many.size == np.unique(many).size == MOST_ROWS
    assert np.array_equal(many, pilot_rows(10**6, 20, plan, Seeds(7)))
    assert pilot_rows(10**6, 2000, plan, Seeds(7)).size == MOST_CELLS // 2000
    sample = sample_rows(10**6, 50_000, Seeds(7).row_sample())
    assert np.isin(pilot_rows(10**6, 20, plan_for(50_000), Seeds(7)), sample).all()
