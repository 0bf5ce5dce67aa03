"""Row selection by numbers, masks and labels follows one rule; ambiguous input is rejected."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_validate

import odefs
from odefs import ODEFS
from odefs._row_selection import read_rows
from odefs.engines.row_blocks import RowBlocks
from odefs.theory import check_assumptions

N = 60
FORMS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda cells: np.array(cells, dtype=object),
    "masked array": np.ma.array,
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas array": pd.array,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda cells: pa.chunked_array([cells[:1], cells[1:]]),
}


def numbers(rows, n_rows=N, **known):
    return read_rows(rows).numbers(n_rows, **known).tolist()


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    cells = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    cells.loc[[5, 40], "c"] += 12
    return cells.assign(name=[f"row {k}" for k in range(N)])


@pytest.fixture(scope="module")
def found(frame):
    return odefs.detect(frame, id="name")


# What is selected.


@settings(deadline=None)
@given(st.data())
def test_a_mask_selects_what_its_numbers_and_labels_select(data):
    n_rows = data.draw(st.integers(1, 30))
    mask = data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    labels = data.draw(st.permutations([f"row {k}" for k in range(n_rows)]))
    form = FORMS[data.draw(st.sampled_from(sorted(FORMS)))]
    expected = [row for row, chosen in enumerate(mask) if chosen]
    assert numbers(form(mask), n_rows) == expected
    assert numbers(form(expected) if expected else [], n_rows) == expected
    names = [labels[row] for row in expected]
    assert numbers(form(names) if names else [], n_rows, labels=labels) == expected


@settings(deadline=None)
@given(
    st.lists(st.integers(0, N - 1), max_size=8).filter(lambda rows: len(rows) < 3 or max(rows) > 1)
)
def test_numbers_keep_their_order_and_may_repeat(rows):
    assert numbers(rows) == numbers(np.array(rows, dtype=np.uint8)) == rows


@settings(deadline=None)
@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=5))
def test_integers_are_rows_or_refused(rows):
    if all(0 <= row < N for row in rows) and (len(rows) < 3 or max(rows) > 1):
        assert numbers(rows) == rows
    else:
        with pytest.raises(ValueError, match=r"numbered 0 to 59|y =="):
            numbers(rows)


@pytest.mark.parametrize(
    "row", [3, np.int8(3), np.array(3), np.uint64(3)], ids=lambda row: type(row).__name__
)
def test_a_single_number_is_one_row(row):
    assert numbers(row) == [3]


@pytest.mark.parametrize(
    "empty", [[], (), np.array([]), range(0), pd.Series([], dtype=object), pa.array([])]
)
def test_nothing_is_selected_by_nothing(empty):
    assert numbers(empty) == []


def test_the_two_rows_of_a_tiny_table_are_row_numbers():
    assert numbers([0, 1], 2) == [0, 1]
    assert numbers([1, 0], 2) == [1, 0]
    assert numbers([0], 1) == [0]


# What is refused.


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0, 1]), min_size=3, max_size=40),
    st.sampled_from([int, float, np.int8, np.float32]),
    st.sampled_from([0, -1]),
)
def test_labels_of_rows_are_refused_with_the_remedy(labels, dtype, low):
    y = np.where(np.array(labels) == 1, 1, low).astype(dtype)
    outlier = 1 if low == 0 or (y == 1).all() else -1
    for given_as in (y, y.tolist(), pd.Series(y), pl.Series(y)):
        with pytest.raises(
            ValueError,
            match=re.escape(f"pass y == {outlier}, or numpy.flatnonzero(y == {outlier})"),
        ):
            read_rows(given_as).numbers(len(y))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (True, "single boolean"),
        (np.bool_(True), "single boolean"),
        (np.array(True), "single boolean"),
        ([True] * 59, "mask of length 59, but the table has 60 rows"),
        (np.array([], dtype=bool), "mask of length 0, but the table has 60 rows"),
        ([60], "holds 60, but the 60 rows are numbered 0 to 59"),
        (-1, "holds -1"),
        (2**80, "numbered 0 to 59"),
        (3.0, "holds 3.0, a float"),
        ([1, 2.5], "holds 2.5, a float"),
        (np.array([1.5, 2.0]), "holds 1.5, a float"),
        ([1 + 2j], "a complex"),
        ([3, np.nan], "missing"),
        ([True, None] * 30, "missing"),
        (pd.array([True, None] * 30), "missing"),
        (pl.Series([True, None] * 30), "missing"),
        (pa.array([True, None] * 30), "missing"),
        (pl.Series([3, None]), "missing"),
        (pd.Series([pd.NaT]), "missing"),
        (np.ma.array([True] * N, mask=[True] + [False] * 59), "masked entries"),
        (np.ma.masked, "masked entries"),
        ([np.ma.masked, 3], "missing"),
        ([True, 3], "mixes booleans and integers"),
        (["a", 3], "mixes integers and labels"),
        ("a", "holds 'a', but the rows have no labels"),
        ([b"a"], "no labels"),
        (b"a", "type bytes"),
        ({3}, "type set"),
        ({3: 4}, "type dict"),
        ((row for row in [3]), "type generator"),
        (slice(3), "type slice"),
        (None, "type NoneType"),
        ([[3]], "more than one dimension"),
        (np.ones((N, 1), dtype=bool), "2 dimensions"),
        (pd.DataFrame({"mask": [True] * N}), "2 dimensions"),
        ([np.timedelta64(3, "s")], "no labels"),
    ],
)
def test_everything_else_is_refused_in_one_sentence(rows, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)) as error:
        numbers(rows)
    assert str(error.value).startswith("rows")
    assert str(error.value).count(". ") == 0
    assert str(error.value).endswith(".")


# Labels, and indexes of pandas.


def test_labels_that_are_unknown_or_of_several_rows_are_refused():
    labels = ["a", "b", None, "b", float("nan"), 17]
    assert numbers(["a"], labels=labels) == numbers("a", labels=labels) == [0]
    assert numbers(["17"], labels=labels) == [5]
    for rows, message in [
        (["a", "x", "y"], "no row has the label 'x' and 1 more"),
        ("nan", "no row has the label 'nan'"),
        ("None", "no row has the label 'None'"),
        (["a", "b"], "2 rows have the label 'b'"),
    ]:
        with pytest.raises(ValueError, match=message):
            numbers(rows, labels=labels)


@pytest.mark.parametrize(
    "day",
    [
        "2024-01-03 00:00:00",
        "2024-01-03T00:00",
        "2024-01-03",
        datetime.date(2024, 1, 3),
        np.datetime64("2024-01-03"),
        np.array(["2024-01-03"], dtype="datetime64[D]"),
        np.array(["2024-01-03"], dtype="datetime64[s]"),
        datetime.datetime(2024, 1, 3),
        pd.Timestamp("2024-01-03"),
        np.datetime64("2024-01-03", "ns"),
        [datetime.datetime(2024, 1, 3)],
        np.array(["2024-01-03"], dtype="datetime64[ns]"),
        pd.to_datetime(["2024-01-03"]),
    ],
    ids=repr,
)
def test_dates_name_the_rows_of_a_time_series(day):
    index = pd.date_range("2024-01-01", periods=5)
    for labels in (index, [str(label) for label in index], [label.date() for label in index]):
        assert numbers(day, 5, labels=labels) == [2]


@pytest.mark.parametrize(
    "form",
    [lambda i: i, pd.Series, list, np.array, pl.Series],
    ids=["index", "series", "list", "numpy", "polars"],
)
def test_dates_that_differ_by_nanoseconds_are_different_labels(form):
    index = pd.to_datetime(np.arange(N) * 100 + 1_700_000_000_000_000_000)
    assert numbers(form(index[[4, 10]]), labels=index, index=index) == [4, 10]
    with pytest.raises(ValueError, match="no row has the label"):
        numbers(form(index[[4, 10]] + pd.Timedelta(1, "ns")), labels=index, index=index)


def test_durations_name_rows():
    index = pd.timedelta_range("-2 days", periods=5, freq="12h")
    for rows in (
        index[2:4],
        pd.Series(index[2:4]),
        list(index[2:4]),
        ["-1 days +00:00:00", "-1 days +12:00:00"],
    ):
        assert numbers(rows, 5, labels=index, index=index) == [2, 3]
    days = pd.timedelta_range("1 days", periods=5)
    assert numbers("3 days", 5, labels=days) == numbers(days[2], 5, labels=days) == [2]


def test_a_day_of_several_rows_is_refused_and_zones_are_not_guessed():
    hours = pd.date_range("2024-01-01", periods=48, freq="h")
    for day in ("2024-01-02", datetime.date(2024, 1, 2)):
        with pytest.raises(ValueError, match="24 rows have the label '2024-01-02'"):
            numbers(day, 48, labels=hours)
    assert numbers("2024-01-02 00:00", 48, labels=hours) == [24]
    noon = pd.date_range("2024-01-01 12:00", periods=5)
    with pytest.raises(ValueError, match="no row has the label '2024-01-02'"):
        numbers("2024-01-02", 5, labels=noon)
    paris = pd.date_range("2024-01-01", periods=5, tz="Europe/Paris")
    assert (
        numbers("2024-01-02T00:00+01:00", 5, labels=paris)
        == numbers(paris[[1]], 5, labels=paris)
        == [1]
    )
    with pytest.raises(ValueError, match="no row has the label"):
        numbers("2024-01-02 00:00", 5, labels=paris)


def test_refusals_mention_what_else_is_possible():
    with pytest.raises(TypeError, match="labels where the table has an index or an id column"):
        numbers({3})
    with pytest.raises(ValueError, match="holds 0, but the table has no rows"):
        numbers([0], 0)
    for rows in ([0, 1, 0], np.array([1, 1, 0])):
        with pytest.raises(ValueError, match="rows 0 and 1, name each of them once"):
            numbers(rows)
    for rows in ([-1, 1, 1], [0.0, 1.0, 0.0]):
        with pytest.raises(ValueError, match="y == ") as error:
            numbers(rows)
        assert "once" not in str(error.value)


def test_a_mask_with_another_index_is_refused():
    index = pd.Index([7, 3, 5])
    mask = pd.Series([True, False, True], index=index)
    assert numbers(mask, 3, index=index) == [0, 2]
    assert numbers(mask.reset_index(drop=True), 3, index=index) == [0, 2]
    assert numbers(mask, 3) == [0, 2], "a table without an index is selected by position"
    for other in (mask.sort_index(), mask.set_axis(list("abc"))):
        with pytest.raises(ValueError, match="index is not that of the table"):
            numbers(other, 3, index=index)


def test_an_index_of_integers_is_refused_where_it_could_be_labels():
    assert numbers(pd.Index([2, 0]), 3, index=pd.RangeIndex(3)) == [2, 0]
    with pytest.raises(ValueError, match="labels or row numbers"):
        numbers(pd.Index([2, 0]), 3, index=pd.Index([2, 0, 1]))
    assert numbers([2, 0], 3, index=pd.Index([2, 0, 1])) == [2, 0], "integers are row numbers"


def test_an_index_of_integers_that_cannot_be_row_numbers_holds_labels():
    assert numbers(pd.Index([12, 10]), 3, index=pd.RangeIndex(10, 13)) == [2, 0]
    assert numbers(pd.Index([7, 0]), 3, index=pd.Index([0, 5, 7])) == [2, 0]
    assert numbers(pd.Index([1]), 3, index=pd.Index([5, 1, 7])) == [1], "both mean the same row"
    for wrong, index in (([11, 14], [10, 11, 12]), ([11], [11, 11, 12]), ([2, 10], [10, 2, 2])):
        with pytest.raises(ValueError, match="labels or row numbers"):
            numbers(pd.Index(wrong), 3, index=pd.Index(index))


# Where rows are named.


def test_reasons_of_a_mask_of_a_number_and_of_ids(found):
    every = found.reasons(range(N))
    flagged = np.flatnonzero(found.is_outlier).tolist()
    assert 0 < len(flagged) < N
    for mask in (
        found.is_outlier,
        found.is_outlier.tolist(),
        pd.Series(found.is_outlier),
        pl.Series(found.is_outlier),
    ):
        assert found.reasons(mask) == [every[row] for row in flagged]
    assert found.reasons(3) == found.reasons([3]) == found.reasons("row 3") == [every[3]]
    assert (
        found.reasons(["row 40", "row 5"])
        == found.reasons(pl.Series(["row 40", "row 5"]))
        == [every[40], every[5]]
    )
    assert found.reasons([]) == found.reasons(np.zeros(N, dtype=bool)) == []


@pytest.mark.parametrize("rows", [[3.7], -1, [N], [True], "row", np.zeros(N, dtype=int), {3}])
def test_reasons_are_refused(found, rows):
    with pytest.raises((TypeError, ValueError), match="rows"):
        found.reasons(rows)


def test_reasons_by_the_index_of_a_frame(frame):
    bare = frame.drop(columns="name")
    text = odefs.detect(bare.set_axis(frame["name"]))
    assert text.reasons("row 5") == text.reasons(5)
    shuffled = bare.sample(frac=1, random_state=0)
    whole = odefs.detect(shuffled)
    place = shuffled.index.get_loc(5)
    assert whole.reasons(str(5)) == whole.reasons(place) == whole.reasons(shuffled.index == 5)
    assert whole.reasons(shuffled["c"] > 9) == whole.reasons(np.flatnonzero(shuffled["c"] > 9))
    with pytest.raises(ValueError, match="index is not that"):
        whole.reasons(bare["c"].sort_values() > 9)
    with pytest.raises(ValueError, match="labels or row numbers"):
        whole.reasons(shuffled.index[:3])
    with pytest.raises(ValueError, match="no labels"):
        odefs.detect(pl.from_pandas(bare)).reasons("5")


def test_an_explanation_takes_rows_as_a_detection_does(frame):
    X = frame[list("abcd")].to_numpy()
    model = ODEFS(n_estimators=2, random_state=0).fit(X)
    for explanation in (model.explain(X), model.explain(X, top=2)):
        every = explanation.reasons()
        assert [reasons[0].column for reasons in explanation.reasons(X[:, 2] > 9)] == ["x2"] * int(
            (X[:, 2] > 9).sum()
        )
        assert explanation.reasons(np.int64(5)) == explanation.reasons([5]) == [every[5]]
        assert explanation.reasons([]) == []
        for rows in (True, -1, N, 5.0, "5", slice(2)):
            with pytest.raises((TypeError, ValueError), match="row"):
                explanation.reasons(rows)


@pytest.mark.parametrize(
    ("outliers", "normal"),
    [
        ([5, 40], 7),
        (np.isin(np.arange(N), [5, 40]), np.arange(N) == 7),
        (pl.Series([5, 40]), [7]),
        (["row 40", "row 5"], "row 7"),
    ],
    ids=["numbers", "masks", "polars", "labels"],
)
def test_known_cases_of_every_form(frame, outliers, normal):
    named = frame.set_index("name")
    model = ODEFS(n_estimators=2, random_state=0)
    expected = model.fit(named.to_numpy(), known_outliers=[5, 40], known_normal=[7]).outlier_scores_
    again = model.fit(named, known_outliers=outliers, known_normal=normal)
    assert again.fit_info_["known"] == {"outliers": 2, "normal": 1}
    assert np.array_equal(again.outlier_scores_, expected)
    for found in (
        odefs.detect(frame, id="name", model=model, known_outliers=outliers, known_normal=normal),
        odefs.detect(
            pl.from_pandas(frame),
            id="name",
            model=model,
            known_outliers=outliers,
            known_normal=normal,
        ),
        odefs.detect(named, model=model, known_outliers=outliers, known_normal=normal),
    ):
        assert found.model.fit_info_["known"] == {"outliers": 2, "normal": 1}
        assert {5, 40} <= set(found.model.candidate_indices_.tolist())


def test_labels_are_no_known_cases(frame):
    y = np.isin(np.arange(N), [5, 40]).astype(int)
    X = frame[list("abcd")].to_numpy()
    for rows in (X, RowBlocks.from_arrays([X])):
        for known in (
            {"known_outliers": y},
            {"known_normal": 1.0 - y},
            {"known_outliers": np.where(y, -1, 1)},
        ):
            with pytest.raises(ValueError, match="y == "):
                ODEFS(n_estimators=2).fit(rows, **known)
    with pytest.raises(ValueError, match="y == "):
        odefs.detect(frame, id="name", known_outliers=y)


def test_a_boolean_series_follows_its_frame_into_folds(frame):
    shuffled = frame[list("abcd")].sample(frac=1, random_state=0)
    known = shuffled["c"] > 9
    y = np.where(known, -1, 1)
    scores = cross_validate(
        ODEFS(n_estimators=2),
        shuffled,
        y,
        params={"known_outliers": known},
        scoring="accuracy",
        error_score="raise",
    )
    assert np.isfinite(scores["test_score"]).all()


def test_candidates_of_the_theorem_are_numbers_or_a_mask():
    y = np.arange(50) < 5
    scores = np.arange(50)[::-1]
    assert check_assumptions(scores, range(6), y) == check_assumptions(scores, np.arange(50) < 6, y)
    with pytest.raises(ValueError, match="y == "):
        check_assumptions(scores, y.astype(int), y)
