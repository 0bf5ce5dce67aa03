"""Relations between columns: what breaks them is found, and the right columns are named."""

import numpy as np
import pytest
from sklearn.covariance import MinCovDet
from sklearn.metrics import average_precision_score

from odefs import ODEFS
from odefs.detectors.relations import SMALLEST_SHRINKAGE, RelationsDetector

BROKEN = np.arange(2000) < 20


@pytest.fixture
def total():
    """A total of four columns that does not add up in twenty rows."""
    rng = np.random.default_rng(0)
    parts = rng.gamma(2.0, size=(2000, 4)) * [1, 5, 20, 100]
    whole = parts.sum(axis=1)
    whole[BROKEN] += rng.choice([-1, 1], 20) * rng.uniform(20, 60, 20)
    return np.c_[parts, whole]


@pytest.fixture
def pair():
    """Two columns that go together except in twenty rows, and eighteen columns of noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 20))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=2000)
    X[BROKEN, 1] = -np.sign(X[BROKEN, 0]) * rng.uniform(0.8, 1.5, 20)
    return X


def scored(X):
    detector = RelationsDetector()
    state = detector.prepare(X, np.random.default_rng(0))
    return detector.score(X, state), detector.contributions(X, state)


@pytest.mark.filterwarnings("ignore:Determinant has increased:RuntimeWarning")
def test_a_total_that_does_not_add_up(total):
    by_mcd = MinCovDet(random_state=0).fit(total).mahalanobis(total)
    ours = average_precision_score(BROKEN, scored(total)[0])
    assert ours > 0.9
    assert ours >= average_precision_score(BROKEN, by_mcd)


def test_a_pair_that_does_not_go_together(pair):
    scores, parts = scored(pair)
    assert average_precision_score(BROKEN, scores) > 0.9
    assert (parts[BROKEN].argmax(axis=1) < 2).mean() >= 0.95


def test_it_is_the_mahalanobis_distance():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 3)) @ rng.normal(size=(3, 3))
    detector = RelationsDetector(n_references=5000)
    state = detector.prepare(X, rng)
    z = (X - state.mean) / state.std
    correlations = np.linalg.inv(state.precision)
    np.testing.assert_allclose(
        detector.score(X, state), np.einsum("ij,jk,ik->i", z, state.precision, z), rtol=1e-8
    )
    # The diagonal of a shrunk correlation matrix is that of correlations.
    np.testing.assert_allclose(np.diag(correlations), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    "w", [None, np.array([0.5, 1.0, 0.0, 2.0, 1.0])], ids=["equal", "weighted"]
)
def test_a_linear_approximation_gives_the_score(total, w):
    detector = RelationsDetector()
    state = detector.prepare(total, np.random.default_rng(0))
    G = detector.linearise(total, state, w)
    weights = np.ones(5) if w is None else w
    np.testing.assert_allclose(G @ weights, detector.score(total, state, w), rtol=1e-9)


def test_columns_that_determine_each_other_exactly():
    rng = np.random.default_rng(3)
    level = rng.integers(0, 4, 1000)
    X = np.c_[level[:, None] == np.arange(4), rng.normal(size=(1000, 2))].astype(float)
    detector = RelationsDetector()
    state = detector.prepare(X, rng)
    assert np.abs(np.linalg.eigvalsh(state.precision)).max() <= 1.01 / SMALLEST_SHRINKAGE
    impossible = X[:1].copy()
    impossible[0, :4] = 1.0
    assert detector.score(impossible, state) > 10 * detector.score(X, state).max()


def test_the_estimator_takes_it_by_name(total):
    model = ODEFS(detector="relations", trust=0, random_state=0).fit(total)
    assert average_precision_score(BROKEN, model.outlier_scores_) > 0.9


@pytest.mark.parametrize("share", [0.3, 0.1, 0.02])
def test_a_rare_value_does_not_hide_what_does_not_add_up(total, share):
    """The nearest rows, to which relations are fitted, may lack it."""
    flag = np.random.default_rng(4).random((2000, 1)) < share
    scores, _ = scored(np.c_[total, flag])
    assert average_precision_score(BROKEN, scores) > 0.9


def test_many_columns_are_refused():
    with pytest.raises(ValueError, match="columns"):
        RelationsDetector().prepare(np.zeros((10, 5000)), None)


def test_units_do_not_matter(pair):
    scores, _ = scored(pair)
    np.testing.assert_allclose(scored(pair * 1e-10)[0], scores, rtol=1e-6)


@pytest.mark.parametrize("n_missing", [1, 3])
def test_missing_cells_leave_the_distance_in_the_other_columns(n_missing):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 6)) @ rng.normal(size=(6, 6))
    detector = RelationsDetector()
    state = detector.prepare(X, rng)
    covariance = np.linalg.inv(state.precision)
    z = (X - state.mean) / state.std
    for row in range(20):
        kept = np.sort(rng.permutation(6)[n_missing:])
        inverse = np.linalg.inv(covariance[np.ix_(kept, kept)])
        expected = z[row, kept] @ inverse @ z[row, kept] * 6 / kept.size
        cells = np.full((1, 6), np.nan)
        cells[0, kept] = X[row, kept]
        assert detector.score(cells, state) == pytest.approx(expected)
        parts = detector.contributions(cells, state)[0]
        assert parts.sum() == pytest.approx(expected)
        assert parts[np.isnan(cells[0])] == pytest.approx(0, abs=1e-6 * expected)
        together = np.concatenate([X[:9], cells, X[9:40]])
        assert detector.score(together, state)[9] == detector.score(cells, state)[0]


def test_a_missing_cell_breaks_no_relation():
    """Its row was compared as if the cell had the mean of its column."""
    row = np.arange(300.0)
    X = np.c_[row / 10, 3 * row, np.sin(1.7 * row)]
    X[290, 0] = np.nan
    for detector in ("relations", "auto"):
        model = ODEFS(detector=detector, missing="ignore", random_state=0).fit(X)
        above = (model.outlier_scores_ > model.outlier_scores_[290]).mean()
        assert above > 0.01
