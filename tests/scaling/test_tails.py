"""Far values are drawn in by "robust"; values beyond the range of a noise column count in full."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import odefs
from odefs import ODEFS, LeSiNN
from odefs.scaling import (
    TAIL_SIGMAS,
    _quantiles,
    column_ranges,
    draw_in_tails,
    fit_scaling,
)


def robust(X, sample=None):
    ranges = column_ranges(X)
    return draw_in_tails(fit_scaling(ranges, "minmax"), ranges, X if sample is None else sample)


def applied(scaling, X, dtype=np.float64):
    return scaling.apply(X.astype(dtype), np.empty(X.shape, dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_values_are_drawn_in(dtype):
    X = np.random.default_rng(0).standard_cauchy(size=(2000, 3))
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    z = (X - middle) / ((high - low) / 1.349)
    k = TAIL_SIGMAS
    bent = np.where(np.abs(z) > k, np.sign(z) * k * (1 + np.log(np.maximum(np.abs(z), k) / k)), z)
    expected = (bent - bent.min(axis=0)) / np.ptp(bent, axis=0)
    np.testing.assert_allclose(applied(robust(X), X, dtype), expected, atol=3e-6)


def test_order_is_kept_and_the_origin_is_free():
    X = np.sort(np.random.default_rng(1).standard_cauchy(size=(500, 2)), axis=0)
    scaling = robust(X)
    scaled = applied(scaling, X)
    assert (np.diff(scaled, axis=0) > 0).all()
    moved = applied(scaling.centred(scaled), X) - scaled
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-12)
    np.testing.assert_allclose(applied(scaling.widened(np.full(2, 4.0)), X), scaled / 4)


def test_two_values_stay_exactly_two():
    X = (np.random.default_rng(2).random((3000, 4)) < [0.5, 0.1, 0.01, 0.0005]).astype(float)
    assert set(np.unique(applied(robust(X), X))) == {0.0, 1.0}


def test_a_column_that_is_mostly_zero():
    """Quantiles show no spread; the few other values do."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((5000, 1)) < 0.02, rng.lognormal(0, 2, (5000, 1)), 0.0)
    scaled = applied(robust(X), X)
    others = np.median(scaled[X > 0])
    assert others > 5 * np.median(X[X > 0]) / X.max()


@pytest.mark.parametrize(
    "X",
    [
        np.full((50, 2), 3.0),
        np.array([[1.0], [2.0]]),
        np.where(np.random.default_rng(4).random((100, 2)) < 0.5, -1.7e308, 1.7e308),
        np.random.default_rng(4).normal(size=(100, 2)) * 1e-322,
        np.random.default_rng(4).standard_cauchy(size=(100, 2)) * 1e300,
        np.r_[np.full((60, 1), np.nan), np.random.default_rng(4).normal(size=(60, 1))],
    ],
    ids=["constant", "two rows", "largest", "smallest", "wide", "missing"],
)
def test_hostile_columns(X):
    missing = "ignore" if np.isnan(X).any() else "error"
    model = LeSiNN(scaling="robust", missing=missing, random_state=0).fit(X)
    assert np.isfinite(model.outlier_scores_).all()


def test_one_huge_value_hides_nothing():
    """With min-max the huge value makes all others equal."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 5))
    X[0, 0], X[1, 0] = 1e9, 40.0
    rank = {
        kind: (LeSiNN(scaling=kind, random_state=0).fit(X).outlier_scores_ > s).sum()
        for kind in ("minmax", "robust")
        for s in [LeSiNN(scaling=kind, random_state=0).fit(X).outlier_scores_[1]]
    }
    assert rank["robust"] <= 10
    assert rank["minmax"] > 100


@pytest.fixture(scope="module")
def among_noise():
    """Six related columns, and six of noise between 0 and 1."""
    rng = np.random.default_rng(6)
    shared = rng.normal(size=(3000, 1))
    return np.c_[shared + 0.5 * rng.normal(size=(3000, 6)), rng.random((3000, 6))]


@pytest.mark.parametrize("scaling", ["damped", "robust"])
@pytest.mark.parametrize("value", [3.0, -2.0])
def test_a_noise_column_counts_in_full_beyond_its_range(among_noise, scaling, value, tmp_path):
    model = ODEFS(scaling=scaling, random_state=0).fit(among_noise)
    assert {8, 9} <= set(model.noise_columns_)
    new = among_noise[:200].copy()
    new[:, 8] = value
    assert (model.predict(new) == -1).mean() >= 0.95
    model.save(tmp_path / "model.odefs")
    assert np.array_equal(odefs.load(tmp_path / "model.odefs").predict(new), model.predict(new))
    first = model.explain(new[:20])
    assert all(first.reasons(row)[0][0].column == "x8" for row in range(20))


def test_the_training_rows_are_not_affected(among_noise):
    """The range itself is inside, also after rounding."""
    model = ODEFS(scaling="damped", random_state=0).fit(among_noise.astype(np.float32))
    scaling = model._model.scaling
    assert scaling.tails is not None
    X = among_noise.astype(np.float32)
    linear = replace(scaling, tails=None)
    assert np.array_equal(applied(scaling, X, np.float32), applied(linear, X, np.float32))


def test_extreme_values_of_new_rows_are_drawn_in(among_noise):
    """Also where the training rows had none, and in noise columns."""
    model = ODEFS(scaling="robust", random_state=0).fit(among_noise)
    for column in (0, 8):
        new = among_noise[:1].repeat(3, axis=0)
        new[:, column] = [1e2, 1e4, 1e6]
        scores = model.outlier_scores(new)
        assert (np.diff(scores) > 0).all()
        assert scores[2] < 5 * scores[0]


def test_an_empty_column_beside_noise(among_noise):
    X = np.c_[among_noise, np.full(3000, np.nan)]
    for scaling in ("damped", "robust"):
        model = ODEFS(scaling=scaling, missing="ignore", random_state=0).fit(X)
        assert model.noise_columns_.size
        assert np.isfinite(model.outlier_scores_).all()


@pytest.mark.parametrize("n_rows", [1, 2, 7, 200])
def test_quantiles_are_those_of_numpy(n_rows):
    """To the bit, with ties, missing cells, columns without any, and values that overflow."""
    rng = np.random.default_rng(n_rows)
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            rng.integers(0, 3, n_rows),
            np.where(rng.random(n_rows) < 0.4, np.nan, rng.lognormal(0, 3, n_rows)),
            np.full(n_rows, np.nan),
            rng.choice([-1.7e308, 1.7e308], n_rows),
        ]
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.nanquantile(X, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    np.testing.assert_array_equal(_quantiles(X), expected)
