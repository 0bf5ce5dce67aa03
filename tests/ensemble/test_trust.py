"""Trust in learned subsets: high if they find planted columns, low if there are none."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score as auc

from odefs import ODEFS
from odefs.ensemble.discrete_weights import DiscreteWeights
from odefs.ensemble.isolated_values import isolated_columns
from odefs.ensemble.pilot import pilot_rows
from odefs.ensemble.trust import (
    CONTRAST_GAIN,
    SHARE_IF_HIDING,
    STABILITY,
    TAIL_GAIN,
    candidate_stability,
    contrast_gain,
    measured_trust,
    tail_gain,
)
from odefs.scaling import (
    SMALLEST_STD,
    column_moments,
    column_ranges,
    draw_in_tails,
    fit_scaling,
    scale_by_moments,
)

pytestmark = pytest.mark.filterwarnings("ignore::odefs.ODEFSWarning")


def planted(n_columns, n_relevant, shift, seed=0, n_rows=2000, n_outliers=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = np.arange(n_rows) < n_outliers
    X[y, :n_relevant] += shift * rng.choice([-1, 1], size=(n_outliers, n_relevant))
    return X, y


@pytest.mark.parametrize(
    ("n_columns", "n_relevant"), [(300, 6), pytest.param(1000, 10, marks=pytest.mark.slow)]
)
def test_few_relevant_columns_are_found_and_trusted(n_columns, n_relevant):
    X, y = planted(n_columns, n_relevant, 4.0)
    model = ODEFS(random_state=0, noise_columns="keep").fit(X)
    full = ODEFS(random_state=0, noise_columns="keep", trust=0.0).fit(X)
    assert model.trust_ > 0.5
    assert auc(y, model.outlier_scores_) > auc(y, full.outlier_scores_) + 0.02
    assert set(np.argsort(-model.feature_importances_)[:3]) <= set(range(n_relevant))
    assert (
        auc(y, ODEFS(random_state=0).fit(X).outlier_scores_) > auc(y, full.outlier_scores_) + 0.02
    )


def test_where_every_column_tells_nothing_is_risked():
    X, y = planted(30, 30, 1.5)
    model = ODEFS(random_state=0).fit(X)
    assert model.trust_ == 0
    assert model.fit_info_["stopping"]["reason"] == "not trusted"
    assert "0%" in model.fit_info_["trust"]["message"]
    assert auc(y, model.outlier_scores_) > 0.99


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(3000, 60)),
        lambda rng: rng.random((500, 300)),
        lambda rng: rng.integers(0, 10, (800, 200)).astype(float),
        lambda rng: (rng.random((800, 200)) < 0.5).astype(float),
        lambda rng: np.repeat(rng.random((400, 300)), 2, axis=0),
    ],
    ids=["normal", "uniform", "whole", "binary", "every row twice"],
)
def test_noise_is_not_trusted(draw):
    """Columns on which some rows stand out by chance say nothing about other rows."""
    for seed in range(3):
        model = ODEFS(random_state=0).fit(draw(np.random.default_rng(seed)))
        assert model.trust_ < 0.2
        assert model.is_outlier_.sum() <= 8


def test_a_tail_counts_as_far_as_other_rows_confirm_it():
    high = measured_trust(1.0, 0.0, 3.0)
    assert high.rests_on_tail
    assert high.confirmed_by(3.0).share == high.share == 1
    assert high.confirmed_by(1.0).share == 0
    assert not measured_trust(3.0, 1.0, 3.0).rests_on_tail, "contrast speaks for the subsets too"


def test_columns_of_two_values_raise_no_tail_and_one_of_them_no_trust():
    def shares(on_all, on_one):
        weights = DiscreteWeights(on_all, on_one)
        return (
            measured_trust(1.0, 0.0, 3.0, weights=weights).share,
            measured_trust(3.0, 1.0, 1.0, weights=weights).share,
        )

    assert shares(0.0, 0.0) == (1, 1)
    assert shares(1.0, 0.1) == (0, 1), "the tail is that of rare values"
    assert shares(0.5, 0.1) == (0.5, 1)
    assert shares(0.9, 0.9) == (0, 0), "one column makes up the score"
    known = measured_trust(3.0, 1.0, 1.0, known_gain=1.0, weights=DiscreteWeights(1.0, 1.0))
    assert known.share == 1, "known outliers show that the column matters"


@pytest.mark.parametrize("seed", range(2))
def test_a_rare_value_of_one_column_is_not_the_whole_score(seed):
    """Holidays among rented bikes by the hour: they were the only reason of all flags."""
    rng = np.random.default_rng(seed)
    holiday = rng.random(4000) < 0.03
    temperature = rng.normal(size=4000)
    felt = temperature + 0.5 * rng.normal(size=4000)
    times = [rng.integers(0, m, 4000) for m in (24, 365, 7, 12)]
    model = ODEFS(random_state=0).fit(np.column_stack([holiday, *times, temperature, felt]))
    assert model.trust_ == 0
    assert model.is_outlier_[holiday].mean() < 0.1


@pytest.mark.parametrize("value", [1.0, 0.0, np.nan])
def test_columns_without_two_values_change_no_trust(value):
    """Random subsets of such columns have no contrast, so that any other would seem better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 10)) + 0.5 * rng.normal(size=(1000, 10))
    X[:10, 0] += 6
    X = np.c_[X, np.full((1000, 60), value)]
    model = ODEFS(missing="ignore", random_state=0).fit(X)
    assert model.trust_ == 0
    assert auc(np.arange(1000) < 10, model.outlier_scores_) > 0.99


def test_subsets_that_hide_a_far_value_have_a_small_share():
    """The row of the far value is not in the sample that subsets are learned from."""
    X, _ = planted(200, 4, 4.0, n_rows=12_000, n_outliers=120)
    model = ODEFS(random_state=0, noise_columns="keep")
    sampled = pilot_rows(*X.shape, None, model._seeds())
    row = np.setdiff1d(np.arange(1000, 12_000), sampled)[0]
    before = model.fit(X).trust_
    X[row, 150] = 90.0
    assert model.fit(X).fit_info_["trust"]["n_hidden"] == 1
    assert model.trust_ == SHARE_IF_HIDING < before
    assert (model.outlier_scores_ > model.outlier_scores_[row]).sum() < 200
    assert measured_trust(3.0, 1.0, 1.0, known_gain=1.0, hidden=1).share == 1


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda rng: rng.normal(size=5000), []),
        (lambda rng: rng.lognormal(0, 2, size=5000), []),
        (lambda rng: rng.standard_t(2, size=5000), []),
        (lambda rng: (rng.random(5000) < 0.001).astype(float), []),
        (lambda rng: np.zeros(5000), []),
        (lambda rng: np.r_[rng.normal(size=4997), 80.0, 90.0, -100.0], [0]),
        (lambda rng: np.r_[rng.integers(0, 40, 4999), 1048.0], [0]),
        (lambda rng: np.r_[rng.lognormal(size=4999), 1e4], [0]),
    ],
)
@pytest.mark.parametrize("kind", ["robust", "minmax"])
def test_values_are_isolated_beyond_the_tail_of_their_column(draw, expected, kind):
    for seed in range(5):
        X = draw(np.random.default_rng(seed))[:, None]
        ranges = column_ranges(X)
        scaling = fit_scaling(ranges, kind)
        scaling = draw_in_tails(scaling, ranges, X) if kind == "robust" else scaling
        rows = np.random.default_rng(9).choice(5000, 4000, replace=False)
        scaled = scaling.apply(X[rows], np.empty((4000, 1)))
        assert isolated_columns(ranges, scaling, scaled).tolist() == expected


def test_a_given_trust_is_taken():
    X, _ = planted(30, 3, 4.0)
    model = ODEFS(random_state=0, trust=0.3).fit(X)
    assert model.trust_ == 0.3
    assert model.fit_info_["trust"]["contrast"] is None


def test_shares_grow_with_each_measurement():
    contrasts = [measured_trust(c, 1.0, 1.0).share for c in (1.0, *CONTRAST_GAIN, 5.0)]
    assert contrasts == [0, 0, 1, 1]
    stabilities = [measured_trust(3.0, s, 1.0).share for s in (0.0, *STABILITY, 1.0)]
    assert stabilities == [0, 0, 1, 1]
    assert measured_trust(30.0, 0.0, 1.0).share == 1, "an overwhelming contrast speaks for itself"
    tails = [measured_trust(1.0, 0.0, t).share for t in (1.0, *TAIL_GAIN, 3.0)]
    assert tails == [0, 0, 1, 1]
    assert measured_trust(0.8, 0.0, 3.0).share == 0, (
        "a contrast that has fallen speaks against the subsets"
    )
    assert measured_trust(1.4, 0.0, 2.0).share == 0, "a wider distribution has a wider tail"


def test_measurements_of_equal_and_of_constant_scores():
    scores = np.random.default_rng(0).gamma(2.0, size=(5, 400))
    assert contrast_gain(scores, scores) == pytest.approx(1.0)
    assert contrast_gain(np.ones((3, 50)), np.ones((3, 50))) == 1.0
    assert tail_gain(scores[0], scores[0]) == 1.0
    assert tail_gain(np.ones(50), np.ones(50)) == 1.0
    assert candidate_stability(scores[0], scores[0], 2.0) == 1.0
    assert candidate_stability(scores[0], scores[0][::-1], 2.0) < 0.5


def test_damped_scaling_bounds_rare_values_and_not_far_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.arange(5000) < 5, np.arange(5000) % 2, rng.lognormal(sigma=2.0, size=5000)]
    ).astype(float)
    minmax = fit_scaling(column_ranges(X), "damped")
    moments = column_moments(minmax.apply(X, np.empty_like(X)))
    widths = {
        kind: scale_by_moments(minmax, moments, kind).width / minmax.width
        for kind in ("rootstd", "damped")
    }
    np.testing.assert_allclose(widths["damped"][0], np.sqrt(SMALLEST_STD), rtol=1e-2)
    assert widths["rootstd"][0] < 0.5 * widths["damped"][0]
    assert widths["damped"][1] == widths["rootstd"][1]
    np.testing.assert_allclose(widths["damped"][2], widths["rootstd"][2], rtol=0.05)
