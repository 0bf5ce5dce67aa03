"""``odefs.explain`` through steps of scikit-learn and skrub: whose columns, and which step refuses.

The certificate: contributions add up to the score, and equal those of the model on the encoded
rows, summed over the output columns that a step is known to make from an input column.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skrub
from scipy.sparse import bsr_array, coo_array, csr_array, dia_array
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import odefs
from odefs import LeSiNN
from odefs.tables.pipelines.column_origins import UntraceableStepError

N_ROWS = 120
NUMBERS = ["price", "size", "weight"]


def model():
    return LeSiNN(n_subsets=8, random_state=0)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.uniform(1, 2, size=(N_ROWS, 3)), columns=NUMBERS)
    numbers.loc[0, "size"] = 60.0
    return numbers.assign(
        town=rng.choice(["Rome", "Oslo", "Lisbon"], N_ROWS),
        day=pd.date_range("2025-01-01", periods=N_ROWS, freq="D"),
        bought=[f"2025-0{1 + k % 9}-11" for k in range(N_ROWS)],
    )


def assert_adds_up(pipeline, X):
    explanation = odefs.explain(pipeline, X)
    np.testing.assert_allclose(
        np.asarray(explanation).sum(axis=1), -pipeline.score_samples(X), rtol=1e-6
    )
    return explanation


def refusal(pipeline, X):
    with pytest.raises(UntraceableStepError) as caught:
        odefs.explain(pipeline, X)
    return caught.value


# skrub


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_table_vectorizer(frame, convert):
    X = convert(frame)
    pipeline = make_pipeline(skrub.TableVectorizer(), model()).fit(X)
    explanation = assert_adds_up(pipeline, X)
    assert list(explanation.feature_names) == list(frame.columns)
    assert explanation.reasons(0)[0][0].column == "size"
    assert explanation.data[0, 1] == 60.0
    assert explanation.data[0, 3] == frame["town"].iloc[0]
    encoded = pipeline[0].transform(X)
    parts = np.asarray(pipeline[-1].explain(encoded))
    names = list(encoded.columns)
    of_day = [k for k, name in enumerate(names) if name.startswith("day_")]
    assert len(of_day) > 1
    np.testing.assert_allclose(np.asarray(explanation)[:, 4], parts[:, of_day].sum(axis=1))


def test_one_row_through_the_table_vectorizer(frame):
    pipeline = make_pipeline(skrub.TableVectorizer(), model()).fit(frame)
    one = odefs.explain(pipeline, frame.iloc[[0]])
    np.testing.assert_allclose(np.asarray(one)[0], np.asarray(odefs.explain(pipeline, frame))[0])


def test_table_vectorizer_of_an_array(frame):
    X = frame[NUMBERS].to_numpy()
    pipeline = make_pipeline(skrub.TableVectorizer(), model()).fit(X)
    explanation = assert_adds_up(pipeline, X)
    assert explanation.reasons(0)[0][0].column == "x1"


def test_cleaner_drops_and_parses_columns(frame):
    X = frame.assign(empty=None, size=frame["size"].map("{:.3f}".format))[::-1]
    cleaner = skrub.Cleaner(drop_if_constant=True, parse_numbers=True)
    pipeline = make_pipeline(cleaner, skrub.TableVectorizer(), StandardScaler(), model()).fit(X)
    explanation = assert_adds_up(pipeline, X)
    assert "empty" not in explanation.feature_names
    assert explanation.reasons(N_ROWS - 1)[0][0].column == "size"
    assert explanation.data[N_ROWS - 1, 1] == "60.000"


def test_skrubs_encoders_of_some_columns(frame):
    some = skrub.ApplyToCols(skrub.StringEncoder(n_components=2), cols=["town", "bought"])
    pipeline = make_pipeline(
        some, skrub.ApplyToCols(skrub.DatetimeEncoder(), cols=["day"]), model()
    ).fit(frame)
    explanation = assert_adds_up(pipeline, frame)
    assert set(explanation.feature_names) == set(frame.columns)
    assert explanation.reasons(0)[0][0].column == "size"


def test_skrubs_selection_of_columns(frame):
    pipeline = make_pipeline(
        skrub.DropCols(["day"]), skrub.SelectCols(["weight", "size", "price"]), model()
    ).fit(frame)
    explanation = assert_adds_up(pipeline, frame)
    assert list(explanation.feature_names) == NUMBERS
    assert explanation.reasons(0)[0][0].column == "size"


def test_a_scaler_that_skrub_applies_to_a_group_of_columns(frame):
    X = frame[NUMBERS]
    scaled = skrub.ApplyToCols(StandardScaler(), cols=["price", "size"])
    assert_adds_up(make_pipeline(scaled, model()).fit(X), X)
    mixed = skrub.ApplyToCols(PCA(2), cols=["price", "size"])
    error = refusal(make_pipeline(mixed, model()).fit(X), X)
    assert (error.step, error.kind) == (("applytocols",), "mixed")
    assert error.columns == ("price", "size")


# Steps that contain steps


def test_pipelines_inside_a_column_transformer(frame):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = Pipeline([("fill", "passthrough"), ("one", OneHotEncoder(sparse_output=False))])
    X = frame.copy()
    X.loc[3, "weight"] = np.nan
    columns = ColumnTransformer(
        [("numbers", numbers, NUMBERS), ("words", words, ["town", "bought"]), ("rest", "drop", [4])]
    )
    pipeline = make_pipeline(columns, model()).fit(X)
    explanation = assert_adds_up(pipeline, X)
    assert list(explanation.feature_names) == [*NUMBERS, "town", "bought"]
    assert explanation.reasons(0)[0][0].column == "size"
    assert explanation.reasons(3)[0][0].column == "weight"
    turned = X[list(reversed(X.columns))].assign(further=1)
    assert odefs.explain(pipeline, turned).reasons(0) == explanation.reasons(0)


def test_table_vectorizer_and_function_inside_a_column_transformer(frame):
    columns = make_column_transformer(
        (skrub.TableVectorizer(), ["town", "day", "bought"]),
        (FunctionTransformer(np.log1p), ["price", "size"]),
        remainder="passthrough",
    )
    pipeline = Pipeline([("columns", columns), ("end", make_pipeline(StandardScaler(), model()))])
    explanation = assert_adds_up(pipeline.fit(frame), frame)
    assert set(explanation.feature_names) == set(frame.columns)
    assert explanation.reasons(0)[0][0].column == "size"


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_feature_unions(frame, output):
    X = frame[NUMBERS]
    union = FeatureUnion(
        [
            ("plain", "passthrough"),
            ("logs", FunctionTransformer(np.log)),
            ("left out", "drop"),
            ("bins", KBinsDiscretizer(3, encode="onehot-dense", quantile_method="linear")),
            ("splines", make_pipeline(StandardScaler(), SplineTransformer(4))),
        ],
        transformer_weights={"logs": 2.0},
    ).set_output(transform=output)
    pipeline = make_pipeline(union, model()).fit(X)
    explanation = assert_adds_up(pipeline, X)
    assert list(explanation.feature_names) == NUMBERS
    parts = np.asarray(pipeline[-1].explain(union.transform(X)))
    by_kind = np.split(parts, np.cumsum([3, 3, 9]), axis=1)
    expected = by_kind[0] + by_kind[1]
    expected = expected + by_kind[2].reshape(-1, 3, 3).sum(axis=2)
    expected = expected + by_kind[3].reshape(N_ROWS, 3, -1).sum(axis=2)
    np.testing.assert_allclose(np.asarray(explanation), expected)


def test_a_search_is_explained_by_its_best_pipeline(frame):
    X = frame[NUMBERS]
    pipeline = make_pipeline(StandardScaler(), model())
    y = np.where(np.arange(N_ROWS) % 10 == 0, -1, 1)
    search = GridSearchCV(pipeline, {"lesinn__n_subsets": [4, 8]}, scoring="roc_auc", cv=2)
    search.fit(X, y)
    assert np.array_equal(
        np.asarray(odefs.explain(search, X)), np.asarray(odefs.explain(search.best_estimator_, X))
    )


# Functions, and steps that tell nothing about their columns


def ratio(rows):
    found = np.array(rows)
    found[:, 0] = found[:, 0] / found[:, 1]
    return found


def share_of_row(rows):
    return rows / np.asarray(rows).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("function", [np.log1p, np.fliplr, lambda X: X - X.mean(axis=0)])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_functions_of_single_columns(frame, function, convert):
    X = convert(frame[NUMBERS].to_numpy())
    step = FunctionTransformer(
        function if convert is np.asarray else lambda rows: csr_array(function(rows.toarray())),
        accept_sparse=True,
    )
    explanation = assert_adds_up(make_pipeline(step, model()).fit(X), X)
    assert explanation.reasons(0)[0][0].column == "x1"


@pytest.mark.parametrize("convert", [np.ndarray.tolist, coo_array, bsr_array, dia_array])
def test_lists_and_all_sparse_formats(frame, convert):
    X = frame[NUMBERS].to_numpy()[:90]
    pipeline = make_pipeline(StandardScaler(with_mean=False), model()).fit(X)
    expected = np.asarray(odefs.explain(pipeline, X))
    np.testing.assert_allclose(np.asarray(odefs.explain(pipeline, convert(X))), expected)


def test_functions_of_frames(frame):
    X = frame.assign(member=np.arange(N_ROWS) % 3 == 0)

    def encode(rows):
        return pd.DataFrame(
            {
                "length": rows["town"].str.len(),
                "month": rows["day"].dt.month,
                "size": rows["size"] ** 2,
                "member": rows["member"],
            }
        )

    explanation = assert_adds_up(make_pipeline(FunctionTransformer(encode), model()).fit(X), X)
    assert list(explanation.feature_names) == ["size", "town", "day", "member"]
    assert explanation.reasons(0)[0][0].column == "size"
    pipeline = make_pipeline(FunctionTransformer(encode), model()).fit(X)
    one = odefs.explain(pipeline, X.iloc[[0]])
    np.testing.assert_allclose(np.asarray(one)[0], np.asarray(explanation)[0])


@pytest.mark.parametrize(
    ("step", "mixed"),
    [
        (PCA(2), tuple(NUMBERS)),
        (FunctionTransformer(ratio), ("price", "size")),
        (FunctionTransformer(share_of_row), tuple(NUMBERS)),
        (PolynomialFeatures(2, include_bias=False), ("price", "size")),
        (Normalizer(), tuple(NUMBERS)),
    ],
    ids=["PCA", "ratio", "share of the row", "products", "length of the row"],
)
def test_a_step_that_mixes_columns_is_named(frame, step, mixed):
    X = frame[NUMBERS]
    inner = Pipeline([("scale", StandardScaler().set_output(transform="pandas")), ("turn", step)])
    columns = ColumnTransformer([("numbers", inner, NUMBERS)])
    pipeline = Pipeline([("columns", columns), ("model", model())]).fit(X)
    error = refusal(pipeline, X)
    assert (error.step, error.kind) == (("columns", "numbers", "turn"), "mixed")
    assert error.columns == mixed
    assert "'columns' > 'numbers' > 'turn'" in str(error)
    assert type(step).__name__ in str(error)
    assert "pipeline[-1].explain(pipeline[:-1].transform(X))" in str(error)
    assert pipeline[-1].explain(pipeline[:-1].transform(X)).values.shape[0] == N_ROWS


def test_a_declared_function_is_not_probed(frame):
    """What the user declares counts, as in scikit-learn's own names of features."""
    X = frame[NUMBERS].to_numpy()
    step = FunctionTransformer(share_of_row, feature_names_out="one-to-one")
    assert_adds_up(make_pipeline(step, model()).fit(X), X)


def test_steps_that_cannot_be_probed_are_named(frame):
    X = frame[NUMBERS].to_numpy()

    def strict(rows):
        if not np.isin(np.asarray(rows), X).all():
            raise KeyError("a value that was never seen")
        return np.asarray(rows)[:, ::-1]

    error = refusal(make_pipeline(FunctionTransformer(strict), model()).fit(X), X)
    assert (error.step, error.kind) == (("functiontransformer",), "unknown")
    assert isinstance(error.__cause__, KeyError)
    assert "feature_names_out='one-to-one'" in str(error)

    noise = FunctionTransformer(lambda rows: rows + np.random.default_rng().normal(size=rows.shape))
    assert refusal(make_pipeline(noise, model()).fit(X), X).kind == "unknown"


def test_output_that_depends_on_the_rows_is_refused(frame):
    step = FunctionTransformer(lambda rows: np.repeat(rows, 1 + (len(rows) > 100), axis=1))
    X = frame[NUMBERS].to_numpy()
    assert refusal(make_pipeline(step, model()).fit(X), X).kind == "width"


def test_a_model_that_is_not_ours_is_named(frame):
    X = frame[NUMBERS]
    pipeline = make_pipeline(StandardScaler(), IsolationForest(n_estimators=2)).fit(X)
    with pytest.raises(TypeError, match="IsolationForest"):
        odefs.explain(pipeline, X)


def test_a_pipeline_that_is_not_fitted_is_refused(frame):
    with pytest.raises(NotFittedError):
        odefs.explain(make_pipeline(StandardScaler(), model()), frame[NUMBERS])
    with pytest.raises(NotFittedError):
        odefs.explain(model(), frame[NUMBERS])
