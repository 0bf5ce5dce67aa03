"""Estimators with scikit-learn: pipelines, column transformers, searches, containers, clones."""

import re

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.metrics import balanced_accuracy_score, make_scorer, matthews_corrcoef
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import odefs
from odefs import ODEFS, LeSiNN
from odefs.detectors import TailsDetector

Y = np.where(np.arange(500) < 15, -1, 1)
"""The planted rows of ``noisy``, as scikit-learn's outlier detectors predict them."""

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def mixed(noisy):
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(noisy, columns=[f"c{k}" for k in range(30)])
    return frame.assign(
        kind=rng.choice(["a", "b", "c"], 500), colour=rng.choice(["red", "blue"], 500)
    )


def encoded():
    return ColumnTransformer(
        [
            ("numbers", StandardScaler(), [f"c{k}" for k in range(30)]),
            ("words", OneHotEncoder(), ["kind", "colour"]),
        ],
        sparse_threshold=0,
    )


@pytest.mark.parametrize("estimator", [ODEFS(random_state=0), LeSiNN(random_state=0)], ids=str)
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_frames_through_a_column_transformer(estimator, output, noisy):
    """The container between the steps changes names and nothing else."""
    frame = mixed(noisy)
    encoder = encoded()
    encoder.set_params(words=OneHotEncoder(sparse_output=False))
    pipeline = make_pipeline(encoder.set_output(transform=output), clone(estimator)).fit(frame)
    assert is_outlier_detector(pipeline)
    matrix = clone(encoder).set_output(transform="default").fit_transform(frame)
    bare = clone(estimator).fit(matrix)
    assert np.array_equal(pipeline.score_samples(frame), bare.score_samples(matrix))
    assert np.array_equal(pipeline.predict(frame), bare.predict(matrix))
    assert np.array_equal(pipeline.decision_function(frame), bare.decision_function(matrix))
    assert np.array_equal(clone(pipeline).fit_predict(frame), bare.predict(matrix))
    assert hasattr(pipeline[-1], "feature_names_in_") == (output != "default")
    if output != "default":
        assert list(pipeline[-1].feature_names_in_) == list(pipeline[0].get_feature_names_out())


def test_a_sparse_step_before(noisy):
    frame = mixed(noisy)
    sparse, dense = encoded().set_params(sparse_threshold=1.0), encoded()
    scores = [
        make_pipeline(encoder, ODEFS(random_state=0)).fit(frame).score_samples(frame)
        for encoder in (sparse, dense)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)


def test_explanations_come_back_in_the_columns_that_went_in(noisy):
    frame = mixed(noisy)
    pipeline = make_pipeline(encoded(), ODEFS(random_state=0)).fit(frame)
    explanation = odefs.explain(pipeline, frame)
    assert list(explanation.feature_names) == list(frame.columns)
    np.testing.assert_allclose(
        explanation.values.sum(axis=1), -pipeline.score_samples(frame), rtol=1e-6
    )
    assert explanation.reasons(0)[0][0].column in ("c3", "c4")


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "average_precision", "f1_macro", make_scorer(matthews_corrcoef)],
    ids=["roc_auc", "average_precision", "f1_macro", "made"],
)
def test_searches_with_scikit_learns_scorers(scoring, noisy):
    grid = {
        "model": [
            ODEFS(n_estimators=3, random_state=0),
            LeSiNN(random_state=0),
            IsolationForest(random_state=0),
        ]
    }
    pipeline = Pipeline([("scale", StandardScaler()), ("model", None)])
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=FOLDS, error_score="raise").fit(
        noisy, Y
    )
    assert search.best_score_ >= search.cv_results_["mean_test_score"][0] > 0.6
    assert search.predict(noisy).shape == (500,)


def test_parameters_deep_inside_are_searched(noisy):
    pipeline = make_pipeline(StandardScaler(), ODEFS(n_estimators=3, random_state=0))
    grid = [
        {
            "odefs__detector": ["lesinn", TailsDetector(n_references=100)],
            "odefs__trust": [0.2, np.float64(0.8)],
        },
        {"odefs__contamination": [0.03, "auto"], "odefs__selection__column_weights": ["learned"]},
    ]
    search = GridSearchCV(
        pipeline, grid, scoring="roc_auc", cv=FOLDS, n_jobs=2, error_score="raise"
    ).fit(noisy, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.95


def test_cross_validation(noisy):
    model = ODEFS(n_estimators=3, random_state=0)
    found = cross_validate(
        model, noisy, Y, scoring=["roc_auc", "balanced_accuracy"], cv=FOLDS, return_estimator=True
    )
    assert found["test_roc_auc"].min() > 0.95
    assert all(part.n_features_in_ == 30 for part in found["estimator"])
    assert balanced_accuracy_score(Y, cross_val_predict(model, noisy, Y, cv=FOLDS)) > 0.9


@pytest.mark.parametrize(
    "estimator",
    [
        ODEFS(
            detector=TailsDetector(n_references=50),
            trust=0.3,
            random_state=np.random.RandomState(0),
        ),
        ODEFS.paper(n_estimators=2),
        LeSiNN(metric="sqeuclidean", contamination=0.2),
    ],
    ids=["ODEFS", "paper", "LeSiNN"],
)
def test_clones_have_the_parameters_and_nothing_of_the_fit(estimator, noisy):
    fitted = clone(estimator).fit(noisy)
    copy = clone(fitted)
    assert not [name for name in vars(copy) if name.endswith("_")]
    for name, value in estimator.get_params().items():
        if name != "random_state":
            assert copy.get_params()[name] == value
    assert (
        clone(make_pipeline(StandardScaler(), fitted))[-1].get_params().keys()
        == estimator.get_params().keys()
    )


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pandas.Timestamp("2020"), "'b' \\(datetime64"),
        ("x", "'b' \\("),
        (pandas.Categorical(["x", "y"] * 50), "'b' \\(category\\)"),
    ],
)
def test_columns_that_are_no_numbers_are_named(column, told):
    frame = pandas.DataFrame(
        np.random.default_rng(0).normal(size=(100, 3)), columns=["a", "b", "c"]
    ).assign(b=column)
    with pytest.raises((TypeError, ValueError)) as caught:
        ODEFS(n_estimators=2).fit(frame)
    message = str(caught.value)
    assert re.search(f"\nNot numbers: {told}.*odefs.detect.*TableEncoder", message), message
    with pytest.raises(ValueError, match="infinity") as caught:
        ODEFS(n_estimators=2).fit(frame.assign(b=np.inf))
    assert "Not numbers" not in str(caught.value)


@pytest.mark.parametrize("as_batch", [False, True])
def test_columns_of_arrow_that_are_no_numbers_are_named(as_batch):
    table = pyarrow.table(
        {"a": ["u", "v"] * 50, "b": np.arange(100.0), "c": [True] * 100, "d": range(100)}
    )
    with pytest.raises(ValueError, match="convert") as caught:
        ODEFS(n_estimators=2).fit(table.to_batches()[0] if as_batch else table)
    assert "\nNot numbers: 'a' (string). Use odefs.detect" in str(caught.value)


FRAMES = (pandas.DataFrame, polars.DataFrame, pyarrow.Table)
DAYS = np.arange("2024-01-01", "2024-02-20", dtype="M8[D]")
DATES = {
    "numpy": lambda: np.arange("2024-01-01", "2024-04-10", dtype="M8[D]").reshape(-1, 2),
    "durations": lambda: np.arange(100).reshape(-1, 2).astype("m8[s]"),
    "pandas": lambda: pandas.DataFrame(
        {name: pandas.date_range("2024", periods=50) for name in "ab"}
    ),
    "polars": lambda: polars.DataFrame(
        {name: pandas.date_range("2024", periods=50).to_numpy() for name in "ab"}
    ),
    "beside numbers": lambda: polars.DataFrame({"a": DAYS.astype("M8[us]"), "b": np.arange(50.0)}),
    "pyarrow": lambda: pyarrow.table({"a": DAYS.astype("M8[us]"), "b": np.arange(50.0)}),
    "objects": lambda: np.array([[day, 1.5] for day in DAYS], dtype=object),
    "objects in pandas": lambda: pandas.DataFrame(
        {"a": pandas.Series(list(DAYS), dtype=object), "b": np.arange(50.0)}
    ),
    "lists": lambda: [[day, day] for day in DAYS],
}


@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize("make", DATES.values(), ids=DATES)
def test_tables_of_dates_alone_are_refused_too(make, missing):
    """NumPy would convert them to integers of any unit, and missing ones to the lowest."""
    dates = make()
    with pytest.raises(ValueError, match=r"Dates and times \([A-Za-z]+") as caught:
        ODEFS(missing=missing).fit(dates)
    assert ("Not numbers" in str(caught.value)) == (
        hasattr(dates, "dtypes") or hasattr(dates, "schema")
    )
    model = ODEFS(n_estimators=2, random_state=0, missing=missing).fit(
        np.random.default_rng(0).normal(size=(50, 2))
    )
    with pytest.raises(ValueError, match="Dates and times"):
        model.predict(dates)


def test_an_error_on_missing_cells_names_the_parameter_for_them():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN") as caught:
        ODEFS().fit(X)
    assert "missing='ignore'" in str(caught.value)
