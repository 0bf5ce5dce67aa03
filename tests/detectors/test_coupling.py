"""Value coupling agrees with its definition, and with itself for any encoding of the columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefs.detectors import value_walk
from odefs.detectors.coupling import CouplingDetector
from odefs.detectors.value_cuts import cut_columns, limits_for

PURE = CouplingDetector(frequencies=False)


@pytest.fixture
def codes():
    """Two columns that go together and two that do not; the last one has a rare value."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 500)
    second = np.where(rng.random(500) < 0.9, first, rng.integers(0, 3, 500))
    return np.c_[first, second, rng.integers(0, 4, 500), rng.random(500) < 0.02].astype(float)


def by_definition(X, steps=3000, damping=0.95):
    """The walk with the whole matrix, written with loops."""
    values = [(k, v) for k in range(X.shape[1]) for v in np.unique(X[:, k])]
    has = np.array([X[:, k] == v for k, v in values])
    share = has.mean(axis=1)
    walk = np.zeros((len(values), len(values)))
    for j, (k, _) in enumerate(values):
        mode = max(share[i] for i, (other, _) in enumerate(values) if other == k)
        delta = ((1 - mode) + (mode - share[j]) / mode) / 2
        for i, (other, _) in enumerate(values):
            if other != k:
                walk[i, j] = delta * (has[i] & has[j]).mean() / share[j]
    walk /= walk.sum(axis=1, keepdims=True)
    pi = np.full(len(values), 1 / len(values))
    for _ in range(steps):
        pi = (1 - damping) / len(values) + damping * pi @ walk
    relevance = {
        k: sum(p for p, (other, _) in zip(pi, values, strict=True) if other == k)
        for k in range(X.shape[1])
    }
    return sum(relevance[k] * p * h for (k, _), p, h in zip(values, pi, has, strict=True))


def test_scores_follow_the_definition(codes):
    expected = by_definition(codes)
    scores = PURE.score(codes, PURE.prepare(codes, np.random.default_rng(0)))
    np.testing.assert_allclose(scores / scores.std(), expected / expected.std(), rtol=1e-6)


def test_frequencies_are_added_in_equal_parts(codes):
    both = CouplingDetector()
    coupled = by_definition(codes)
    share = np.array([[np.mean(column == v) for v in column] for column in codes.T])
    rarity = -np.log(share).sum(axis=0)
    scores = both.score(codes, both.prepare(codes, np.random.default_rng(0)))
    expected = coupled / coupled.std() + rarity / rarity.std()
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


@pytest.mark.parametrize("detector", [PURE, CouplingDetector()], ids=["coupling", "both"])
def test_one_hot_columns_are_one_column(codes, detector):
    one_hot = np.concatenate(
        [
            (column[:, None] == np.unique(column)) * unit
            for column, unit in zip(codes.T, (1, 2.5, 3, 1), strict=True)
        ],
        axis=1,
    )
    rng = np.random.default_rng(0)
    plain, expanded = detector.prepare(codes, rng), detector.prepare(one_hot, rng)
    np.testing.assert_allclose(
        detector.score(one_hot, expanded), detector.score(codes, plain), rtol=1e-9
    )


def test_only_complete_blocks_are_joined():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 3, 400)
    block = level[:, None] == np.arange(3)
    loose = rng.random((400, 2)) < 0.3
    found = cut_columns(np.c_[loose, block, rng.normal(size=400)].astype(float), 10)
    assert found.blocks == [slice(0, 1), slice(1, 2), slice(2, 5), slice(5, 6)]
    assert found.is_discrete.tolist() == [True, True, True, False]


def test_numbers_are_binned_and_not_called_rare():
    X = np.random.default_rng(2).normal(size=(1000, 3))
    state = CouplingDetector().prepare(X, np.random.default_rng(0))
    assert not cut_columns(X, 10).is_discrete.any()
    assert 5 <= state.cuts.shape[0] <= 9


def test_a_new_value_in_a_constant_column_is_rare(codes):
    detector = CouplingDetector()
    X = np.c_[codes, np.full(500, 7.0)]
    state = detector.prepare(X, np.random.default_rng(0))
    new = X[:50].copy()
    new[:, 4] += np.where(np.arange(50) % 2, 1, -1)
    more = detector.score(new, state) - detector.score(X[:50], state)
    np.testing.assert_allclose(more, state.values.max())


def test_missing_cells_count_as_usual(codes):
    detector = CouplingDetector()
    state = detector.prepare(codes, np.random.default_rng(0))
    holes = codes.copy()
    holes[:, 3] = np.nan
    shares = detector.linearise(holes, state)
    assert np.ptp(shares[:, 3]) == 0
    np.testing.assert_allclose(shares[0, 3], detector.linearise(codes, state)[:, 3].mean())


def test_several_rare_values_count_more_than_one():
    """Values of the first two columns are equally rare; only some rows have both."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (3000, 5)).astype(float)
    X[:30, :2] = 9.0
    X[30:60, 2], X[60:90, 3] = 9.0, 9.0
    scores = PURE.score(X, PURE.prepare(X, rng))
    assert scores[:30].min() > scores[30:90].max() > np.median(scores)
    values = PURE.prepare(X, rng).values
    assert values[4, :2].min() > values[4, 2:4].max()


@pytest.mark.parametrize("n_values", [11, 16, 20, 40])
def test_rounding_does_not_decide_where_a_value_belongs(n_values):
    X = np.random.default_rng(4).integers(0, n_values, (2000, 3)) / 10
    detector = CouplingDetector()
    scores = [
        detector.score(X.astype(dtype), detector.prepare(X.astype(dtype), None))
        for dtype in (np.float32, np.float64)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)


def test_a_rare_value_among_a_dozen_is_rare():
    X = np.random.default_rng(5).choice([0, *range(2, 13)], (3000, 3)).astype(float)
    X[7, 0] = 1.0
    detector = CouplingDetector()
    assert detector.score(X, detector.prepare(X, None)).argmax() == 7


def test_wide_tables_are_learned_from_rows_everywhere():
    """The first rows of a sorted table have one value only."""
    X = np.zeros((2000, 4200))
    X[1000:, 0] = 1
    X[:, 1:] = np.random.default_rng(6).random((2000, 4199)) < 0.5
    state = CouplingDetector().prepare(X, None)
    np.testing.assert_allclose(state.values[1, 0], state.values[0, 0], rtol=0.1)


@pytest.mark.parametrize("settings", [{"n_bins": 1}, {"n_references": 0}, {"n_bins": 10**6}])
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        CouplingDetector(**settings)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), st.integers(-3, 3))
def test_limits_of_narrower_cells_divide_the_same_cells(limits, steps):
    limits = np.sort(np.array(limits))
    cells = limits.astype(np.float32)
    for _ in range(abs(steps)):
        cells = np.nextafter(cells, np.float32(np.copysign(np.inf, steps)))
    narrow = limits_for(cells.dtype, limits)
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(cells[:, None] > narrow, cells[:, None].astype(float) > limits)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_sums_of_the_steps_between_values(codes, dtype):
    rng = np.random.default_rng(0)
    X = np.c_[codes, rng.normal(size=(500, 2))].astype(dtype)
    X[rng.random(X.shape) < 0.02] = np.nan
    detector = CouplingDetector()
    state = detector.prepare(X, rng)
    expected = np.repeat(state.values[:1], len(X), axis=0)
    for limits, step in zip(state.cuts, np.diff(state.values, axis=0), strict=True):
        expected = expected + (limits < X) * step
    expected = np.where(np.isnan(X), state.missing, np.maximum(expected, 0))
    np.testing.assert_array_equal(detector.linearise(X, state), expected)


def test_values_are_the_same_whether_found_before_or_on_the_way(codes):
    detector, rng = CouplingDetector(), np.random.default_rng(0)
    found = detector.prepare_cut(codes, cut_columns(codes, detector.n_bins))
    expected = detector.prepare(codes, rng)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.cuts, expected.cuts)


def test_products_have_the_bits_of_scipy(monkeypatch):
    """Small tables do without scipy, so both products must be the same."""
    rng = np.random.default_rng(0)
    kept = rng.random((300, 7)) < 0.6
    values = (np.arange(7) * 5 + rng.integers(0, 5, (300, 7)))[kept]
    ends = np.cumsum(kept.sum(axis=1))
    of_values, of_rows = rng.normal(size=40), rng.normal(size=300)
    small = value_walk._occurrences(values, ends, 40)
    monkeypatch.setattr(value_walk, "FEW_CELLS", 0)
    large = value_walk._occurrences(values, ends, 40)
    assert type(small) is not type(large)
    assert (small @ of_values).tobytes() == (large @ of_values).tobytes()
    assert (small.T @ of_rows).tobytes() == (large.T @ of_rows).tobytes()
