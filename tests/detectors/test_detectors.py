"""The shared contract of all detectors, and what is particular to each."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from odefs import ODEFS, FeatureSelection
from odefs.detectors import BUILT_IN, IForestDetector, TailsDetector
from odefs.detectors.iforest import reach_leaves


@pytest.fixture(params=BUILT_IN)
def detector(request):
    return BUILT_IN[request.param]()


@pytest.fixture
def scaled():
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    X[:8, :2] = 3 + rng.random((8, 2))
    return X


def prepared(detector, X, seed=0):
    rng = np.random.default_rng(seed)
    return detector.prepare(X[detector.sample(len(X), rng)], rng)


def test_contract(detector, scaled):
    state = prepared(detector, scaled)
    scores = detector.score(scaled, state)
    assert scores.shape == (400,)
    assert (scores >= 0).all()
    assert roc_auc_score(np.arange(400) < 8, scores) > 0.95, "the planted rows score high"
    assert detector.attribution
    G = detector.linearise(scaled, state)
    assert G.shape == scaled.shape
    assert (G >= 0).all()
    np.testing.assert_allclose(detector.contributions(scaled, state).sum(axis=1), scores, rtol=1e-9)


def test_weights_take_columns_out(detector, scaled):
    state = prepared(detector, scaled)
    w = np.array([0, 0, 1, 1, 1, 1.0])
    assert roc_auc_score(np.arange(400) < 8, detector.score(scaled, state, w)) < 0.9
    contributions = detector.contributions(scaled, state, w)
    assert (contributions[:, :2] == 0).all()
    np.testing.assert_allclose(
        contributions.sum(axis=1), detector.score(scaled, state, w), rtol=1e-9
    )


def test_holes(detector, scaled):
    holes = scaled.copy()
    holes[np.random.default_rng(1).random(holes.shape) < 0.3] = np.nan
    holes[11] = np.nan
    scores = detector.score(holes, prepared(detector, holes))
    assert np.isnan(scores[11])
    assert np.isfinite(np.delete(scores, 11)).all()


def test_state_is_drawn_from_the_generator(detector, scaled):
    a, b = (detector.score(scaled, prepared(detector, scaled, seed)) for seed in (0, 0))
    assert np.array_equal(a, b)


def test_isolation_credit_follows_the_definition():
    rng = np.random.default_rng(2)
    X = rng.random((64, 3))
    detector = IForestDetector(n_trees=20, subset_size=64)
    state = detector.prepare(X, rng)
    depth = int(np.log2(state.column.shape[1] + 1))
    for tree in range(20):
        for x in X[:10]:
            inside, node, bits, column_bits = np.ones(64, bool), 0, 0, np.zeros(3)
            splits = 0
            for _ in range(depth):
                k, cut = state.column[tree, node], state.threshold[tree, node]
                right = x[k] > cut
                child = inside & ((X[:, k] > cut) == right)
                if np.isfinite(cut):
                    gained = np.log2(inside.sum() / child.sum())
                    bits, splits = bits + gained, splits + 1
                    column_bits[k] += gained
                inside, node = child, 2 * node + 1 + right
            n = inside.sum()
            hidden = (
                2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n if n > 2 else float(n == 2)
            )
            leaf = reach_leaves(x[None], state)[0, tree]
            assert state.leaf_score[tree, leaf] == pytest.approx(bits / (splits + hidden))
            single = np.zeros(3)
            np.add.at(single, state.path_column[tree, leaf], state.path_credit[tree, leaf])
            np.testing.assert_allclose(single, column_bits / (splits + hidden), atol=1e-12)


def test_forest_ranks_like_scikit_learns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 10))
    X[:60] += rng.normal(size=(60, 10)) * 3
    y = np.arange(3000) < 60
    ours = IForestDetector(n_trees=300)
    theirs = -IsolationForest(n_estimators=300, random_state=0).fit(X).score_samples(X)
    assert roc_auc_score(y, ours.score(X, prepared(ours, X))) == pytest.approx(
        roc_auc_score(y, theirs), abs=0.015
    )


def test_forest_draws_columns_in_proportion_to_weights():
    rng = np.random.default_rng(4)
    X = rng.random((500, 4))
    state = IForestDetector(n_trees=200).prepare(X, rng, np.array([1.0, 3.0, 0.0, 0.0]))
    drawn = np.bincount(state.column[:, 0], minlength=4) / 200
    assert drawn[2:].sum() == 0
    assert drawn[1] == pytest.approx(0.75, abs=0.1)


@pytest.mark.parametrize("side", [1, -1])
def test_forest_sends_missing_cells_where_most_rows_go(side):
    """A cut in the gap leaves the crowd left for ``side = 1``, right for its mirror image."""
    rng = np.random.default_rng(5)
    X = side * np.r_[rng.random((250, 1)), [[100.0]] * 6]
    state = IForestDetector(n_trees=50).prepare(X, rng)
    crowd_right = (state.threshold[:, 0] < X).mean(axis=0) > 0.5
    assert np.array_equal(state.missing_right[:, 0], crowd_right)
    assert (crowd_right == (side < 0)).mean() > 0.9


def test_learned_weights_are_the_odds_of_the_final_forest(noisy):
    model = ODEFS(detector="iforest", random_state=0, selection=FeatureSelection(tol=1e-5)).fit(
        noisy
    )
    component, w = model._model.components[0], model.feature_weights_[0]
    roots = np.bincount(component.state.column[:, 0], minlength=component.columns.size)
    assert component.w is None
    assert np.corrcoef(roots, w[component.columns])[0, 1] > 0.5


def test_tail_scores_by_hand():
    rows = np.array([[0.0], [1.0], [1.0], [2.0]])
    state = TailsDetector().prepare(rows, np.random.default_rng(0))
    G = TailsDetector().linearise(np.array([[0.0], [1.0], [2.0], [9.0], [-9.0]]), state)
    np.testing.assert_allclose(G[:, 0], [np.log(2), 0, np.log(2), np.log(2), np.log(2)])


def test_a_detector_instance_brings_its_own_settings(noisy):
    model = ODEFS(detector=IForestDetector(n_trees=7), random_state=0).fit(noisy)
    assert model._model.components[0].state.column.shape[0] == 7


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("kernel", ["numpy", "auto"])
def test_a_row_has_the_same_bits_in_every_batch(detector, weighted, holes, kernel, monkeypatch):
    """Sums over columns and over subsets have one order, however many rows there are."""
    monkeypatch.setenv("ODEFS_KERNEL", kernel)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 40))
    X[rng.random(X.shape) < holes] = np.nan
    w = rng.random(40) if weighted else None
    state = prepared(detector, X)
    together = detector.score(X, state, w)
    for height in (1, 2, 3, 17, 255):
        apart = [
            detector.score(X[start : start + height], state, w) for start in range(0, 300, height)
        ]
        assert np.array_equal(np.concatenate(apart), together), height
