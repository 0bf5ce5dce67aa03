"""Masked cells of ``numpy.ma`` are missing cells in all tables; their values are never used."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import odefs
from odefs import ODEFS, LeSiNN, ODEFSSelector, TableEncoder
from odefs.baselines import CINFO, DisFS, RandFS, RegFS
from odefs.engines.row_blocks import RowBlocks, unmasked
from odefs.tables.frames.convert import columns_of

HIDDEN = 1e6
"""What masked cells hide, and what would outweigh all others if it were seen."""


def masked(X, share=0.05, seed=1):
    mask = np.random.default_rng(seed).random(X.shape) < share
    return np.ma.array(np.where(mask, HIDDEN, X).astype(X.dtype), mask=mask)


@pytest.fixture(scope="module")
def X():
    found = np.random.default_rng(0).normal(size=(120, 6))
    found[:4, 2] += 12
    return masked(found)


ESTIMATORS = [
    ODEFS(n_estimators=2, missing="ignore", random_state=0),
    LeSiNN(missing="ignore", random_state=0),
    *(baseline(missing="ignore", random_state=0) for baseline in (RandFS, RegFS, DisFS, CINFO)),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_estimators_take_masked_cells_for_missing_ones(estimator, X):
    plain = X.filled(np.nan)
    model, expected = clone(estimator).fit(X), clone(estimator).fit(plain)
    assert np.array_equal(model.outlier_scores_, expected.outlier_scores_)
    for name in ("outlier_scores", "score_samples", "decision_function", "predict"):
        assert np.array_equal(getattr(model, name)(X), getattr(expected, name)(plain)), name
    explanation, same = model.explain(X), expected.explain(plain)
    assert np.array_equal(explanation.values, same.values)
    assert np.array_equal(explanation.data, plain, equal_nan=True)
    assert np.array_equal(
        model.explain(X, top=2).data, expected.explain(plain, top=2).data, equal_nan=True
    )
    assert all(reason.value != HIDDEN for reasons in explanation.reasons() for reason in reasons)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_masked_cells_are_refused_as_nan_is(estimator, X):
    strict = clone(estimator).set_params(missing="error")
    with pytest.raises(ValueError, match="contains NaN"):
        strict.fit(X)
    fitted = strict.fit(X.filled(0.0))
    for use in (fitted.predict, fitted.score_samples, fitted.explain):
        with pytest.raises(ValueError, match="contains NaN"):
            use(X)
    # A mask that hides nothing is no reason to refuse anything.
    assert np.array_equal(fitted.score_samples(np.ma.array(X.data)), fitted.score_samples(X.data))


@settings(deadline=None)
@given(
    st.sampled_from(
        [bool, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, object]
    ),
    st.data(),
)
def test_cells_that_are_not_masked_stay_what_they_are(dtype, data):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    flat = st.lists(st.integers(0, 100), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    X = np.array(data.draw(flat)).reshape(shape).astype(dtype)
    mask = (np.array(data.draw(flat)) % 2).astype(bool).reshape(shape)
    for given_as in (np.ma.array(X, mask=mask), list(np.ma.array(X, mask=mask))):
        found = unmasked(given_as)
        assert not isinstance(found, np.ma.MaskedArray)
        assert np.array_equal(found[~mask], X[~mask])
        assert all(cell != cell for cell in found[mask])
    assert unmasked(np.ma.array(X)).dtype == X.dtype
    assert unmasked(X) is X


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.float32])
def test_whole_numbers_and_blocks(dtype):
    numbers = np.random.default_rng(0).integers(0, 100, size=(200, 4)).astype(dtype)
    hole = np.ma.array(numbers, mask=np.random.default_rng(1).random(numbers.shape) < 0.05)
    plain = (
        hole.astype(float).filled(np.nan).astype(np.float64 if dtype is np.int64 else np.float32)
    )
    model = LeSiNN(missing="ignore", random_state=0)
    expected = clone(model).fit(plain).outlier_scores_
    assert np.array_equal(clone(model).fit(hole).outlier_scores_, expected)
    for blocks in (
        RowBlocks.from_arrays(hole),
        RowBlocks.from_arrays([hole[:70], hole[70:]]),
        RowBlocks.from_arrays(lambda: iter([hole[:70], hole[70:]])),
    ):
        assert np.array_equal(clone(model).fit(blocks).outlier_scores_, expected)
        with pytest.raises(ValueError, match=r"NaN|missing"):
            LeSiNN().fit(blocks)


def test_dask_partitions():
    pytest.importorskip("distributed")
    from odefs.engines.dask.partitions import _as_rows

    part = np.ma.array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert np.array_equal(
        _as_rows(part, np.dtype(np.float32)), [[np.nan, 2], [3, 4]], equal_nan=True
    )


def test_tables_take_masked_cells_for_missing_ones(X):
    frame = pd.DataFrame(X.filled(np.nan), columns=[f"x{k}" for k in range(6)])
    assert np.array_equal(TableEncoder().fit_transform(X), TableEncoder().fit_transform(frame))
    assert np.array_equal(
        TableEncoder(mark_missing=True).fit(X).transform(X),
        TableEncoder(mark_missing=True).fit_transform(frame),
    )
    model = ODEFS(n_estimators=2, scaling="none", random_state=0)
    found = odefs.detect(X, model=model)
    assert np.array_equal(found.scores, odefs.detect(frame, model=model).scores)
    assert all(
        reason.value != HIDDEN for reasons in found.reasons(range(len(X))) for reason in reasons
    )
    pipeline = make_pipeline(TableEncoder(), clone(model)).fit(X)
    assert np.array_equal(pipeline.score_samples(X), pipeline.score_samples(X.filled(np.nan)))
    explanation = odefs.explain(pipeline, X)
    assert np.array_equal(explanation.data.astype(float), X.filled(np.nan), equal_nan=True)


@pytest.mark.parametrize(
    "dtype", ["U6", "S6", "M8[D]", "M8[ns]", "m8[s]", np.dtypes.StringDType()], ids=str
)
def test_text_and_dates_that_are_masked_are_missing(dtype):
    dates = np.array(["2024-01-03", "2024-01-04", "2024-01-05"], dtype="M8[D]")
    is_text = np.dtype(dtype).kind not in "mM"
    cells = (
        np.array(["a", "hidden", "b"])
        if is_text
        else dates - dates[0]
        if dtype == "m8[s]"
        else dates
    )
    X = np.ma.array(cells.astype(dtype)[:, None], mask=[[False], [True], [False]])
    found = unmasked(X)
    assert found.shape == X.shape
    assert found[1, 0] is None if is_text else np.isnat(found[1, 0])
    assert found[0, 0] == X.data[0, 0]
    assert found[2, 0] == X.data[2, 0]
    assert found.dtype == (object if is_text else X.dtype)


def test_long_integers_keep_their_digits():
    long = np.ma.array(
        [[2**60 + k, k] for k in range(40)], mask=[[k == 3, False] for k in range(40)]
    )
    column = columns_of(long)["x0"]
    assert np.isnan(column.values[3])
    exact = column.exact
    assert exact.category_codes[3] == -1
    assert [exact.levels[code] for code in exact.category_codes[[0, 1, 39]]] == [
        str(2**60 + k) for k in (0, 1, 39)
    ]


def test_a_selector_hands_on_nan(X):
    selector = ODEFSSelector(ODEFS(n_estimators=2, missing="ignore", random_state=0), keep=2)
    plain = clone(selector).fit_transform(X.filled(np.nan))
    assert np.array_equal(clone(selector).fit_transform(X), plain, equal_nan=True)
    named = clone(selector).set_output(transform="pandas").fit(X).transform(X)
    assert list(named.columns) == list(selector.fit(X).get_feature_names_out())
    with pytest.raises(ValueError, match="contains NaN"):
        ODEFSSelector(ODEFS(n_estimators=2), keep=2).fit(X)


def test_the_adapter_of_pyod(X):
    pytest.importorskip("pyod")
    from odefs.compat.pyod import LeSiNN as OfPyOD

    model = OfPyOD(missing="ignore", random_state=0).fit(X)
    assert np.array_equal(model.decision_function(X), model.decision_function(X.filled(np.nan)))
    assert np.array_equal(
        model.decision_scores_,
        OfPyOD(missing="ignore", random_state=0).fit(X.filled(np.nan)).decision_scores_,
    )
