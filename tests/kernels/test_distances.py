"""Distance kernels against the plain formula, independent of batch, position and neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from odefs.detectors import LeSiNNDetector
from odefs.kernels.distances import _distinct_rows, nearest_squared, prepare_references
from odefs.kernels.nearest_members import nearest_members

TOLERANCE = {np.float64: 1e-6, np.float32: 1e-4}


def _data(kind, n, d, dtype, rng):
    if kind == "normal":
        X = rng.normal(size=(n, d))
    elif kind == "binary":
        X = (rng.random((n, d)) < 0.3).astype(float)
    elif kind == "scaled binary":
        X = (rng.random((n, d)) < 0.3) * rng.uniform(0.3, 5, size=d)
    elif kind == "duplicates":
        X = rng.normal(size=(5, d))[rng.integers(0, 5, n)]
    elif kind == "far from the origin":
        X = 1000 + rng.random((n, d))
    else:
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 4, d)
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize(
    "kind",
    ["normal", "binary", "scaled binary", "duplicates", "far from the origin", "unequal scales"],
)
def test_scores_agree_with_the_formula(kind, metric, dtype):
    rng = np.random.default_rng(1)
    X = _data(kind, 90, 7, dtype, rng)
    detector = LeSiNNDetector(n_subsets=6, subset_size=5, metric=metric)
    rows = X[detector.sample(len(X), rng)]
    state = detector.prepare(rows, rng)
    w = rng.random(7)
    scale = np.abs(X).max()
    for weights in (None, w):
        expected = naive.lesinn(X.astype(float), rows.astype(float), 6, metric, weights)
        scores = detector.score(X, state, weights)
        np.testing.assert_allclose(scores, expected, rtol=TOLERANCE[dtype], atol=1e-9 * scale)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 9),
    n_subsets=st.integers(1, 7),
    size=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.2, 0.9]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape_and_any_holes(n, d, n_subsets, size, missing, seed):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(n, d)), rng.normal(size=(n_subsets * size, d))
    X[rng.random(X.shape) < missing] = np.nan
    rows[rng.random(rows.shape) < missing / 2] = np.nan
    w = rng.random(d) + 0.01
    detector = LeSiNNDetector(n_subsets=n_subsets, subset_size=size)
    state = detector.prepare(rows, rng)
    expected = naive.lesinn(X, rows, n_subsets, "euclidean", w)
    np.testing.assert_allclose(detector.score(X, state, w), expected, rtol=1e-6, atol=1e-9)
    contributions = detector.contributions(X, state, w)
    known = ~np.isnan(expected)
    np.testing.assert_allclose(
        contributions.sum(axis=1)[known], expected[known], rtol=1e-6, atol=1e-9
    )
    assert np.isnan(contributions[~known]).all()
    assert (contributions[known][np.isnan(X[known])] == 0).all()


@pytest.mark.parametrize("jitter", [0.0, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_tight_clusters_far_apart(jitter, missing):
    """Distances that are tiny against the norms: the expanded square has lost all their digits."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(2, 5))[rng.integers(0, 2, 60)] * 3 + jitter * rng.normal(size=(60, 5))
    X[rng.random(X.shape) < missing] = np.nan
    detector = LeSiNNDetector(n_subsets=5, subset_size=8)
    rows = X[detector.sample(60, rng)]
    state = detector.prepare(rows, rng)
    expected = naive.lesinn(X, rows, 5, "euclidean")
    known = ~np.isnan(expected)
    np.testing.assert_allclose(detector.score(X, state), expected, rtol=1e-6, atol=1e-15)
    together = detector.contributions(X, state).sum(axis=1)
    np.testing.assert_allclose(together[known], expected[known], rtol=1e-6, atol=1e-15)
    alone = [detector.score(x[None], state)[0] for x in X]
    np.testing.assert_allclose(alone, expected, rtol=1e-6, atol=1e-15)


def test_values_between_two_far_apart():
    """References take two values, rows lie between: what is noise on the grid is none beside it."""
    references = np.array([[0.0], [1e9]] * 8)
    detector = LeSiNNDetector(n_subsets=4, subset_size=4)
    state = detector.prepare(references, np.random.default_rng(0))
    X = np.array([[1.7], [1e9 - 3.0], [0.0], [1e9]])
    np.testing.assert_allclose(
        detector.score(X, state), naive.lesinn(X, references, 4, "euclidean"), rtol=1e-9
    )


def test_linearised_scores_are_the_squared_ones():
    rng = np.random.default_rng(2)
    X = rng.random((60, 8))
    detector = LeSiNNDetector(n_subsets=10, subset_size=4, metric="sqeuclidean")
    rows = X[detector.sample(60, rng)]
    state = detector.prepare(rows, rng)
    w = rng.random(8)
    G = detector.linearise(X, state, w)
    np.testing.assert_allclose(G @ w, naive.lesinn(X, rows, 10, "sqeuclidean", w), rtol=1e-9)


def test_linearised_rows_hold_neighbours_fixed():
    rng = np.random.default_rng(3)
    X = rng.random((30, 5))
    detector = LeSiNNDetector(n_subsets=4, subset_size=6)
    rows = X[detector.sample(30, rng)]
    state = detector.prepare(rows, rng)
    members = nearest_members(X, rows, 4)
    expected = np.mean([(X - rows[members[g]]) ** 2 for g in range(4)], axis=0)
    np.testing.assert_allclose(detector.linearise(X, state), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_has_the_same_bits_wherever_it_stands(dtype):
    rng = np.random.default_rng(4)
    X = rng.random((200, 13)).astype(dtype)
    references = prepare_references(X[rng.integers(0, 200, 40)], 10)
    together = nearest_squared(X, references)[:, :200].copy()
    for start, stop in [(0, 1), (3, 5), (7, 24), (150, 200)]:
        apart = nearest_squared(X[start:stop], references)[:, : stop - start]
        assert np.array_equal(apart, together[:, start:stop])


def test_distance_to_itself_is_zero_and_equal_rows_score_equally():
    rng = np.random.default_rng(5)
    X = (1e4 + rng.random((64, 6))).astype(np.float32)
    X[10:20] = X[0]
    references = prepare_references(X[:8], 1)
    nearest = nearest_squared(X, references)[0].copy()
    assert (nearest[:8] == 0).all()
    assert (nearest[10:20] == nearest[0]).all()


def test_distinct_rows_ignore_the_sign_of_zero():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [0.0, 1.0]])
    first, copy_of = _distinct_rows(rows)
    assert len(first) == 2
    assert len(set(copy_of[[0, 1, 3]])) == 1
    assert copy_of[2] != copy_of[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_first_of_equal_references_is_chosen(weighted):
    """Categorical rows: many distances are equal, and rounding must not choose the reference."""
    rng = np.random.default_rng(11)
    unit = rng.random(9) + 0.5
    X, rows = (rng.integers(0, 2, size=(n, 9)) * unit for n in (300, 60))
    w = rng.random(9) * (rng.random(9) < 0.7) if weighted else None
    members = nearest_members(X, rows, 6, w)
    weights = np.ones(9) if w is None else w
    squares = ((X[None] - rows[:, None]) ** 2 * weights).sum(axis=2).reshape(-1, 6, 300)
    first = (squares <= squares.min(axis=0) + 1e-9).argmax(axis=0)
    assert np.array_equal(members, first * 6 + np.arange(6)[:, None])
