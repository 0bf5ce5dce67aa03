"""Tensors, arrays of the array API standard and Arrow tables give the results of NumPy arrays."""

import os
import subprocess
import sys

import array_api_strict
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import odefs
from odefs import ODEFS, LeSiNN, ODEFSSelector

N_ROWS = 80
X = np.random.default_rng(0).normal(size=(N_ROWS, 3))
X[0, 1] = 9.0
NAMES = ["a", "b", "c"]
ARROW = pa.table({name: X[:, k] for k, name in enumerate(NAMES)})
MODELS = [LeSiNN(n_subsets=5, random_state=0), ODEFS(n_estimators=2, random_state=0)]

GIVEN = {
    "torch": torch.tensor(X),
    "torch with a gradient": torch.tensor(X, requires_grad=True),
    "torch, a view": torch.tensor(np.hstack([X, X]))[:, 3:],
    "array API": array_api_strict.asarray(X),
    "Arrow table": ARROW,
    "Arrow batch": ARROW.to_batches()[0],
    "chunked Arrow table": pa.concat_tables([ARROW[:30], ARROW[30:]]),
}


@pytest.fixture(params=GIVEN)
def given(request):
    return GIVEN[request.param]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_estimators_take_them(model, given):
    expected, found = (sklearn.clone(model).fit(rows) for rows in (X, given))
    assert np.array_equal(found.outlier_scores_, expected.outlier_scores_)
    for method in ("score_samples", "predict", "outlier_scores"):
        scores = getattr(found, method)(given)
        assert isinstance(scores, np.ndarray)
        assert np.array_equal(scores, getattr(expected, method)(X))
    assert np.array_equal(np.asarray(found.explain(given)), np.asarray(expected.explain(X)))
    if isinstance(given, pa.Table | pa.RecordBatch):
        assert list(found.feature_names_in_) == NAMES


def test_detect_takes_them(given):
    model = ODEFS(n_estimators=2, scaling="none", random_state=0)
    found, expected = (odefs.detect(rows, model=model) for rows in (given, X))
    assert np.array_equal(found.scores, expected.scores)
    assert np.array_equal(found.score(given), expected.scores)
    assert np.array_equal(found.predict(given), expected.predict(X))
    assert len(found.top(3)) == 3


def test_known_cases_may_be_tensors_too():
    known = torch.tensor(np.arange(N_ROWS) < 2)
    model = ODEFS(n_estimators=2, random_state=0)
    found = sklearn.clone(model).fit(torch.tensor(X), known_outliers=known)
    expected = sklearn.clone(model).fit(X, known_outliers=[0, 1])
    assert np.array_equal(found.outlier_scores_, expected.outlier_scores_)


def test_pipelines_and_the_selector_take_them(given):
    step = FunctionTransformer(np.asarray, feature_names_out="one-to-one")
    pipeline = make_pipeline(step, sklearn.clone(MODELS[0])).fit(X)
    assert np.array_equal(
        np.asarray(odefs.explain(pipeline, given)), np.asarray(odefs.explain(pipeline, X))
    )
    kept = [
        np.asarray(ODEFSSelector(ODEFS(n_estimators=2, random_state=0), keep=1).fit_transform(rows))
        for rows in (given, X)
    ]
    assert np.array_equal(*kept)


DISPATCHED = """
import array_api_strict, numpy as np, sklearn, torch
from odefs import LeSiNN

X = np.random.default_rng(0).normal(size=(80, 3))
expected = LeSiNN(n_subsets=5, random_state=0).fit(X).score_samples(X)
sklearn.set_config(array_api_dispatch=True)
for rows in (X, torch.tensor(X), array_api_strict.asarray(X)):
    found = LeSiNN(n_subsets=5, random_state=0).fit(rows).score_samples(rows)
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, expected)
"""


@pytest.mark.slow
def test_with_scikit_learns_dispatch_switched_on():
    """In a separate process, since SciPy reads the variable when it is imported."""
    line = [sys.executable, "-c", DISPATCHED]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
def test_other_types_of_numbers(kind):
    rows = torch.tensor(10 * X).to(kind)
    as_numpy = rows.float().numpy()
    found = LeSiNN(n_subsets=5, random_state=0).fit(rows)
    expected = LeSiNN(n_subsets=5, random_state=0).fit(as_numpy)
    np.testing.assert_allclose(found.outlier_scores_, expected.outlier_scores_, rtol=1e-5)


class OnAnotherDevice:
    """As arrays of CuPy are: there is no implicit copy to the main memory."""

    device = "cuda:0"
    shape, ndim = X.shape, 2

    def __array_namespace__(self, api_version=None):
        return np

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __dlpack__(self, **options):
        raise BufferError


REFUSED = {
    "another device": (OnAnotherDevice(), r"device cuda:0.*main memory"),
    "device of the array API": (
        array_api_strict.asarray(X, device=array_api_strict.Device("device1")),
        r"device1.*main memory",
    ),
    "no values": (torch.empty((N_ROWS, 3), device="meta"), "stores no values"),
    "sparse tensor": (torch.tensor(X).to_sparse(), r"to_dense\(\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_is_refused_with_a_remedy(name):
    rows, remedy = REFUSED[name]
    fitted = sklearn.clone(MODELS[0]).fit(X)
    for refuse in (LeSiNN().fit, ODEFS().fit, fitted.score_samples, fitted.predict, odefs.detect):
        with pytest.raises(TypeError, match=remedy):
            refuse(rows)


def test_missing_cells_of_arrow_tables():
    frame = pd.DataFrame(X, columns=NAMES)
    frame.loc[3, "b"] = np.nan
    table = ARROW.set_column(1, "b", pa.array(frame["b"], from_pandas=True))
    assert table["b"].null_count == 1
    model = LeSiNN(n_subsets=5, missing="ignore", random_state=0)
    expected = sklearn.clone(model).fit(frame).outlier_scores_
    assert np.array_equal(sklearn.clone(model).fit(table).outlier_scores_, expected)
    with pytest.raises(ValueError, match="NaN"):
        LeSiNN().fit(table)
