"""Mixed tables as matrices: the encoder, roles of columns, and the way back to columns."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import odefs
from odefs import ODEFS, LeSiNN, TableEncoder
from odefs._known_options import no_column
from odefs.exceptions import TableError
from odefs.tables.encoder.encode import RARE
from odefs.tables.frames.convert import columns_of
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.records.notes import Note

N = 60
NOT_FOR_FRAMES = {
    "check_dtype_object",  # objects are categories
    "check_estimators_nan_inf",  # missing cells are what it is for
    "check_transformer_preserve_dtypes",  # the output is float32 whatever comes in
    "check_transformer_data_not_an_array",  # a frame or an array is needed
}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "price": rng.normal(10, 2, N),
            "shop": rng.choice(["a", "b", "c"], N),
            "member": rng.random(N) < 0.5,
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 10**6, N), unit="min"),
            "amount": [f"{v:.2f}".replace(".", ",") for v in rng.normal(5, 1, N)],
        },
        index=[f"r{i}" for i in range(N)],
    )


def test_columns_of_all_kinds_become_numbers(frame):
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    names = list(encoder.get_feature_names_out())
    assert names == [
        "price",
        "shop=a",
        "shop=b",
        "shop=c",
        "member",
        "when",
        "when (time of day)",
        "amount",
    ]
    assert X.shape == (N, len(names))
    # Values far from the median are drawn in.
    assert np.corrcoef(X[:, 0], frame["price"])[0, 1] == pytest.approx(1, abs=1e-4)
    assert (X[:, 1:4].argmax(axis=1) == frame["shop"].map({"a": 0, "b": 1, "c": 2})).all()
    assert np.corrcoef(X[:, 7], frame["amount"].str.replace(",", ".").astype(float))[
        0, 1
    ] == pytest.approx(1, abs=1e-4)
    assert encoder.notes_ == [Note("text_format", "amount", format="numbers with decimal comma")]


def test_pandas_polars_and_arrow_give_the_same_matrix(frame):
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    matrices = [TableEncoder().fit_transform(f) for f in (frame, pl.from_arrow(arrow), arrow)]
    assert np.array_equal(matrices[0], matrices[1])
    assert np.array_equal(matrices[0], matrices[2])


def test_one_hot_is_scikit_learns():
    values = np.random.default_rng(1).choice(list("xyzuvw"), size=(N, 1))
    ours = TableEncoder().fit_transform(pd.DataFrame(values, columns=["c"]))
    assert np.array_equal(ours > 0, OneHotEncoder(sparse_output=False).fit_transform(values) > 0)


def test_rare_values_share_a_column_and_unseen_ones_join_it():
    values = [f"v{i}" for i in range(40)] * 3 + ["v0"] * 40
    encoder = TableEncoder(max_categories=5).fit(pd.DataFrame({"c": values}))
    names = list(encoder.get_feature_names_out())
    assert len(names) == 5
    assert names[-1] == f"c={RARE}"
    assert encoder.transform(pd.DataFrame({"c": ["v0", "v39", "new"]}))[:, -1].astype(
        bool
    ).tolist() == [
        False,
        True,
        True,
    ]


def test_unseen_values_set_no_column_where_nothing_is_rare():
    encoder = TableEncoder().fit(pd.DataFrame({"c": ["a", "b"] * 10}))
    assert encoder.transform(pd.DataFrame({"c": ["a", "a", "new"]})).any(axis=1).tolist() == [
        True,
        True,
        False,
    ]
    with pytest.warns(
        odefs.ODEFSWarning,
        match="100% of the rows have values in column 'c' that were not seen in training",
    ):
        encoder.transform(pd.DataFrame({"c": ["x", "new"]}))


def test_missing_cells_take_what_is_usual():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, None], "c": ["a", "a", "b", None]})
    X = TableEncoder().fit_transform(frame)
    assert X[3].tolist() == X[1].tolist(), "the median is 2, the most common value a"
    marked = TableEncoder(mark_missing=True).fit(frame)
    assert list(marked.get_feature_names_out()) == ["x", "x=(missing)", "c=a", "c=b", "c=(missing)"]
    assert (marked.transform(frame)[3] > 0).tolist() == [False, True, False, False, True]


LEFT_OUT = {
    "counts": (range(N), "row_counter"),
    "shuffled counts": (np.random.default_rng(0).permutation(N) + 1, "row_counter"),
    "customer_id": (
        np.random.default_rng(0).permutation(10 * N)[:N],
        "unique_identifier",
    ),
    "customerId": (
        np.random.default_rng(0).permutation(10 * N)[:N],
        "unique_identifier",
    ),
    "county_fips": (31000 + 2 * np.arange(N), "unique_identifier"),
    "name": ([f"n{i}" for i in range(N)], "unique_text"),
    "same": ([1] * N, "constant"),
    "nothing": ([None] * N, "empty"),
    "lists": ([[1, 2]] * N, "opaque_cells"),
    "holes": ([1.0, 2.0] + [None] * (N - 2), "mostly_missing"),
    "yes or nothing": (["Y", "Y"] + [None] * (N - 2), "one_value_or_missing"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_cannot_help_are_left_out_and_named(name):
    values, reason = LEFT_OUT[name]
    encoder = TableEncoder().fit(pd.DataFrame({name: list(values), "x": np.arange(N) % 7}))
    assert {column: why.kind for column, why in encoder.left_out_.items()} == {name: reason}
    assert encoder.columns == ["x"]


MEASURED = {
    "pressure": np.random.default_rng(0).normal(size=N),
    "amount_paid": np.random.default_rng(0).permutation(10 * N)[:N],
    "humid": np.arange(N) * 3,
    "piano": np.arange(N) + 0.5,
    "year": 1900 + np.arange(N),
    "unzip": 3 * np.arange(N),
    "sample_id": np.random.default_rng(0).normal(size=N),
}


@pytest.mark.parametrize("name", MEASURED)
def test_a_measured_column_is_never_called_an_identifier(name):
    encoder = TableEncoder().fit(pd.DataFrame({name: MEASURED[name]}))
    assert encoder.left_out_ == {}
    assert encoder.specs_[0].kind == "number"


def test_an_identifier_that_repeats_is_a_category():
    encoder = TableEncoder().fit(pd.DataFrame({"customer_id": [101, 205, 987654] * 20}))
    assert encoder.specs_[0].levels == ("101", "205", "987654")
    encoder = TableEncoder().fit(pd.DataFrame({"zip": [10115, 20095, 80331] * 20}))
    assert encoder.specs_[0].kind == "category"


def test_the_user_has_the_last_word():
    frame = pd.DataFrame(
        {
            "id": range(N),
            "code": [1, 2, 3] * 20,
            "zip": ["00123", "01234", "x"] * 20,
            "x": np.arange(N) % 7,
        }
    )
    assert "id" in TableEncoder(keep=["id"]).fit(frame).columns
    assert "code=1" in TableEncoder(category=["code"]).fit(frame).get_feature_names_out()
    assert TableEncoder(number=["zip"]).fit(frame).specs_[1].kind == "number"
    assert TableEncoder(drop=["x"]).fit(frame).columns == ["code", "zip"]
    assert TableEncoder(na=["3"], drop=["id"]).fit(frame).specs_[0].missing_share == pytest.approx(
        1 / 3
    )
    with pytest.raises(
        TableError, match="there is no column 'nowhere'; the columns are id, code, zip, x"
    ):
        TableEncoder(drop=["nowhere"]).fit(frame)
    with pytest.raises(TableError, match="there is no column '3'; "):
        TableEncoder(drop=[3]).fit(frame)


@pytest.mark.parametrize("code", [999, 999.0, np.int64(999), np.float32(999), "999", "999.0"])
def test_numbers_that_mean_missing_are_missing_in_columns_of_any_type(code):
    frame = pd.DataFrame(
        {
            "word": ["a", "b", str(code)] * 20,
            "number": [1.5, 2.5, 999.0] * 20,
            "text number": ["1.5 kg", "2.5 kg", str(code)] * 20,
        }
    )
    encoder = TableEncoder(na=[code]).fit(frame)
    assert encoder.specs_[0].levels == ("a", "b")
    assert [spec.missing_share for spec in encoder.specs_] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("code", [None, True, np.nan, np.inf, b"x", ["x"]])
def test_other_values_cannot_mean_missing(code):
    frame = pd.DataFrame({"word": ["a", "b", "c"] * 20, "number": range(60)})
    for fit in (lambda: TableEncoder(na=[code]).fit(frame), lambda: odefs.detect(frame, na=[code])):
        with pytest.raises(TableError, match=r"na holds .*neither a word nor a finite number"):
            fit()


def test_suspicious_codes_are_reported():
    values = np.r_[np.random.default_rng(0).normal(20, 5, 95), [-999.0] * 5]
    assert TableEncoder().fit(pd.DataFrame({"t": values})).notes_ == [
        Note("missing_code", "t", count=5, value=-999.0)
    ]
    assert TableEncoder(na=["-999"]).fit(pd.DataFrame({"t": values})).notes_ == []
    assert (
        TableEncoder().fit(pd.DataFrame({"t": np.r_[values[:95], -1.0, -1.0]})).notes_ == []
        or values[:95].min() > 0
    )


def test_a_column_that_changes_half_way_is_told():
    values = [str(i % 9) for i in range(50)] + ["x", "y"] * 25
    notes = TableEncoder().fit(pd.DataFrame({"c": values})).notes_
    assert notes == [Note("mixed_cells", "c", row=50, share=0.5)]


def test_a_missing_column_is_named(frame):
    encoder = TableEncoder().fit(frame)
    with pytest.raises(
        TableError, match="lacks columns 'shop', 'when', which the model was trained on"
    ):
        encoder.transform(frame.drop(columns=["shop", "when"]))
    assert np.array_equal(encoder.transform(frame.assign(extra=1)), encoder.transform(frame))


def test_a_column_of_nearly_the_missing_name_is_suggested(frame):
    encoder = TableEncoder().fit(frame)
    with pytest.raises(TableError, match=r"lacks column 'shop',.*Did you mean 'Shop'\?"):
        encoder.transform(frame.rename(columns={"shop": "Shop"}))
    # A column that the model uses itself is not meant.
    twice = TableEncoder().fit(frame.assign(shop2=frame["shop"]))
    with pytest.raises(TableError) as error:
        twice.transform(frame)
    assert "mean" not in str(error.value)


@pytest.mark.parametrize("names", [range(3000), ["a", 1, None]])
def test_an_error_names_few_columns_of_any_type(names):
    text = no_column("x", names)
    assert len(text) < 200
    assert ("2,990 more" in text) == (len(names) == 3000)


def test_state_is_plain_and_gives_the_encoder_back(frame):
    encoder = TableEncoder(na=["b"]).fit(frame)
    again = TableEncoder.from_state(json.loads(json.dumps(encoder.state())))
    assert np.array_equal(again.transform(frame), encoder.transform(frame))
    assert again.get_params() == {
        **encoder.get_params(),
        "number": [],
        "category": [],
        "drop": [],
        "keep": [],
        "keep_missing": False,
    }


def test_the_last_digits_of_large_numbers_are_kept_and_huge_ones_are_cut_off():
    frame = pd.DataFrame({"x": 1e12 + np.arange(N) % 10, "y": np.r_[1e300, np.arange(N - 1) % 5]})
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert np.unique(X[:, 0]).size == 10
    assert np.isfinite(X).all()
    assert np.isfinite(encoder.transform(frame.assign(x=-1e308))).all()


def planted(**columns):
    """Ten rows are eight standard deviations out in one of five columns, next to other columns."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(2000, 5))
    numbers[:10, 0] += 8
    frame = pd.DataFrame(numbers, columns=[f"n{j}" for j in range(5)])
    return odefs.detect(frame.assign(**{name: make(rng) for name, make in columns.items()}))


def text(n_levels, power):
    shares = 1 / np.arange(1, n_levels + 1) ** power
    return lambda rng: rng.choice([f"v{i}" for i in range(n_levels)], 2000, p=shares / shares.sum())


@pytest.mark.parametrize(("n_levels", "power"), [(2, 0), (40, 0), (60, 1), (400, 1)])
def test_a_column_of_text_does_not_drown_the_numbers(n_levels, power):
    assert sorted(planted(city=text(n_levels, power)).order[:10]) == list(range(10))


def test_a_rarer_value_never_counts_less_than_a_commoner_one():
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 3001)
    values = rng.choice([f"v{i}" for i in range(3000)], 20_000, p=shares / shares.sum())
    for n_levels in (3000, 30):
        frame = pd.DataFrame({"c": np.where([int(v[1:]) < n_levels for v in values], values, "v0")})
        encoder = TableEncoder()
        far = encoder.fit_transform(frame).max(axis=1)
        counts = frame["c"].map(frame["c"].value_counts()).to_numpy()
        order = np.argsort(counts)
        assert (np.diff(far[order]) <= 1e-6).all()


def test_rare_categories_stand_out():
    found = planted(c=lambda rng: np.r_[rng.choice(["a", "b"], 1997), ["odd"] * 3])
    assert (found.ranks[-3:] <= 40).all()
    assert [reasons[0].column for reasons in found.reasons([1997, 1998, 1999])] == ["c"] * 3


def test_another_table_is_read_as_the_training_table_was():
    frame = pd.DataFrame(
        {
            "n": ["5.078,35", "12,50"] * 20,
            "d": pd.date_range("2024-01-01", periods=40),
            "b": [True, False] * 20,
        }
    )
    encoder = TableEncoder().fit(frame)
    again = pd.DataFrame(
        {"n": ["5.078", "12,50"], "d": ["01.02.2024", "02.02.2024"], "b": ["yes", "no"]}
    )
    given = columns_of(again)
    table = encoder.recognised(given, encoder.formats_of(given))
    assert table["n"].values.tolist() == [5078, 12.5]
    assert np.diff(table["d"].values).tolist() == [86400]
    assert table["b"].values.tolist() == [1, 0]
    for column, values, sentence in (
        ("d", [1.0, 2.0], "column 'd' held dates or times in training and holds numbers here"),
        (
            "d",
            ["x", "y"],
            "column 'd' held dates or times in training, but most values here are not",
        ),
        (
            "n",
            ["x", "y"],
            "column 'n' held numbers with decimal comma in training, but most values here are not",
        ),
    ):
        with pytest.raises(TableError, match=sentence):
            encoder.transform(again.assign(**{column: values}))


def test_words_for_missing_count_after_reading_too():
    frame = pd.DataFrame({"t": ["-999,00", "1,50", "2,50", "3,00"] * 10})
    assert TableEncoder(na=["-999"]).fit(frame).specs_[0].missing_share == 0.25


def test_infinite_cells_are_told():
    assert TableEncoder().fit(pd.DataFrame({"x": [*np.arange(30.0), np.inf]})).notes_ == [
        Note("infinite_cells", "x", count=1)
    ]


def test_text_that_is_a_number_beyond_the_largest_float_counts_as_missing():
    cells = [f"$ {i % 5}" for i in range(30)] + ["$ 1e999"]
    encoder = TableEncoder()
    assert np.isfinite(encoder.fit_transform(pl.DataFrame({"x": cells}))).all()
    assert Note("infinite_cells", "x", count=1) in encoder.notes_


def test_numbers_near_the_largest_float_are_encoded_saved_and_loaded(tmp_path):
    far = [1.7e308, -1.7e308, 1.7e308, 1.7e308, 1.7e308, 0.0] * 5
    frame = pl.DataFrame({"x": far, "y": [float(i % 7) for i in range(30)]})
    found = odefs.detect(frame, model=ODEFS(scaling="none", n_estimators=2, random_state=0))
    assert np.isfinite(found.X).all()
    assert found.X[1, 0] < found.X[5, 0] < found.X[0, 0]
    found.save(tmp_path / "m.odefs")
    assert -odefs.load(tmp_path / "m.odefs").score_samples(frame) == pytest.approx(found.scores)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame])
def test_frames_whose_columns_have_no_type_in_common_are_explained(frame, convert):
    pipeline = make_pipeline(
        TableEncoder(), ODEFS(scaling="none", n_estimators=2, random_state=0)
    ).fit(frame)
    given = convert(frame.reset_index(drop=True))
    explained = odefs.explain(pipeline, given)
    assert explained.data.shape == (len(frame), 5)
    assert explained.data[0, 1] == frame["shop"].iloc[0]


def test_equal_columns_of_an_arrow_table_are_not_called_the_same():
    cells = [float(i % 7) for i in range(30)]
    assert columns_of(pa.table({"a": cells, "b": cells})).names == ["a", "b"]


def test_short_and_long_columns_of_text_are_coded_alike():
    cells = ["b", None, "a", "ü", "a"] * 400
    short, long = (columns_of(pl.DataFrame({"c": cells[:n]}))["c"] for n in (5, len(cells)))
    assert short.levels == long.levels == ("a", "b", "ü")
    assert short.codes.tolist() == long.codes[:5].tolist() == [1, -1, 0, 2, 0]


def test_names_of_rows_are_kept_to_the_last_digit():
    frame = pl.DataFrame(
        {
            "account": [9007199254741993 + i for i in range(30)],
            "x": [float(i % 7) for i in range(30)],
        }
    )
    assert odefs.detect(frame, id="account").row_names[0] == 9007199254741993


def test_wrong_parameters_are_refused(frame):
    for wrong in ({"number": "price"}, {"max_categories": -5}, {"drop": "a"}):
        with pytest.raises(TableError, match=next(iter(wrong))):
            TableEncoder(**wrong).fit(frame)
    with pytest.raises(TableError, match="no column 'nowhere' to hide"):
        odefs.detect(frame, hide=["nowhere"])
    with pytest.raises(TableError, match="two columns are called 'a'"):
        TableEncoder().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))
    with pytest.raises(TableError, match="at least two rows"):
        odefs.detect(frame[:0])


def test_scikit_learns_checks_that_apply_to_frames():
    failed = {
        result["check_name"]
        for result in check_estimator(TableEncoder(), on_fail=None, on_skip=None)
        if result["status"] == "failed"
    }
    assert failed <= NOT_FOR_FRAMES, failed - NOT_FOR_FRAMES


def test_in_a_pipeline_with_reasons_in_the_input_columns(frame):
    frame.loc["r7", ["price", "shop"]] = [99.0, "zzz"]
    pipeline = make_pipeline(
        TableEncoder(), ODEFS(scaling="none", n_estimators=8, random_state=0)
    ).fit(frame)
    assert clone(pipeline).fit(frame).predict(frame)[7] == -1
    explanation = odefs.explain(pipeline, frame)
    assert list(explanation.feature_names) == list(frame.columns)
    assert np.asarray(explanation).sum(axis=1) == pytest.approx(-pipeline.score_samples(frame))
    assert explanation.reasons(7)[0][0].column in ("price", "shop")
    turned = frame[list(reversed(frame.columns))].assign(further=1)
    again = odefs.explain(pipeline, turned)
    assert dict(zip(again.feature_names, np.asarray(again)[7], strict=True)) == pytest.approx(
        dict(zip(explanation.feature_names, np.asarray(explanation)[7], strict=True))
    )


def test_missing_cells_that_a_step_made_numbers_of_are_reasons():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:3, 1] = np.nan
    pipeline = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-30), ODEFS(random_state=0)
    ).fit(X)
    assert (pipeline.predict(X[:3]) == -1).all()
    assert [reasons[0].column for reasons in odefs.explain(pipeline, X).reasons(range(3))] == [
        "x1"
    ] * 3
    X[5] = np.nan
    kept = make_pipeline(StandardScaler(), ODEFS(missing="ignore", random_state=0)).fit(X)
    assert odefs.explain(kept, X).reasons(5) == [[]]


def test_a_step_that_does_nothing_is_traced():
    X = np.random.default_rng(0).normal(size=(50, 3))
    pipeline = make_pipeline(FunctionTransformer(), ODEFS(n_estimators=4, random_state=0)).fit(X)
    assert np.array_equal(
        np.asarray(odefs.explain(pipeline, X)), np.asarray(pipeline[-1].explain(X))
    )


def test_column_transformers_are_traced(frame):
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["price"]), ("c", OneHotEncoder(), ["shop", "member"])]
    )
    pipeline = make_pipeline(columns, ODEFS(n_estimators=4, random_state=0)).fit(frame)
    explanation = odefs.explain(pipeline, frame)
    assert list(explanation.feature_names) == ["price", "shop", "member"]
    assert np.asarray(explanation).sum(axis=1) == pytest.approx(-pipeline.score_samples(frame))


@pytest.mark.parametrize(
    "chosen",
    [["price", "member"], [0, 2], slice("price", "member"), slice(None, "member")],
    ids=str,
)
def test_column_transformers_are_traced_by_name_whatever_the_order(chosen):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=["price", "size", "member", "weight"])
    frame.loc[0, "member"] = 50.0
    columns = ColumnTransformer([("n", StandardScaler(), chosen)])
    pipeline = make_pipeline(columns, ODEFS(n_estimators=2, random_state=0)).fit(frame)
    before = odefs.explain(pipeline, frame.iloc[:3])
    (reason, *_) = before.reasons(0)[0]
    assert (reason.column, reason.value) == ("member", 50.0)
    turned = frame[["weight", "member", "size", "price"]].copy()
    turned.insert(0, "further", 1.0)
    after = odefs.explain(pipeline, turned.iloc[:3])
    assert after.reasons(0) == before.reasons(0)
    assert np.asarray(after).sum(axis=1) == pytest.approx(-pipeline.score_samples(turned.iloc[:3]))


def test_pipelines_are_explained_on_sparse_rows():
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[0, 2] = 50.0
    pipeline = make_pipeline(MaxAbsScaler(), ODEFS(n_estimators=2, random_state=0)).fit(
        csr_array(X)
    )
    (reason, *_) = odefs.explain(pipeline, csr_array(X[:3])).reasons(0)[0]
    assert (reason.column, reason.value) == ("x2", 50.0)


def test_detect_takes_frames_and_keeps_the_index(frame):
    frame.loc["r7", "price"] = 99.0
    found = odefs.detect(frame)
    assert found.index[found.order[0]] == "r7"
    assert found.is_outlier[7]
    reason = found.reasons([7])[0][0]
    assert (reason.column, reason.value) == ("price", 99.0)
    assert reason.percentile > 99
    assert 5 < reason.usual[0] < reason.usual[1] < 15
    assert 0 < reason.share <= 1
    assert np.array_equal(odefs.detect(pl.from_pandas(frame)).scores, found.scores)


def test_reasons_for_categories_say_how_rare_they_are(frame):
    frame["shop"] = ["a"] * 40 + ["b"] * 19 + ["odd"]
    reason = odefs.detect(frame).reasons([N - 1])[0][0]
    assert (reason.column, reason.value, reason.frequency) == ("shop", "odd", pytest.approx(1 / N))
    assert reason.usual[0] in ("a", "b")


def test_saved_by_detect_it_loads_as_a_pipeline_that_takes_raw_frames(frame, tmp_path):
    found = odefs.detect(frame)
    found.save(tmp_path / "m.odefs")
    pipeline = odefs.load(tmp_path / "m.odefs")
    assert np.array_equal(-pipeline.score_samples(frame), found.model.outlier_scores(found.X))


def test_a_pipeline_is_saved_as_one_and_again(frame, tmp_path):
    pipeline = make_pipeline(
        TableEncoder(), ODEFS(scaling="none", n_estimators=2, random_state=0)
    ).fit(frame)
    first, second = tmp_path / "a.odefs", tmp_path / "b.odefs"
    odefs.save(pipeline, first)
    loaded = odefs.load(first)
    assert np.array_equal(loaded.score_samples(frame), pipeline.score_samples(frame))
    odefs.save(loaded, second)
    assert first.read_bytes() == second.read_bytes()
    assert load_table_model(second).flagged_share == pipeline[-1].is_outlier_.mean()


def test_what_detect_noted_stays_with_the_model_until_it_is_fitted_again(frame, tmp_path):
    path = tmp_path / "m.odefs"
    odefs.save(odefs.detect(frame, id="shop", hide=["price"]), path)
    loaded = odefs.load(path)
    odefs.save(loaded, path)
    assert (load_table_model(path).identifier, load_table_model(path).hidden) == (
        "shop",
        ("price",),
    )
    odefs.save(loaded.fit(frame), path)
    assert (load_table_model(path).identifier, load_table_model(path).hidden) == (None, ())


def test_what_no_model_file_holds_is_refused(frame, tmp_path):
    path = tmp_path / "m.odefs"
    model = ODEFS(scaling="none", n_estimators=2, random_state=0)
    numbers = frame[["price", "member"]].astype(float)
    with pytest.raises(TypeError, match="not one of StandardScaler, ODEFS"):
        odefs.save(make_pipeline(StandardScaler(), clone(model)).fit(numbers), path)
    with pytest.raises(NotFittedError):
        odefs.save(make_pipeline(TableEncoder(), clone(model)), path)
    with pytest.raises(ValueError, match="fit the pipeline as one"):
        odefs.save(make_pipeline(TableEncoder().fit(frame), clone(model).fit(numbers)), path)
    encoder = TableEncoder()
    odefs.save(model.fit(encoder.fit_transform(frame)), path)
    with pytest.raises(ValueError, match="loaded from a file without an encoder"):
        odefs.save(make_pipeline(encoder, odefs.load(path)), path)


@pytest.mark.parametrize(
    ("options", "flagged"),
    [
        ({"flag": 3}, 3),
        ({"contamination": 0.1}, 6),
        ({"threshold": 0.0}, N),
        ({"threshold": 99.0}, 0),
    ],
    ids=str,
)
def test_what_is_flagged_can_be_chosen(frame, options, flagged):
    found = odefs.detect(frame, **options)
    assert found.is_outlier.sum() == flagged
    assert ((found.scores > found.threshold) == found.is_outlier).all()


def test_ties_are_flagged_together():
    found = odefs.detect(
        pd.DataFrame({"x": [0.0, 1.0] * 20 + [50.0] * 3, "y": [1.0, 2.0] * 20 + [9.0] * 3}), flag=1
    )
    assert found.is_outlier.sum() == 3
    assert found.ranks[found.is_outlier].tolist() == [1, 1, 1]


@pytest.mark.parametrize("flag", [0, 2.5, True, "3"])
def test_no_number_of_rows_to_flag(frame, flag):
    with pytest.raises(TableError, match="must be a whole number of at least 1"):
        odefs.detect(frame, flag=flag)


def test_one_name_needs_no_list(frame):
    found = odefs.detect(frame, hide="price", drop="shop")
    assert found.hidden == {"price"}
    assert "shop" not in found.encoder.columns
    with pytest.raises(TableError, match="there is no column 'shopp'"):
        odefs.detect(frame, drop="shopp")


def test_a_model_without_importances_says_so(frame):
    found = odefs.detect(frame, model=LeSiNN(random_state=0))
    with pytest.raises(ValueError, match="LeSiNN learns nothing about columns"):
        _ = found.importances
    with pytest.raises(ValueError, match="LeSiNN learns nothing about columns"):
        found.report()
    assert "<table>" in found._repr_html_()
    assert found.top(1)["rank"].to_list() == [1]


def test_contradicting_flags_are_refused(frame):
    with pytest.raises(TableError, match="threshold and flag contradict"):
        odefs.detect(frame, threshold=1.0, flag=2)


def test_nothing_but_a_frame_will_do():
    with pytest.raises(
        TableError, match="a data frame of pandas, polars or pyarrow is needed, not list"
    ):
        odefs.detect([1, 2, 3])


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (pl.LazyFrame({"a": [1, 2]}), r"not LazyFrame: \.collect\(\) makes one"),
        (
            {"a": [1, 2]},
            r"not dict: pandas\.DataFrame\(\.\.\.\) or .* makes one; arrays are",
        ),
        ([[1, 2], [3, 4]], r"not list: pandas\.DataFrame\(\.\.\.\) or .* makes one"),
        (None, r"not NoneType\.$"),
    ],
)
@pytest.mark.parametrize("take", [odefs.detect, TableEncoder().fit])
def test_other_tables_are_refused_with_what_makes_a_frame(take, given, advice):
    with pytest.raises(TableError, match=advice):
        take(given)
