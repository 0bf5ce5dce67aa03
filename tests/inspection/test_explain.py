"""Contributions add up, also for new rows, and the reasons are those people would name."""

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from scipy import sparse
from sklearn.utils._testing import assert_allclose

from odefs import ODEFS, FeatureSelection, LeSiNN
from odefs.detectors import LeSiNNDetector
from odefs.inspection.explanation import Explanation, TopExplanation

MODELS = {
    "ODEFS": ODEFS(random_state=0),
    "paper": ODEFS.paper(random_state=0),
    "weighted": ODEFS(selection=FeatureSelection(column_weights="learned"), random_state=0),
    "full space only": ODEFS(trust=0, random_state=0),
    "iforest": ODEFS(detector="iforest", random_state=0),
    "tails": ODEFS(detector="tails", random_state=0),
    "coupling": ODEFS(detector="coupling", random_state=0),
    "relations": ODEFS(detector="relations", random_state=0),
    "robust": ODEFS(scaling="robust", random_state=0),
    "LeSiNN": LeSiNN(random_state=0),
}


@pytest.fixture(params=MODELS)
def model(request, noisy):
    return MODELS[request.param].fit(noisy)


def test_contributions_add_up_for_old_and_new_rows(model, noisy):
    new = np.random.default_rng(1).normal(size=(40, 30)) * 3
    for rows in (noisy, new):
        explanation = model.explain(rows)
        assert isinstance(explanation, Explanation)
        assert np.asarray(explanation).shape == rows.shape
        assert (explanation.values >= 0).all()
        assert model._model.detector.attribution in explanation.attribution
        assert_allclose(explanation.values.sum(axis=1), model.outlier_scores(rows), rtol=1e-6)


def test_baseline_is_the_mean_over_training_rows(model, noisy):
    explanation = model.explain(noisy)
    assert explanation.baseline.sum() == pytest.approx(1.0, rel=1e-6)
    assert_allclose(explanation.baseline, explanation.values.mean(axis=0), rtol=1e-6, atol=1e-12)


def test_top_is_the_head_of_the_whole(model, noisy):
    whole, top = model.explain(noisy), model.explain(noisy, top=4)
    assert isinstance(top, TopExplanation)
    assert top.values.shape == top.columns.shape == top.data.shape == (500, 4)
    assert_allclose(top.excess, -np.sort(-whole.excess, axis=1)[:, :4], rtol=1e-6, atol=1e-12)
    assert np.array_equal(top.columns, whole.top(4).columns)
    assert np.array_equal(top.data, noisy[np.arange(500)[:, None], top.columns])
    assert top.reasons() == whole.reasons(k=4)
    assert top.reasons(3, k=2)[0] == whole.reasons(3, k=2)[0] == whole.reasons([3])[0][:2]


def test_more_reasons_than_columns(model, noisy):
    assert model.explain(noisy[:2], top=99).columns.shape == (2, 30)


@pytest.mark.parametrize("top", [0, -1, 1.5])
def test_a_wrong_number_of_reasons_is_refused(noisy, top):
    with pytest.raises(ValueError, match="top"):
        LeSiNN(random_state=0).fit(noisy).explain(noisy, top=top)


@pytest.mark.slow
def test_top_never_builds_rows_times_columns():
    """20,000 x 1,000 contributions would be 160 MB."""
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1000), dtype=np.float32)
    model = LeSiNN(n_jobs=2, random_state=0).fit(X[:500])
    tracemalloc.start()
    model.explain(X, top=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80e6


class DistanceToNowhere(LeSiNNDetector):
    attribution = None


def test_a_detector_without_attribution_refuses(noisy):
    model = ODEFS(detector=DistanceToNowhere(), random_state=0).fit(noisy)
    assert np.isfinite(model.outlier_scores_).all()
    with pytest.raises(TypeError, match=r"DistanceToNowhere .*attribution"):
        model.explain(noisy)


def test_importances_find_the_planted_columns(noisy):
    importances = ODEFS(random_state=0).fit(noisy).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(-importances)[:2]) == {3, 4}


def plant(seed, n_rows=2000, n_binary=10, n_normal=10, n_uniform=10, share=0.01):
    """Six-sigma values in the last column of a few rows, beside noise of three kinds."""
    rng = np.random.default_rng(seed)
    binary = (rng.random((n_rows, n_binary)) < 0.5).astype(float)
    normal = rng.normal(size=(n_rows, n_normal + 1))
    rows = rng.choice(n_rows, int(share * n_rows), replace=False)
    normal[rows, -1] = 6 * rng.choice([-1, 1], rows.size)
    return np.hstack([binary, rng.random((n_rows, n_uniform)), normal]), rows


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"n_binary": 3, "n_normal": 3, "n_uniform": 3},
        {"n_binary": 50, "n_normal": 5, "n_uniform": 5},
        {"n_rows": 500, "share": 0.02},
        {"share": 0.002},
        {"n_binary": 33, "n_normal": 34, "n_uniform": 33},
        pytest.param({"n_binary": 66, "n_normal": 68, "n_uniform": 66}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_planted_column_is_the_first_reason(table):
    right = []
    for seed in range(5):
        X, rows = plant(seed, **table)
        explanation = ODEFS(random_state=seed).fit(X).explain(X[rows])
        right.append(explanation.excess.argmax(axis=1) == X.shape[1] - 1)
    assert np.concatenate(right).mean() >= 0.9


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", ["noise", "categories", "tight clusters", "equal rows"])
def test_total_contributions_are_the_sum(metric, weighted, table):
    """Added up by the shorter way, or by the long one where the shorter would lose digits."""
    rng = np.random.default_rng(0)
    X = {
        "noise": rng.normal(size=(300, 6)),
        "categories": rng.integers(0, 3, size=(300, 6)) * 0.7,
        "tight clusters": rng.normal(size=(2, 6))[rng.integers(0, 2, 300)] * 3
        + 1e-9 * rng.normal(size=(300, 6)),
        "equal rows": np.ones((300, 6)),
    }[table]
    detector = LeSiNNDetector(metric=metric)
    state = detector.prepare(X[detector.sample(300, rng)], rng)
    w = rng.random(6) if weighted else None
    expected = detector.contributions(X, state, w).sum(axis=0)
    assert_allclose(
        detector.total_contributions(X, state, w), expected, rtol=1e-6, atol=1e-6 * expected.sum()
    )


@pytest.mark.parametrize("top", [None, 2])
def test_an_explanation_becomes_an_array_as_numpy_asks(top, noisy):
    explanation = LeSiNN(random_state=0).fit(noisy).explain(noisy[:5], top=top)
    assert np.asarray(explanation) is explanation.values
    assert not np.shares_memory(np.array(explanation), explanation.values)
    assert np.asarray(explanation, dtype=np.float16).dtype == np.float16
    assert explanation.__array__(copy=False) is explanation.values
    with pytest.raises(ValueError, match="copy"):
        explanation.__array__(np.float16, copy=False)


def test_columns_that_lowered_a_score_are_no_reasons():
    X = np.random.default_rng(0).normal(size=(200, 5))
    X[0, 2] = 40.0
    model = ODEFS(n_estimators=5, random_state=0).fit(X)
    explanation, top = model.explain(X[:20]), model.explain(X[:20], top=5)
    for row in range(20):
        (reasons,) = explanation.reasons(row, k=5)
        assert [reason.excess > 0 for reason in reasons] == [True] * int(
            (explanation.excess[row] > 0).sum()
        )
        assert top.reasons(row) == [reasons]
    assert explanation.top(5).values.shape == (20, 5)
    for found in (explanation, top):
        for k in (0, -1, 1.5):
            with pytest.raises(ValueError, match="whole number of at least 1"):
                found.reasons(0, k=k)


def test_top_columns_are_those_of_the_frame(noisy):
    model = LeSiNN(random_state=0).fit(noisy)
    whole, top = model.explain(noisy[:5]).to_frame(), model.explain(noisy[:5], top=4).to_frame()
    first = whole.groupby("row", sort=False).head(4).reset_index(drop=True)
    assert_frame_equal(top, first)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_frames_of_sparse_rows_are_those_of_dense_ones(kind, noisy):
    X = np.where(noisy > 1, noisy, 0)
    model = LeSiNN(random_state=0).fit(X)
    dense, thin = (model.explain(rows) for rows in (X[:5], kind(X[:5])))
    for a, b in ((dense, thin), (dense.top(3), thin.top(3))):
        assert_frame_equal(a.to_frame(), b.to_frame())
        assert a.reasons() == b.reasons()
