"""``odefs score``, ``explain`` and ``report`` with a model that ``odefs detect --save`` wrote."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import odefs as library
from command import odefs, read
from odefs.datasets.transactions import transactions_path
from odefs.tables.messages import drift
from odefs.tables.records.drift import ColumnDrift

TABLE = transactions_path()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    done = odefs(
        "detect",
        TABLE,
        "--id",
        "transaction",
        "--save",
        "m.odefs",
        "--no-report",
        "-o",
        "s.csv",
        "--no-checks",  # odefs score checks no values
        cwd=folder,
    )
    assert "It contains rows of the training table" in done.stdout
    return folder


def test_scores_of_the_training_table_are_those_of_training(saved):
    done = odefs("score", "m.odefs", TABLE, "-o", "again.csv", "--force", cwd=saved)
    assert done.returncode == 0, done.stderr
    flagged = sum(row["outlier"] == "yes" for row in read(saved / "s.csv")) / 800
    assert f"Flagged: {flagged:.2%} of the rows, {flagged:.2%} in training" in done.stdout
    assert "No column differs from training" in done.stdout
    assert (saved / "again.csv").read_bytes() == (saved / "s.csv").read_bytes()


def test_the_model_loads_in_python_and_takes_the_raw_frame(saved):
    pipeline = library.load(saved / "m.odefs")
    frame = pl.read_csv(TABLE)
    scores = [float(row["score"]) for row in read(saved / "s.csv")]
    assert -pipeline.score_samples(frame) == pytest.approx(scores, rel=1e-12)
    assert -pipeline.score_samples(frame.to_pandas()) == pytest.approx(scores, rel=1e-12)
    assert np.asarray(library.explain(pipeline, frame)).sum(axis=1) == pytest.approx(scores)


@pytest.mark.parametrize(("share", "said"), [(0.00002, "under 0.01%"), (0.0123, "1.23%")])
def test_a_share_that_is_not_zero_is_not_said_to_be(share, said):
    entry = ColumnDrift("a", share, [], share, 0.0, 0.0)
    assert drift(entry).count(said) == 2


def test_what_is_new_in_a_table_is_said(saved):
    frame = pl.read_csv(TABLE).with_columns(
        amount=pl.col("amount") * 100,
        country=pl.when(pl.int_range(pl.len()) < 80).then(pl.lit("XX")).otherwise("country"),
        items=pl.when(pl.int_range(pl.len()) < 400).then(None).otherwise("items"),
    )
    frame.write_csv(saved / "new.csv")
    done = odefs("score", "m.odefs", "new.csv", cwd=saved)
    assert "country: 10.00% of the rows with categories not seen in training (XX)" in done.stdout
    assert "items: 50.00% missing, 0.00% in training" in done.stdout
    assert "amount: " in done.stdout
    assert "of the values outside the training range" in done.stdout
    drift = json.loads(odefs("score", "m.odefs", "new.csv", "--json", cwd=saved).stdout)["drift"]
    assert {entry["column"] for entry in drift["columns"]} == {"amount", "country", "items"}


@pytest.mark.slow
def test_thresholds_need_no_new_fit_and_too_many_flags_exit_3(saved):
    ninth = sorted((float(row["score"]) for row in read(saved / "s.csv")), reverse=True)[8]
    done = odefs("score", "m.odefs", TABLE, "--threshold", ninth, "--max-flagged", 0.005, cwd=saved)
    assert "8 rows stand out" in done.stdout
    assert done.returncode == 3
    assert "1.00% of the rows are flagged, more than the 0.50% allowed" in done.stderr
    assert (
        odefs("score", "m.odefs", TABLE, "--flag", 2, "--max-flagged", 0.005, cwd=saved).returncode
        == 0
    )
    assert (
        "80 rows stand out"
        in odefs("score", "m.odefs", TABLE, "--contamination", 0.1, cwd=saved).stdout
    )


@pytest.mark.slow
def test_rows_are_explained_by_name(saved):
    done = odefs("explain", "m.odefs", TABLE, "--rows", "T0422,T0058", cwd=saved)
    best = next(row for row in read(saved / "s.csv") if row["transaction"] == "T0422")
    assert (
        f"transaction T0422: score {float(best['score']):.2f}, rank {best['rank']} of 800, flagged"
        in done.stdout
    )
    assert "transaction T0058: " in done.stdout
    assert "of the training rows; similar training rows have " in done.stdout
    assert "% of the score" in done.stdout
    for absent in ("T9999", "T0422,58", "T0422,58-60"):
        done = odefs("explain", "m.odefs", TABLE, "--rows", absent, cwd=saved)
        assert done.returncode == 1
        assert f"no row has {absent.split(',')[-1]!r} in the column 'transaction'" in done.stderr
        assert "as in --rows T0001" in done.stderr
    command = ("explain", "m.odefs", TABLE, "--top", 2, "--json", "--hide", "distance_km")
    entries = json.loads(odefs(*command, cwd=saved).stdout)["rows"]
    assert [entry["rank"] for entry in entries] == [1, 2]
    assert entries[0]["reasons"][0]["column"] == "distance_km"
    assert entries[0]["reasons"][0]["value"] is None


@pytest.mark.slow
def test_ranges_are_ids_where_there_are_ids_and_numbers_where_there_are_none(tmp_path):
    ids = np.random.default_rng(0).permutation(np.arange(1, 101))
    values = np.random.default_rng(1).normal(size=(100, 2))
    frame = pl.DataFrame({"invoice": ids, "a": values[:, 0], "b": values[:, 1]})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")

    def named(model, file, rows, *more):
        done = odefs("explain", model, file, "--rows", rows, "--json", *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return [(entry["row"], entry["name"]) for entry in json.loads(done.stdout)["rows"]]

    odefs(
        "detect",
        "t.csv",
        "--id",
        "invoice",
        "--save",
        "id.odefs",
        "--no-report",
        "--quiet",
        cwd=tmp_path,
    )
    odefs(
        "detect",
        "t.csv",
        "--drop",
        "invoice",
        "--save",
        "no.odefs",
        "--no-report",
        "--quiet",
        cwd=tmp_path,
    )
    place = {int(name): row + 1 for row, name in enumerate(ids)}
    expected = [(place[7], "7"), *sorted((place[name], str(name)) for name in (20, 21, 22))]
    assert (
        named("id.odefs", "t.csv", "7,20-22")
        == named("id.odefs", "t.parquet", "7, 20-22")
        == expected
    )
    numbers = [(7, "7"), (20, "20"), (21, "21"), (22, "22")]
    assert (
        named("no.odefs", "t.csv", "7,20-22")
        == named("id.odefs", "t.csv", "7,20-22", "--hide", "invoice")
        == numbers
    )
    assert named("no.odefs", "t.csv", "2,1,1-2,2") == [(2, "2"), (1, "1")], "each row once"
    for model, absent in (
        ("id.odefs", "101"),
        ("id.odefs", "0-0"),
        ("no.odefs", "101"),
        ("no.odefs", "99-101"),
    ):
        done = odefs("explain", model, "t.csv", "--rows", f"20,{absent}", cwd=tmp_path)
        assert (done.returncode, repr(absent) in done.stderr, "--rows" in done.stderr) == (
            1,
            True,
            True,
        )


@pytest.mark.slow
def test_a_report_of_another_table(saved):
    for name in ("r.html", "r.md", "r.json"):
        done = odefs("report", "m.odefs", TABLE, "-o", name, "--force", cwd=saved)
        assert done.returncode == 0, done.stderr
        assert "T0422" in (saved / name).read_text()


@pytest.mark.slow
def test_models_that_cannot_be_used_are_told(saved, tmp_path):
    assert "there is no such model file" in odefs("score", "gone.odefs", TABLE, cwd=saved).stderr
    (tmp_path / "m.odefs").write_bytes((saved / "m.odefs").read_bytes()[:-9])
    done = odefs("score", "m.odefs", TABLE, cwd=tmp_path)
    assert done.returncode == 1
    assert "m.odefs cannot be loaded" in done.stderr
    library.LeSiNN().fit(np.random.default_rng(0).normal(size=(50, 3))).save(
        tmp_path / "array.odefs"
    )
    assert "fitted to an array" in odefs("score", "array.odefs", TABLE, cwd=tmp_path).stderr
    pl.read_csv(TABLE).drop("amount").write_csv(tmp_path / "t.csv")
    done = odefs("score", saved / "m.odefs", "t.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "t.csv: the table lacks column 'amount'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [library.LeSiNN(scaling="none", random_state=0), library.ODEFS(scaling="none", random_state=0)],
    ids=str,
)
def test_pipelines_that_python_saved_are_taken(model, tmp_path):
    frame = pl.DataFrame(
        {"shop": ["a", "b"] * 50, "price": [10.0 + i % 7 for i in range(99)] + [900.0]}
    )
    frame.write_csv(tmp_path / "t.csv")
    library.save(make_pipeline(library.TableEncoder(), model).fit(frame), tmp_path / "m.odefs")
    scored = odefs("score", "m.odefs", "t.csv", cwd=tmp_path)
    explained = odefs("explain", "m.odefs", "t.csv", "--rows", "100", cwd=tmp_path)
    for done in (scored, explained):
        assert (done.returncode, "price = 900" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"max_categories": np.int64(3)},
        {"mark_missing": np.True_},
        {"drop": {"note"}},
        {"drop": np.array(["note"])},
        {"na": [np.float64(-999)]},
    ],
    ids=str,
)
def test_settings_as_numpy_and_pandas_hand_them_over(settings, tmp_path):
    """A grid search puts NumPy's numbers in, and names of columns come in whatever holds them."""
    frame = pl.DataFrame(
        {
            "shop": ["a", "b"] * 50,
            "price": [float(i % 7) for i in range(100)],
            "note": ["x", "y"] * 50,
        }
    )
    pipeline = make_pipeline(library.TableEncoder(**settings), library.ODEFS(random_state=0)).fit(
        frame
    )
    library.save(pipeline, tmp_path / "m.odefs")
    loaded = library.load(tmp_path / "m.odefs")
    assert np.array_equal(loaded.score_samples(frame), pipeline.score_samples(frame))
    assert loaded[0].columns == pipeline[0].columns
