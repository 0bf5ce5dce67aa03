"""A detection as frames, and scores, verdicts and contributions of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import odefs
from odefs.datasets.transactions import transactions_path
from odefs.exceptions import TableError
from odefs.tables.messages.reasons import kind
from odefs.tables.messages.values import HIDDEN
from odefs.tables.results.displayed_rows import shown_names
from odefs.tables.results.named_rows import _places

NAMES = ["score", "rank", "percentile", "agreement", "outlier", "kind", "reasons", "checks"]


@pytest.fixture(scope="module")
def table():
    return pl.read_csv(transactions_path(), try_parse_dates=True)


@pytest.fixture(scope="module")
def found(table):
    return odefs.detect(table, id="transaction")


@pytest.mark.parametrize(
    ("as_library", "library"),
    [
        (lambda table: table, pl.DataFrame),
        (lambda table: table.to_pandas(), pd.DataFrame),
        (lambda table: table.to_arrow(), pa.Table),
    ],
)
def test_frames_are_of_the_tables_library(as_library, library, table, found):
    own = odefs.detect(as_library(table), id="transaction")
    frame = own.to_frame()
    assert isinstance(frame, library)
    assert isinstance(own.top(3), library)
    columns = pl.from_pandas(frame) if library is pd.DataFrame else pl.DataFrame(frame)
    assert columns.columns == ["transaction", *NAMES]
    assert columns.equals(found.to_frame())


def test_a_pandas_frame_keeps_its_index(table):
    frame = table.to_pandas().set_index("transaction")
    result = odefs.detect(frame).to_frame()
    assert list(result.columns) == NAMES
    assert result.index.equals(frame.index)
    assert frame.join(result)["score"].notna().all()
    numbered = frame.reset_index(drop=True)
    numbered.index += 7
    assert odefs.detect(numbered).top(5).index.isin(numbered.index).all()


def test_frames_say_what_the_detection_says(found):
    frame = found.to_frame()
    assert frame["transaction"].to_list() == list(found.row_names)
    np.testing.assert_array_equal(frame["score"], found.scores)
    np.testing.assert_array_equal(frame["rank"], found.ranks)
    np.testing.assert_array_equal(frame["percentile"], found.percentiles)
    np.testing.assert_array_equal(frame["agreement"], found.agreement)
    np.testing.assert_array_equal(frame["outlier"], found.is_outlier)
    explained = frame["reasons"].is_not_null().to_numpy()
    np.testing.assert_array_equal(explained, found.is_outlier)
    np.testing.assert_array_equal(frame["kind"].is_not_null().to_numpy(), found.is_outlier)
    for row, reasons in zip(
        np.flatnonzero(found.is_outlier), found.reasons(found.is_outlier), strict=True
    ):
        assert frame["reasons"][int(row)].startswith(f"{reasons[0].column} = ")


def test_kinds_are_those_of_the_report(found):
    summary = found.report().summary
    words = {
        row["name"]: kind(summary["kinds"][row["kind"]]) for row in summary["top"] if row["flagged"]
    }
    frame = found.to_frame().filter(pl.col("outlier"))
    assert dict(zip(frame["transaction"], frame["kind"], strict=True)) == words


def test_flagged_rows_beyond_the_report_have_kinds(table):
    many = odefs.detect(pl.concat([table] * 2).drop("transaction"), flag=500)
    frame = many.to_frame().filter(pl.col("outlier"))
    assert frame.height >= 500
    assert frame["kind"].null_count() == 0
    assert frame["kind"].n_unique() > 1


def test_the_top_rows_come_first_and_have_reasons(found):
    top = found.top(40)
    assert top["rank"].is_sorted()
    assert top.height == 40
    explained = [bool(reasons) for reasons in found.reasons(found.order[:40])]
    assert top["reasons"].is_not_null().to_list() == explained
    assert any(explained[found.n_flagged :]), "rows that are not flagged are explained too"
    assert top["transaction"].to_list() == [found.row_names[row] for row in found.order[:40]]
    assert found.top(0).height == 0
    assert found.top(10**6).height == found.n_rows


def test_rows_without_reasons_have_missing_ones():
    table = pl.DataFrame({"a": [0.0, 1.0] * 49 + [7.0, 50.0], "b": ["u"] * 95 + ["v"] * 5})
    found = odefs.detect(table)
    lacking = [not reasons for reasons in found.reasons(found.order)]
    assert any(lacking)
    assert found.top(100)["reasons"].is_null().to_list() == lacking
    pandas = odefs.detect(table.to_pandas()).top(100)
    assert pandas["reasons"].isna().to_list() == lacking


def test_columns_without_values_are_of_text(table):
    none = odefs.detect(table, id="transaction", threshold=1e6).to_frame()
    assert none.schema["kind"] == none.schema["reasons"] == pl.String
    pl.concat([none, odefs.detect(table, id="transaction").to_frame()])


def test_an_array_gets_numbered_rows():
    X = np.random.default_rng(0).normal(size=(200, 3))
    frame = odefs.detect(X).to_frame()
    assert list(frame["row"]) == list(range(200))


def test_an_id_called_as_a_result_is_kept(table):
    frame = odefs.detect(table.rename({"transaction": "score"}), id="score").top(2)
    assert frame.columns == ["score (id)", *NAMES]


def test_hidden_values_stay_hidden(table):
    hidden = odefs.detect(table, id="transaction", hide=["distance_km", "transaction"])
    frame = hidden.to_frame()
    assert frame.columns[0] == "row"
    texts = " ".join(frame["reasons"].drop_nulls())
    assert f"distance_km = {HIDDEN}" in texts
    assert "9500" not in texts


def test_explanations_do_not_show_hidden_values(table):
    names = {"hide": ["distance_km", "hour"], "id": "transaction", "random_state": 0}
    open_one = odefs.detect(table, **names | {"hide": []}).explain()
    hidden = odefs.detect(table, **names).explain()
    np.testing.assert_array_equal(hidden.values, open_one.values)
    frame, open_frame = hidden.to_frame(), open_one.to_frame()
    is_hidden = pl.col("column").is_in(names["hide"])
    assert frame.filter(is_hidden)["value"].unique().to_list() == [HIDDEN]
    assert frame.filter(~is_hidden).equals(open_frame.filter(~is_hidden))
    assert frame.drop("value").equals(open_frame.drop("value"))
    cells = {
        reason.value for row in hidden.reasons() for reason in row if reason.column in names["hide"]
    }
    assert cells == {HIDDEN}
    assert f"distance_km = {HIDDEN}" in hidden._repr_html_()
    values = {
        cell
        for cell, column in open_frame.select("value", "column").rows()
        if column == "distance_km"
    }
    assert not any(
        f"= {value} (" in shown
        for value in values
        for shown in (repr(hidden), hidden._repr_html_())
    )


def test_other_rows_are_scored_as_the_table_was(table, found):
    np.testing.assert_array_equal(found.score(table), found.scores)
    np.testing.assert_array_equal(found.predict(table) == -1, found.is_outlier)
    np.testing.assert_array_equal(found.score(table[5:9]), found.scores[5:9])


def test_contributions_add_up_to_the_scores(found):
    flagged = found.explain()
    order = [row for row in found.order if found.is_outlier[row]]
    np.testing.assert_allclose(np.asarray(flagged).sum(axis=1), found.scores[order], rtol=1e-5)
    assert list(flagged.feature_names) == found.encoder.columns
    one = found.explain("T0422")
    assert len(one) == 1
    assert one.data[0, list(one.feature_names).index("country")] == "SG"


def test_answers_of_a_review_are_taken_up(found):
    review = found.review()
    first = review.next()
    review.tell(first, [False])
    learned = found.with_answers(review)
    assert isinstance(learned, odefs.Detection)
    assert learned.scores[first[0]] < found.scores[first[0]]
    assert isinstance(learned.top(1), pl.DataFrame)


def test_answers_on_other_rows_are_refused(table, found, tmp_path):
    review = found.review()
    review.tell([3, 5], [True, False])
    backwards = odefs.detect(table[::-1], id="transaction")
    for other in (odefs.detect(table[:100], id="transaction"), backwards):
        with pytest.raises(TableError, match="not of this"):
            other.with_answers(review)
    review.save(tmp_path / "review.odefs")
    saved = odefs.load(tmp_path / "review.odefs")
    with pytest.raises(TableError, match="not of this"):
        backwards.with_answers(saved)
    learned = found.with_answers(saved)
    np.testing.assert_array_equal(learned.scores, found.with_answers(review).scores)
    # After answers as before them, and by another model where ids show that the rows are the same.
    assert learned.with_answers(saved).model._model.answers is not None
    learned.with_answers(learned.review())
    same_rows = odefs.detect(table, id="transaction", model=odefs.LeSiNN(random_state=0))
    assert same_rows.with_answers(review).model._model.answers is not None


def test_answers_are_those_of_a_review(found):
    for wrong in (None, [True], found):
        with pytest.raises(TableError, match=type(wrong).__name__):
            found.with_answers(wrong)


def test_notebooks_show_a_small_table(table, found):
    shown = found._repr_html_()
    assert "T0422" in shown
    assert len(shown) < 10_000
    names = {
        f"<script>{'n' * 400}{k}</script>": [f"<b>{k}{'v' * 500}{i % 9}" for i in range(300)]
        for k in range(60)
    }
    long = odefs.detect(pl.DataFrame({**names, "x": np.arange(300.0) ** 3}))
    shown = long._repr_html_()
    assert len(shown) < 60_000
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_explanations_show_reasons(found):
    explanation = found.explain()
    for shown in (repr(explanation), explanation._repr_html_(), repr(explanation.top(2))):
        assert "distance_km" in shown
        assert len(shown) < 60_000
    assert "array(" not in repr(explanation)


def numbered():
    rng = np.random.default_rng(0)
    price = rng.normal(10, 1, 200)
    price[[17, 40, 90]] = [60.0, 70.0, 80.0]
    return pl.DataFrame({"price": price, "size": rng.normal(5, 1, 200)})


FAST = {"model": odefs.LeSiNN(scaling="none", random_state=0)}


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.DataFrame.to_arrow, np.asarray])
def test_numbers_of_the_top_rows_name_these_rows(convert):
    found = odefs.detect(convert(numbered()), **FAST)
    top = found.top(3)["row"]
    assert np.asarray(top).tolist() == found.order[:3].tolist() == [90, 40, 17]
    assert [row[0].value for row in found.explain(top).reasons()] == [80, 70, 60]
    assert found.reasons(top) == found.reasons([90, 40, 17])
    assert list(found.explain(top).row_names) == [90, 40, 17]


def with_ids(frame):
    return frame.with_columns(id=np.arange(1, len(frame) + 1)[::-1])


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (numbered(), {}),
        (numbered().to_arrow(), {}),
        (np.asarray(numbered()), {}),
        (numbered().to_pandas(), {}),
        (numbered().to_pandas().iloc[::-1], {}),
        (with_ids(numbered()), {"id": "id"}),
        (with_ids(numbered()).to_pandas(), {"id": "id"}),
    ],
    ids=["polars", "pyarrow", "array", "pandas", "reversed index", "integer ids", "pandas ids"],
)
def test_a_frame_of_results_stands_for_its_rows(table, options):
    found = odefs.detect(table, **options, **FAST)
    top = found.top(3)
    assert [row[0].value for row in found.explain(top).reasons()] == [80, 70, 60]
    assert found.reasons(top) == found.reasons(found.order[:3])
    every = found.to_frame()
    assert found.numbers(every).tolist() == list(range(200))


def test_a_frame_of_other_rows_is_refused():
    found = odefs.detect(numbered(), **FAST)
    with pytest.raises(ValueError, match="one of top"):
        found.explain(numbered().head(3))
    with pytest.raises(ValueError, match="no row is called so"):
        found.explain(found.top(3).with_columns(row=pl.lit(400)))
    found = odefs.detect(numbered().to_pandas(), **FAST)
    with pytest.raises(ValueError, match="one of top"):
        found.explain(numbered().to_pandas().head(3))
    with pytest.raises(ValueError, match="no row has that score"):
        found.explain(found.top(3).reset_index(drop=True))


@pytest.mark.parametrize("is_pandas", [True, False])
def test_rows_with_the_same_name_are_told_apart_by_their_scores(is_pandas):
    table, options = numbered().with_columns(id=pl.lit(7)), {"id": "id"}
    if is_pandas:
        table = table.drop("id").to_pandas().set_axis([7] * 200)
        options = {}
    found = odefs.detect(table, **options, **FAST)
    assert [row[0].value for row in found.explain(found.top(3)).reasons()] == [80, 70, 60]
    assert sorted(found.numbers(found.to_frame())) == list(range(200))


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_rows_with_missing_labels_are_named_by_frames(missing):
    index = pd.Index(["a", missing, missing, *range(57)], dtype=object)
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60)}, index=index)
    frame.iloc[[1, 2]] = [[40.0], [50.0]]
    detection = odefs.detect(frame)
    top = detection.top(3)
    assert detection.numbers(top).tolist() == detection.order[:3].tolist()


def test_dates_that_are_missing_are_labels_too():
    index = pd.DatetimeIndex([None, None, *pd.date_range("2031-01-01", periods=58)])
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60)}, index=index)
    detection = odefs.detect(frame)
    assert detection.numbers(detection.to_frame()).tolist() == list(range(60))


def test_rows_with_one_name_are_found_by_sorted_scores():
    """The same rows as by comparing each score with all others of the name."""
    rng = np.random.default_rng(0)
    names = rng.choice(["a", "b", None], 300).tolist()
    scores = rng.choice([0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-3, -2.0, np.nan], 300)
    wanted = rng.permutation(300)
    places = _places([names[k] for k in wanted], scores[wanted].tolist(), names, scores)
    assert sorted(places.tolist()) == list(range(300))
    for row, place in zip(wanted.tolist(), places.tolist(), strict=True):
        assert names[row] == names[place]
        assert scores[row] == pytest.approx(scores[place], rel=1e-6, nan_ok=True)
    # Of equal rows, each once and in order; the last one also stands for further ones.
    again = _places(["a"] * 4, [1.0] * 4, ["a", "b", "a", "a"], np.ones(4))
    assert again.tolist() == [0, 2, 3, 3]
    for name, score in (("a", 2.0), ("c", 1.0)):
        with pytest.raises(ValueError, match="not one of this result"):
            _places([name], [score], ["a"], np.ones(1))


def test_no_row_to_explain_is_refused():
    found = odefs.detect(numbered(), threshold=1e9, **FAST)
    assert found.reasons() == []
    for rows in (None, [], found.top(0)):
        with pytest.raises(ValueError, match="no row to explain"):
            found.explain(rows)


def test_one_row_is_explained_without_listing_or_sorting_all():
    found = odefs.detect(numbered(), **FAST)
    assert shown_names(found) == ("row", range(1, 201))
    assert found.explain(40).row_names == [40]
    assert "extent" not in vars(found), "it sorts the scores"


@pytest.mark.parametrize("start", [0, 1000])
def test_the_index_of_the_top_rows_names_these_rows(start):
    frame = numbered().to_pandas().set_axis(range(start, start + 200))
    found = odefs.detect(frame, **FAST)
    explained = found.explain(found.top(3).index)
    assert [row[0].value for row in explained.reasons()] == [80, 70, 60]
    assert list(explained.row_names) == [start + 90, start + 40, start + 17]


def test_a_slice_of_a_frame_has_labels():
    frame = numbered().to_pandas()[10:]
    found = odefs.detect(frame, **FAST)
    assert found.top(1).index[0] == 90
    assert found.reasons("90") == found.reasons(80)
    assert found.reasons("90")[0][0].value == 80


def test_values_to_check_name_rows_as_frames_do():
    frame = numbered().with_columns(
        pl.when(pl.int_range(pl.len()) == 50).then(-999.0).otherwise("size").alias("size")
    )
    found = odefs.detect(frame)
    assert found.checks
    assert all(check.names == check.rows for check in found.checks)
    for own, listed in zip(found.checks, found.report().summary["checks"], strict=True):
        assert listed["names"] == listed["rows"] == [row + 1 for row in own.rows], "as in files"


def test_notes_name_rows_as_values_to_check_do():
    words = ["unknown" if row == 50 else f"{row % 7}.5" for row in range(200)]
    found = odefs.detect(numbered().with_columns(words=pl.Series(words)))
    (note,) = [note for note in found.notes if note.kind == "unreadable_cells"]
    (check,) = [check for check in found.checks if check.replaces(note)]
    assert (note.row,) == check.rows == (50,)
    assert "in row 50)" in str(note)
    again = found.with_answers(found.review())
    assert again.notes == found.notes
    (listed,) = [one for one in found.report().summary["notes"] if one["kind"] == note.kind]
    assert listed["row"] == 51, "as in files"
    assert "in row 51)" in listed["message"]


def test_explanations_name_their_rows():
    keys = [f"k{i}" for i in range(200)]
    with_id = odefs.detect(numbered().with_columns(key=pl.Series(keys)), id="key", **FAST)
    with_index = odefs.detect(numbered().to_pandas().set_axis(keys), **FAST)
    for found in (with_id, with_index):
        explained = found.explain(["k40", "k90"])
        assert list(explained.row_names) == list(explained.top(1).row_names) == ["k40", "k90"]
        assert explained.reasons("k90") == explained.reasons(1)
        for shown in (repr(explained), explained._repr_html_(), repr(explained.top(1))):
            assert shown.index("k40") < shown.index("k90")
    hidden = odefs.detect(numbered().to_pandas().assign(key=keys), id="key", hide=["key"], **FAST)
    assert list(hidden.explain("k40").row_names) == [40]


def test_numbers_are_positions_among_the_explained_rows():
    explained = odefs.detect(numbered(), **FAST).explain([90, 40, 1, 0])
    for shown in (explained, explained.top(1)):
        assert [row[0].value for row in shown.reasons([1, 0])] == [70, 80]
        assert shown.reasons("40") == shown.reasons(1)
        assert shown.reasons("0") == shown.reasons(3)
        with pytest.raises(ValueError, match=r"explained rows, 0 to 3, .*pass '90' as text"):
            shown.reasons(90)
        with pytest.raises(ValueError, match=r"rows holds 7, .*pass a position\."):
            shown.reasons([0, 7])


def test_explanations_of_pipelines_have_the_index_of_their_frame():
    frame = numbered().to_pandas().set_axis([f"k{i}" for i in range(200)])
    pipeline = make_pipeline(odefs.TableEncoder(), FAST["model"]).fit(frame)
    assert odefs.explain(pipeline, frame[40:42]).row_names == ["k40", "k41"]
    assert odefs.explain(pipeline, frame[:2].reset_index(drop=True)).row_names is None


def with_times():
    seconds = np.random.default_rng(1).integers(0, 300, 200) * 86_400
    seconds[40] = 9000 * 86_400
    return numbered().with_columns(
        day=pl.from_epoch(pl.Series(1_700_006_400 + seconds)),
        took=pl.duration(seconds=pl.int_range(pl.len()) % 60 + 90),
    )


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.DataFrame.to_pandas])
def test_explanations_show_dates_and_durations(convert):
    found = odefs.detect(convert(with_times()), **FAST)
    explained = found.explain([40])
    cells = dict(zip(explained.feature_names, explained.shown[0], strict=True))
    assert cells["day"] == "2048-07-06"
    assert cells["took"] == "0:02:10"
    assert cells["price"] == 70
    assert {one.column: one.value for one in explained.reasons()[0]}["day"] > 2e9, "data are kept"
    for shown in (repr(explained), explained._repr_html_(), repr(explained.top(2))):
        assert "day = 2048-07-06" in shown


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.DataFrame.to_pandas])
def test_reasons_show_durations(convert):
    long = pl.when(pl.int_range(pl.len()) == 17).then(pl.duration(days=40)).otherwise("took")
    found = odefs.detect(convert(with_times().with_columns(took=long)), **FAST)
    (reason, *_), *_ = found.reasons(17, k=1)
    assert (reason.column, reason.value, reason.unit) == ("took", 40 * 86_400, "duration")
    assert "took = 40 days, 0:00:00" in next(iter(found.top(1)["reasons"]))
    assert "40 days, 0:00:00" in found._repr_html_()


@pytest.mark.parametrize(
    ("convert", "library"),
    [(lambda frame: frame, pl), (pl.DataFrame.to_pandas, pd), (pl.DataFrame.to_arrow, pa)],
)
def test_explanations_become_frames_of_the_tables_library(convert, library):
    found = odefs.detect(convert(with_times()), **FAST)
    explained = found.explain([40, 17])
    frame = explained.to_frame()
    assert type(frame).__module__.split(".")[0] == library.__name__
    lines = pl.DataFrame(frame) if library is not pa else pl.from_arrow(frame)
    assert lines.columns == ["row", "column", "value", "contribution", "excess"]
    assert lines["row"].to_list() == [40] * 4 + [17] * 4
    sums = lines.group_by("row", maintain_order=True).agg(pl.col("contribution").sum())
    np.testing.assert_allclose(sums["contribution"], found.scores[[40, 17]], rtol=1e-5)
    assert lines["excess"].to_list()[:4] == sorted(lines["excess"].to_list()[:4], reverse=True)
    first = dict(zip(lines["column"][:4], lines["value"][:4], strict=True))
    assert (first["price"], first["day"], first["took"]) == ("70", "2048-07-06", "0:02:10")


def test_explanations_of_arrays_become_frames():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[7, 1] = 30
    X[8, 2] = np.nan
    explained = odefs.LeSiNN(random_state=0, missing="ignore").fit(X).explain(X[7:9])
    frame = explained.to_frame()
    assert frame["row"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["column"][0] == "x1"
    assert frame["value"][0] == "30"
    assert frame["value"].isna().sum() == 1


class Tensor:
    """An array of another library: no columns, but its data can be exchanged."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype=dtype)


def test_arrays_of_other_libraries_are_tables():
    X = np.random.default_rng(0).normal(size=(200, 3))
    found = odefs.detect(Tensor(X))
    np.testing.assert_array_equal(found.scores, odefs.detect(X).scores)
    np.testing.assert_array_equal(found.score(Tensor(X)), found.scores)


def test_a_misspelt_option_is_refused_under_its_name():
    with pytest.raises(TypeError, match=r"detect\(\).*contaminaton"):
        odefs.detect(np.zeros((50, 2)), contaminaton=0.1)


@pytest.mark.parametrize(
    "rules", [{"threshold": 1.0, "flag": 2}, {"max_false_flags": 1, "contamination": 0.1}]
)
def test_contradicting_rules_are_refused_before_the_fit(rules):
    class Unfit(odefs.ODEFS):
        def fit(self, X, y=None, **known):
            raise AssertionError("the model was fitted")

    with pytest.raises(TableError, match="contradict"):
        odefs.detect(np.zeros((50, 2)), model=Unfit(), **rules)


def test_columns_of_the_same_name_are_named():
    frame = pd.DataFrame(np.zeros((50, 3)), columns=["a", "b", "a"])
    for refuse in (odefs.ODEFS().fit, odefs.detect, odefs.TableEncoder().fit):
        with pytest.raises(ValueError, match="called 'a'"):
            refuse(frame)
