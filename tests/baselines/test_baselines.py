"""The competitors: scikit-learn's checks, and their formulas written out."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from odefs.baselines import CINFO, DisFS, RandFS, RegFS
from odefs.baselines.disfs import standing_out
from odefs.baselines.regfs import one_hot_blocks, regressor_errors, ridge_errors
from odefs.exceptions import ODEFSWarning
from odefs.inspection.contributions import fewest_with_share

ESTIMATORS = [
    RandFS(),
    RandFS(combination="breadth_first", detector="tails"),
    RegFS(),
    RegFS(n_features=0.5, regressor=LinearRegression(), detector="iforest"),
    DisFS(),
    DisFS(missing="ignore"),
    CINFO(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_fitted_attributes_agree(estimator, noisy):
    model = estimator.set_params(random_state=0).fit(noisy)
    assert np.array_equal(model.outlier_scores_, model.outlier_scores(noisy))
    assert np.array_equal(model.predict(noisy) == -1, model.is_outlier_)
    assert model.outlier_scores_.mean() == pytest.approx(1.0)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.component_weight_.sum() == pytest.approx(1.0)
    for subset in model.feature_subsets_:
        assert subset.size
        assert (np.diff(subset) > 0).all()
    again = clone(model).set_params(n_jobs=1).fit(noisy)
    assert np.array_equal(again.outlier_scores_, model.outlier_scores_)


@pytest.mark.parametrize(("make", "signs"), [(DisFS, [-1, 1]), (CINFO, [1])])
def test_planted_columns_are_found(make, signs):
    """Rows that stand out on all sides; for the lasso on one side, or nothing is linear."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    X[:60, [3, 4]] += rng.uniform(6, 20, size=(60, 2)) * rng.choice(signs, size=(60, 2))
    importances = make(random_state=0).fit(X).feature_importances_
    assert set(np.argsort(-importances)[:2]) == {3, 4}


def test_random_subsets_have_the_sizes_of_the_paper(noisy):
    model = RandFS(n_estimators=200, random_state=0).fit(noisy)
    sizes = {subset.size for subset in model.feature_subsets_}
    assert sizes == set(range(15, 30))


def test_breadth_first_reads_the_rankings_side_by_side(noisy):
    model = RandFS(combination="breadth_first", n_estimators=4, random_state=0).fit(noisy)
    raw = model._engine(noisy).raw_scores(
        model._model.scaling, model._model.detector, model._model.components
    )
    rankings = np.argsort(-raw, axis=1, kind="stable")
    met = list(dict.fromkeys(rankings.T.ravel()))
    assert np.argsort(-model.outlier_scores_, kind="stable")[:100].tolist() == met[:100]
    with pytest.raises(TypeError, match="cumulative"):
        model.explain(noisy)


@pytest.mark.parametrize("combination", ["cumulative", "breadth_first"])
def test_a_row_without_observed_cells_is_ordinary(combination, noisy):
    X = noisy.copy()
    X[5] = np.nan
    model = RandFS(combination=combination, missing="ignore", random_state=0).fit(X)
    assert model.outlier_scores_[5] == pytest.approx(1.0)
    assert model.outlier_scores(X[5:6]) == pytest.approx(1.0)
    assert np.delete(model.outlier_scores_, 5).mean() == pytest.approx(1.0)
    assert not model.is_outlier_[5]


def test_cumulative_scores_explain_themselves(noisy):
    model = RandFS(random_state=0).fit(noisy)
    np.testing.assert_allclose(
        model.explain(noisy).values.sum(axis=1), model.outlier_scores_, rtol=1e-6
    )


def correlated(n=60, d=7):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X[:, 2] = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X


def test_ridge_errors_are_those_of_leaving_one_row_out():
    X = correlated()
    groups = [
        np.array([0]),
        np.array([1]),
        np.array([2]),
        np.array([3, 4]),
        np.array([5]),
        np.array([6]),
    ]
    found = ridge_errors(X, groups, alpha=0.7)
    for group in groups:
        rest = np.setdiff1d(np.arange(7), group)
        for k in group:
            predicted = cross_val_predict(Ridge(alpha=0.7), X[:, rest], X[:, k], cv=LeaveOneOut())
            rrse = np.sqrt(
                ((X[:, k] - predicted) ** 2).sum() / ((X[:, k] - X[:, k].mean()) ** 2).sum()
            )
            assert found[k] == pytest.approx(rrse, rel=1e-9)


def test_any_regressor_agrees_on_what_is_predictable():
    X = correlated(n=300)
    groups = [np.array([k]) for k in range(7)]
    errors = regressor_errors(X, groups, LinearRegression(), 5)
    np.testing.assert_allclose(errors, ridge_errors(X, groups, 1e-6), rtol=0.05)
    assert errors[2] < 0.1
    assert errors[3] > 0.9


def test_constant_columns_are_not_predictable():
    X = np.c_[correlated(), np.ones(60)]
    assert ridge_errors(X, [np.array([k]) for k in range(8)], 1.0)[7] == np.inf


def test_one_hot_blocks_are_found():
    rng = np.random.default_rng(1)
    a, b = np.eye(3)[rng.integers(0, 3, 200)], np.eye(4)[rng.integers(0, 4, 200)] * 2.5
    number, coin = rng.normal(size=(200, 1)), (rng.random((200, 1)) < 0.5).astype(float)
    blocks = one_hot_blocks(np.hstack([number, a, coin, b, coin]))
    assert [block.tolist() for block in blocks] == [[0], [1, 2, 3], [4], [5, 6, 7, 8], [9]]


def test_one_hot_columns_do_not_predict_themselves():
    """Two independent nominal columns: values are certain within their block, not across blocks."""
    rng = np.random.default_rng(2)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, 500)] for _ in range(2)])
    alone, blocks = (
        ridge_errors(X, [np.array([k]) for k in range(8)], 1.0),
        ridge_errors(X, one_hot_blocks(X), 1.0),
    )
    assert alone.max() < 0.1
    assert blocks.min() > 0.9
    for groups, errors in ((RegFS(groups=[]), alone), (RegFS(), blocks)):
        shares = 1 - np.minimum(1, errors)
        importances = groups.set_params(random_state=0).fit(X).feature_importances_
        np.testing.assert_allclose(importances, shares / shares.sum(), rtol=1e-6)


def test_overlapping_groups_are_refused(noisy):
    with pytest.raises(ValueError, match="groups"):
        RegFS(groups=[[0, 1], [1, 2]]).fit(noisy)


@pytest.mark.parametrize("d", [6, 40])
def test_directions_solve_the_generalised_eigenproblem(d):
    rng = np.random.default_rng(3)
    rows, neighbours = rng.normal(size=(5, d)) * 2, rng.normal(size=(5, 20, d))
    found = standing_out(rows, neighbours, eps=0.1)
    for o, near, w in zip(rows, neighbours, found, strict=True):
        A = np.mean([np.outer(o - x, o - x) for x in near], axis=0)
        B = np.cov(near.T, bias=True)
        B += 0.1 * np.trace(B) / d * np.eye(d)
        _, vectors = eigh(A, B)
        assert abs(w @ vectors[:, -1]) / np.linalg.norm(w) / np.linalg.norm(
            vectors[:, -1]
        ) == pytest.approx(1, abs=1e-6)


def test_directions_of_degenerate_neighbours_are_finite():
    same = np.ones((2, 20, 5))
    assert np.isfinite(standing_out(np.array([[1.0] * 5, [2.0, 1, 1, 1, 1]]), same, 0.1)).all()


def test_fewest_columns_with_a_share():
    assert fewest_with_share(np.array([0.1, 0.6, 0.2, 0.1]), 0.8).tolist() == [1, 2]
    assert fewest_with_share(np.array([0.0, 1.0]), 1.0).tolist() == [1]
    assert fewest_with_share(np.zeros(3), 0.8).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (RandFS, {"n_estimators": 0}),
        (RandFS, {"combination": "max"}),
        (RegFS, {"n_features": -1}),
        (RegFS, {"n_features": 1.5}),
        (RegFS, {"groups": "none"}),
        (RegFS, {"regressor": "lasso"}),
        (RegFS, {"alpha": 0}),
        (DisFS, {"share": 0}),
        (DisFS, {"n_neighbors": 0}),
        (CINFO, {"max_rounds": 0}),
    ],
)
def test_a_wrong_parameter_is_named(make, parameters, noisy):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        make(**parameters).fit(noisy)


def fallbacks_of(model, X):
    """The fallbacks of a fit; every one of them must have been warned about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(random_state=0).fit(X)
    said = [
        str(warning.message) for warning in caught if issubclass(warning.category, ODEFSWarning)
    ]
    assert said == [fallback.message for fallback in model.fit_info_["fallbacks"]]
    return {fallback.kind: fallback.message for fallback in model.fit_info_["fallbacks"]}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (CINFO(), "no column explains the scores of the candidates"),
        (RegFS(), "no column is predicted by the others"),
        (DisFS(), "no candidate stands out from its neighbours"),
    ],
    ids=["CINFO", "RegFS", "DisFS"],
)
def test_falling_back_to_all_columns_is_said(model, reason):
    """Rows that are all alike: there is nothing to choose by."""
    assert (
        fallbacks_of(model, np.ones((60, 4)))["nothing_learned"]
        == f"{reason}: all columns are used."
    )
    assert all(subset.tolist() == [0, 1, 2, 3] for subset in model.feature_subsets_)


@pytest.mark.parametrize("make", [CINFO, DisFS])
def test_too_few_candidates_are_said(make, noisy):
    assert "fewer than 10" in fallbacks_of(make(candidate_threshold=1e6), noisy)["few_candidates"]


def test_regressions_that_do_not_settle_are_said(noisy, monkeypatch):
    monkeypatch.setattr("odefs.baselines.cinfo.ITERATIONS", 1)
    assert "sparse regressions did not converge" in fallbacks_of(CINFO(), noisy)["not_converged"]


@pytest.mark.parametrize("make", [CINFO, DisFS, RegFS, RandFS])
def test_an_ordinary_fit_falls_back_on_nothing(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    X[:60, [3, 4]] += rng.uniform(6, 20, size=(60, 2))
    assert fallbacks_of(make(), X) == {}
