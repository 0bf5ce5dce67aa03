"""Bad and odd input gets a clear answer: finite scores, kept names, or one sentence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import odefs
from odefs import ODEFS, LeSiNN, ODEFSSelector, ODEFSWarning

MODELS = {
    "ODEFS": lambda **k: ODEFS(random_state=0, **k),
    "paper": lambda **k: ODEFS.paper(random_state=0, **k),
    "iforest": lambda **k: ODEFS(detector="iforest", random_state=0, **k),
    "tails": lambda **k: ODEFS(detector="tails", random_state=0, **k),
    "LeSiNN": lambda **k: LeSiNN(random_state=0, **k),
}


@pytest.fixture(params=MODELS)
def make(request):
    return MODELS[request.param]


def kinds(model):
    return {fallback.kind for fallback in model.fit_info_["fallbacks"]}


rng = np.random.default_rng(0)
BASE = rng.normal(size=(60, 5))

ODD = {
    "constant column": np.c_[BASE, np.full(60, 7.0)],
    "duplicate columns": np.c_[BASE, BASE],
    "all rows equal": np.tile(BASE[:1], (60, 1)),
    "all zeros": np.zeros((60, 4)),
    "one column": BASE[:, :1],
    "two rows": BASE[:2],
    "fewer rows than a subset": BASE[:5],
    "as many rows as a subset": BASE[:8],
    "more columns than rows": BASE.T,
    "integers": (BASE * 10).astype(np.int64),
    "small integers": (BASE * 10).astype(np.int8),
    "booleans": BASE > 0,
    "half floats": BASE.astype(np.float16),
    "huge": BASE * 1e30,
    "tiny": BASE * 1e-30,
    "huge in float32": (BASE * 1e30).astype(np.float32),
    "tiny in float32": (BASE * 1e-35).astype(np.float32),
    "beyond the largest float": np.sign(BASE) * 1.7e308,
    "mixed scales": BASE * np.array([1e30, 1e-30, 1, 1e15, 1e-300]),
    "transposed": np.asfortranarray(BASE),
    "every second row": BASE[::2],
    "reversed": BASE[::-1, ::-1],
    "large offset": BASE + 1e12,
    "one wild cell": np.where(np.arange(300).reshape(60, 5) == 7, 1e300, BASE),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
def test_scores_are_finite(make, X):
    model = make().fit(X)
    assert np.isfinite(model.outlier_scores_).all()
    assert np.array_equal(model.outlier_scores(X), model.outlier_scores_)
    far = np.concatenate([X[:2].astype(float) * 0 + 1e300, X[:2].astype(float) * 0 - 1e300, X[:2]])
    assert np.isfinite(model.outlier_scores(far)).all()
    explanation = np.asarray(model.explain(X))
    assert np.isfinite(explanation).all()
    np.testing.assert_allclose(explanation.sum(axis=1), model.outlier_scores_, rtol=1e-4, atol=1e-9)


def test_rows_far_outside_the_training_range_rank_highest(make):
    model = make().fit(BASE)
    new = np.r_[BASE, [[50.0] * 5]]
    assert model.outlier_scores(new).argmax() == 60
    assert model.predict(new)[-1] == -1


def test_a_new_row_stands_out_from_equal_training_rows():
    model = LeSiNN(random_state=0).fit(np.ones((50, 3)))
    assert model.outlier_scores_.max() == 0
    assert model.predict(np.ones((1, 3)))[0] == 1
    assert model.predict(np.full((1, 3), 2.0))[0] == -1


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("missing", ["error", "ignore"])
def test_infinity_is_refused(make, value, missing):
    X = BASE.copy()
    X[3, 2] = value
    with pytest.raises(ValueError, match="infinity"):
        make(missing=missing).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        make(missing=missing).fit(BASE).score_samples(X)


def test_missing_values_are_refused_unless_asked_for(make):
    X = BASE.copy()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make().fit(X)
    assert not make().__sklearn_tags__().input_tags.allow_nan
    assert make(missing="ignore").__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize(("cell", "answer"), [(np.nan, "missing='ignore'"), (np.inf, "infinity")])
def test_missing_and_infinite_cells_of_categories_are_refused(cell, answer):
    """Scikit-learn returns categories of numbers as objects, and does not check these."""
    frame = pd.DataFrame(BASE, columns=list("abcde"))
    frame["a"] = pd.Categorical(np.r_[cell, np.arange(59.0) % 3])
    with pytest.raises(ValueError, match=answer):
        ODEFS().fit(frame)


def test_missing_values_are_ignored_on_request(make):
    X = np.tile(BASE, (4, 1))
    X[17] = 9
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[:, 4] = np.where(np.isnan(X[:, 4]), 0, X[:, 4])
    X[5] = np.nan
    model = make(missing="ignore").fit(X)
    assert np.isfinite(model.outlier_scores_).all()
    assert model.outlier_scores_.argmax() == 17
    values = np.asarray(model.explain(X))
    np.testing.assert_allclose(values.sum(axis=1), model.outlier_scores_, rtol=1e-6)
    assert model.outlier_scores_[5] == pytest.approx(1.0), (
        "a row of which nothing is known is ordinary"
    )


def test_a_column_without_any_value(make):
    X = np.c_[BASE, np.full(60, np.nan)]
    assert np.isfinite(make(missing="ignore").fit(X).outlier_scores_).all()


def test_holes_do_not_change_the_scores_of_complete_rows():
    """Training without holes, scoring with: rows that have none keep their bits."""
    model = LeSiNN(missing="ignore", random_state=0).fit(BASE.astype(np.float32))
    X = BASE.astype(np.float32)
    before = model.outlier_scores(X)
    X[::3, 1] = np.nan
    after = model.outlier_scores(X)
    untouched = np.arange(60) % 3 != 0
    np.testing.assert_allclose(before[untouched], after[untouched], rtol=1e-12)
    assert (before[~untouched] != after[~untouched]).any()


def test_read_only_input(make):
    X = BASE.copy()
    X.flags.writeable = False
    make().fit(X).score_samples(X)


def test_input_is_left_alone(make):
    X = BASE.copy()
    make(missing="ignore").fit(X).explain(X)
    assert np.array_equal(X, BASE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_csr_scores_like_dense(make, dtype):
    X = np.where(np.random.default_rng(2).random((120, 20)) < 0.8, 0, np.tile(BASE, (2, 4))).astype(
        dtype
    )
    dense, thin = make().fit(X), make().fit(sparse.csr_array(X))
    assert np.array_equal(dense.outlier_scores_, thin.outlier_scores_)
    assert np.array_equal(
        dense.outlier_scores(X[:9]), thin.outlier_scores(sparse.csc_matrix(X[:9]))
    )
    assert np.array_equal(
        np.asarray(dense.explain(X)), np.asarray(thin.explain(sparse.csr_array(X)))
    )


WHOLE = np.random.default_rng(3).integers(0, 100, size=(300, 4))
DATES = 20_200_000 + np.random.default_rng(4).integers(0, 9_000, size=(300, 1))


@pytest.mark.slow
@pytest.mark.parametrize("fitted", [np.int8, np.float16, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("scored", [np.int8, np.float32, np.float64, np.int64])
def test_equal_values_score_equally_whatever_their_type(make, fitted, scored):
    model = make().fit(WHOLE.astype(fitted))
    assert np.array_equal(model.outlier_scores(WHOLE.astype(scored)), model.outlier_scores_)


def test_large_numbers_in_float32_score_like_themselves_in_float64(make):
    X = DATES.astype(np.float32)
    model = make().fit(X)
    assert np.array_equal(model.outlier_scores(X.astype(np.float64)), model.outlier_scores_)


@pytest.mark.parametrize("scale", [1e16, 1e30, 1e150, 1e-30])
def test_unscaled_values_may_be_huge(scale):
    plain = LeSiNN(scaling="none", random_state=0).fit(BASE)
    huge = LeSiNN(scaling="none", random_state=0).fit(BASE * scale)
    np.testing.assert_allclose(huge.outlier_scores_, plain.outlier_scores_, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e160, 1e-170, 1e300])
def test_root_std_scaling_does_not_depend_on_units_however_large(scale):
    X = BASE.copy()
    X[:, 2] *= scale
    np.testing.assert_allclose(
        ODEFS(random_state=0).fit(X).outlier_scores_,
        ODEFS(random_state=0).fit(BASE).outlier_scores_,
        rtol=1e-6,
    )


def test_a_row_that_shares_no_column_with_any_reference_is_ordinary_and_explained_as_such():
    X = np.c_[BASE, np.full(60, np.nan)]
    model = LeSiNN(missing="ignore", random_state=0).fit(X)
    row = np.array([[np.nan] * 5 + [3.0]])
    assert model.outlier_scores(row)[0] == pytest.approx(1.0)
    assert model.explain(row).values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "model", [LeSiNN(missing="ignore"), ODEFS(missing="ignore"), ODEFS.paper(missing="ignore")]
)
def test_missing_cells_are_no_reasons(model):
    X = np.random.default_rng(0).normal(size=(300, 6))
    X[:6, 4] += 8
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = clone(model).set_params(random_state=0).fit(X)
    unknown = np.full((1, 6), np.nan)
    assert model.explain(unknown).reasons(0) == model.explain(unknown, top=3).reasons(0) == [[]]
    known = model.explain(X)
    assert all(reason.value == reason.value for reasons in known.reasons() for reason in reasons)


def test_equal_rows_with_holes_are_no_outliers():
    """Three distinct rows with random missing cells: every row is among the references."""
    X = np.random.default_rng(5).normal(size=(3, 6))[np.random.default_rng(6).integers(0, 3, 400)]
    X[np.random.default_rng(7).random(X.shape) < 0.05] = np.nan
    model = LeSiNN(subset_size=32, missing="ignore", random_state=0).fit(X)
    assert model.outlier_scores_.max() == 0
    assert not model.is_outlier_.any()


def test_one_gross_outlier_is_found():
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(1500, 3))
        X[7, 1] = 40
        model = ODEFS(random_state=seed).fit(X)
        assert model.outlier_scores_.argmax() == 7
        assert model.is_outlier_[7]


def test_numbers_of_numpy_are_numbers(noisy):
    assert ODEFS(n_estimators=np.int64(3), random_state=0).fit(noisy).fit_info_["n_components"] == 3


def test_an_escalated_warning_leaves_a_fitted_estimator():
    model = ODEFS(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEFSWarning)
        with pytest.raises(ODEFSWarning):
            model.fit(BASE[:6])
    assert model.predict(BASE).shape == (60,)


NAMES = ["a", "b", "c", "d", "e"]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_data_frames_keep_their_names(make, frame):
    model = make().fit(frame(BASE))
    assert list(model.feature_names_in_) == NAMES
    assert np.array_equal(model.outlier_scores_, make().fit(BASE).outlier_scores_)
    assert list(model.explain(frame(BASE)).feature_names) == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.score_samples(pd.DataFrame(BASE, columns=NAMES[::-1]))


def test_pandas_with_mixed_numbers_and_missing():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, 2, None] * 20, dtype="Int64"),
            "b": [True, False, True] * 20,
            "f": BASE[:, 0],
        }
    )
    model = ODEFS(missing="ignore", random_state=0).fit(frame)
    assert np.isfinite(model.outlier_scores_).all()


def test_text_is_refused_in_one_sentence(make):
    with pytest.raises(ValueError, match=r"could not convert|numeric"):
        make().fit(np.array([["a", "b"], ["c", "d"], ["e", "f"]]))


def test_fallbacks_warn_once_and_are_recorded():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ODEFS(random_state=0).fit(BASE[:6])
    messages = [str(w.message) for w in caught if issubclass(w.category, ODEFSWarning)]
    silent = {"few_candidates", "nothing_learned"}
    expected = [one for one in model.fit_info_["fallbacks"] if one.kind not in silent]
    assert messages == [one.message for one in expected]
    assert {"few_rows", "few_candidates"} <= kinds(model)
    assert all(w.filename == __file__ for w in caught)


@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_few_candidates_warn_only_if_the_score_depends_on_them(trust):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ODEFS(trust=trust, random_state=0).fit(BASE[:60])
    message = next(one for one in model.fit_info_["fallbacks"] if one.kind == "few_candidates")[1]
    assert [str(one.message) for one in caught].count(message) == trust


@pytest.mark.parametrize(
    "call",
    [
        lambda X: ODEFS(random_state=0).fit_predict(X),
        lambda X: ODEFSSelector(random_state=0).fit(X),
        lambda X: ODEFSSelector(random_state=0).fit_transform(X),
        lambda X: make_pipeline(StandardScaler(), ODEFS(random_state=0)).fit(X),
        lambda X: odefs.detect(X),
    ],
)
def test_fallbacks_name_the_line_of_whoever_called(call):
    with pytest.warns(ODEFSWarning) as caught:
        call(BASE[:6])
    assert {w.filename for w in caught if issubclass(w.category, ODEFSWarning)} == {__file__}


def test_no_candidates_and_nothing_to_learn():
    model = ODEFS(random_state=0).fit(np.tile(BASE[:1], (60, 1)))
    assert {"few_candidates", "nothing_learned"} <= kinds(model)
    assert all(subset.size == 5 for subset in model.feature_subsets_)
    np.testing.assert_allclose(model.feature_importances_, 0.2)


def test_no_fallback_on_ordinary_data(noisy):
    assert kinds(ODEFS(random_state=0).fit(noisy)) == set()


def test_constant_columns_are_noted():
    model = ODEFS(random_state=0).fit(np.c_[BASE, np.ones(60)])
    assert model.fit_info_["constant_columns"].tolist() == [5]
    assert model.explain(BASE[:1].repeat(6, axis=1)[:, :6]).values.shape == (1, 6)


WITH_MISSING = np.where(np.arange(300).reshape(60, 5) == 13, np.nan, BASE)
COLUMNS = list("abcde")


@pytest.mark.parametrize(
    ("convert", "column"),
    [
        (np.asarray, "x3"),
        (np.ndarray.tolist, "x3"),
        (sparse.csr_array, "x3"),
        (np.ma.masked_invalid, "x3"),
        (lambda X: pd.DataFrame(X, columns=COLUMNS), "'d'"),
        (lambda X: pd.DataFrame(X, columns=COLUMNS).convert_dtypes(), "'d'"),
        (lambda X: pl.DataFrame(X, schema=COLUMNS), "'d'"),
        (lambda X: pa.table(dict(zip(COLUMNS, X.T, strict=True))), "'d'"),
    ],
)
def test_missing_cells_are_located_and_the_parameter_for_them_comes_first(convert, column):
    given = convert(WITH_MISSING)
    fitted = LeSiNN(random_state=0).fit(convert(BASE))
    for call in (LeSiNN(random_state=0).fit, ODEFS().fit, fitted.predict):
        with pytest.raises(ValueError, match="contains NaN") as caught:
            call(given)
        text = str(caught.value)
        assert f" {column}." in text
        assert "missing='ignore'" in text
        assert "HistGradientBoosting" not in text


@pytest.mark.parametrize("frame", [pd.DataFrame(index=range(60)), pl.DataFrame(), pa.table({})])
def test_frames_without_columns_are_refused(make, frame):
    with pytest.raises(ValueError, match="without columns"):
        make().fit(frame)
