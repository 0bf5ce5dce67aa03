"""The selector keeps the columns that it reports, in every kind of table and with scikit-learn."""

import importlib

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

import odefs
from odefs import ODEFS, LeSiNN, ODEFSSelector
from odefs.baselines import CINFO
from odefs.engines.stream import RowBlocks


def test_any_keeps_what_any_component_selected(noisy):
    selector = ODEFSSelector(random_state=0).fit(noisy)
    model = ODEFS(random_state=0).fit(noisy)
    assert np.array_equal(
        selector.get_support(indices=True), np.unique(np.concatenate(model.feature_subsets_))
    )
    assert {3, 4} <= set(selector.get_support(indices=True))
    trusted = ODEFSSelector(ODEFS(random_state=0, trust=1.0)).fit(noisy)
    assert np.array_equal(trusted.feature_importances_, trusted.estimator_.feature_importances_)
    assert set(np.argsort(-selector.feature_importances_)[:2]) == {3, 4}
    assert np.array_equal(selector.transform(noisy), noisy[:, selector.support_])


def test_components_that_learned_nothing_select_nothing(noisy):
    estimator = ODEFS(random_state=0).fit(noisy)
    estimator.feature_weights_[0] = 0
    estimator.feature_subsets_[0] = np.arange(30)
    from odefs.estimators.selector import _kept_columns

    importances = estimator.feature_importances_
    others = np.unique(np.concatenate(estimator.feature_subsets_[1:]))
    assert np.array_equal(_kept_columns(estimator, importances, "any"), others)
    estimator.feature_weights_[:] = 0
    assert _kept_columns(estimator, importances, "any").size == 30


@pytest.mark.parametrize("keep", [1, 2, np.int64(7), 30, 99])
def test_a_number_keeps_the_most_important(noisy, keep):
    selector = ODEFSSelector(keep=keep, random_state=0).fit(noisy)
    kept = selector.get_support(indices=True)
    assert kept.size == min(keep, 30)
    left = np.setdiff1d(np.arange(30), kept)
    assert selector.feature_importances_[kept].min() >= selector.feature_importances_[left].max(
        initial=0
    )


@pytest.mark.filterwarnings("ignore:.*candidate threshold")
@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_learned_is_trusted_the_score_decides(seed):
    """One outlier in one column: nothing can be learned, but its column is kept."""
    X = np.random.default_rng(seed).normal(size=(300, 3))
    X[17, 0] = 60
    for table in (X, X.tolist(), pandas.DataFrame(X), sparse.csr_matrix(X)):
        selector = ODEFSSelector(keep=1, random_state=0).fit(table)
        assert selector.estimator_.trust_ == 0
        assert selector.get_support(indices=True).tolist() == [0]
        assert selector.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("keep", [0.3, 0.9, 1.0])
def test_a_share_keeps_the_fewest_columns_that_hold_it(noisy, keep):
    selector = ODEFSSelector(keep=keep, random_state=0).fit(noisy)
    held = selector.feature_importances_[selector.support_]
    assert held.sum() >= keep - 1e-9
    assert held.sum() - held.min() < keep


@pytest.mark.parametrize("keep", [0, -1, 1.5, 0.0, "all", None, True])
def test_a_wrong_keep_is_named(noisy, keep):
    with pytest.raises(ValueError, match="keep="):
        ODEFSSelector(keep=keep).fit(noisy)


@pytest.mark.parametrize("estimator", [LeSiNN(), IsolationForest(), "ODEFS"], ids=str)
def test_an_estimator_that_selects_nothing_is_refused(noisy, estimator):
    with pytest.raises((TypeError, ValueError)):
        ODEFSSelector(estimator).fit(noisy)


def test_competitors_select_too(noisy):
    selector = ODEFSSelector(CINFO(random_state=0)).fit(noisy)
    model = CINFO(random_state=0).fit(noisy)
    assert np.array_equal(
        selector.get_support(indices=True), np.unique(np.concatenate(model.feature_subsets_))
    )
    assert np.array_equal(selector.feature_importances_, model.feature_importances_)


def test_sparse_tables_and_missing_cells(noisy):
    rows = sparse.csr_array(np.where(np.abs(noisy) > 1, noisy, 0.0))
    kept = ODEFSSelector(keep=3, random_state=0).fit_transform(rows)
    assert sparse.issparse(kept)
    assert kept.shape == (500, 3)
    noisy[::7, 5] = np.nan
    assert ODEFSSelector(ODEFS(missing="ignore", random_state=0), keep=2).fit_transform(
        noisy
    ).shape == (500, 2)
    with pytest.raises(ValueError, match="NaN"):
        ODEFSSelector().fit(noisy)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_names(noisy, library):
    frames = importlib.import_module(library)
    names = [f"column {k}" for k in range(30)]
    frame = frames.DataFrame(dict(zip(names, noisy.T, strict=True)))
    selector = ODEFSSelector(keep=2, random_state=0).set_output(transform=library)
    found = selector.fit_transform(frame)
    assert type(found) is frames.DataFrame
    assert list(found.columns) == ["column 3", "column 4"]
    assert list(selector.get_feature_names_out()) == ["column 3", "column 4"]


def test_names_are_forgotten_with_the_next_fit(noisy):
    selector = ODEFSSelector(keep=2, random_state=0)
    selector.fit(pandas.DataFrame(noisy, columns=[f"c{k}" for k in range(30)]))
    assert list(selector.fit(noisy).get_feature_names_out()) == ["x3", "x4"]


@pytest.mark.slow
def test_before_another_detector_in_a_grid_search(noisy):
    y = np.arange(500) < 15

    def auc(model, X, labels):
        return roc_auc_score(labels, -model.score_samples(X))

    pipeline = make_pipeline(
        ODEFSSelector(ODEFS(n_estimators=3, random_state=0)), IsolationForest(random_state=0)
    )
    grid = {
        "odefsselector__keep": [2, "any", 0.9],
        "odefsselector__estimator__n_estimators": [2, 3],
    }
    search = GridSearchCV(
        pipeline, grid, scoring=auc, cv=StratifiedKFold(3, shuffle=True, random_state=0)
    )
    search.fit(noisy, y)
    assert search.best_score_ > 0.95
    everything = IsolationForest(random_state=0).fit(noisy)
    assert auc(search.best_estimator_, noisy, y) > auc(everything, noisy, y)


def test_in_a_column_transformer_and_explained_through_it(noisy):
    frame = pandas.DataFrame(noisy, columns=[f"c{k}" for k in range(30)])
    first = [f"c{k}" for k in range(10)]
    split = ColumnTransformer(
        [("chosen", ODEFSSelector(keep=2, random_state=0), first), ("kept", "passthrough", ["c20"])]
    )
    pipeline = make_pipeline(split, LeSiNN(random_state=0)).fit(frame)
    assert list(split.fit(frame).get_feature_names_out()) == [
        "chosen__c3",
        "chosen__c4",
        "kept__c20",
    ]
    explanation = odefs.explain(pipeline, frame)
    assert list(explanation.feature_names) == ["c3", "c4", "c20"]
    np.testing.assert_allclose(
        explanation.values.sum(axis=1), -pipeline.score_samples(frame), rtol=1e-6
    )


def test_rows_that_are_elsewhere_are_refused_before_the_fit(noisy):
    selector = ODEFSSelector(random_state=0).fit(noisy)
    with pytest.raises(
        TypeError, match="ODEFSSelector takes rows that are in memory, not RowBlocks"
    ):
        selector.fit(RowBlocks.from_arrays([noisy]))
    assert not hasattr(selector, "support_")
    with pytest.raises(NotFittedError):
        selector.transform(noisy)


def test_clones_are_unfitted_copies(noisy):
    selector = ODEFSSelector(ODEFS(n_estimators=3, random_state=0), keep=2).fit(noisy)
    copy = clone(selector)
    assert copy.get_params()["estimator__n_estimators"] == 3
    assert not hasattr(copy, "support_")
    assert not hasattr(selector.estimator, "outlier_scores_"), (
        "the estimator that was given stays as it was"
    )
