"""From Arrow batch to Arrow batch, and folders of parquet files, with a real SIGKILL in between."""

import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odefs
from command import ODEFS as COMMAND
from command import messages
from command import odefs as run
from odefs.engines.stream import RowBlocks
from odefs.exceptions import TableError
from odefs.tables.messages import outputs_without_input, unreadable_column


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 2000
    amount = rng.normal(100, 10, n)
    amount[::200] += 90
    return pl.DataFrame(
        {
            "key": [f"k{i:05}" for i in range(n)],
            "shop": rng.choice(["a", "b", "c"], n),
            "amount": amount,
            "count": rng.integers(0, 9, n),
        }
    ).with_columns(
        pl.when(pl.col("count") == 3).then(None).otherwise(pl.col("count")).alias("count")
    )


@pytest.fixture(scope="module")
def saved(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.odefs"
    found = odefs.detect(frame, id="key")
    found.save(path)
    return path, found


def test_batches_of_any_size_get_the_scores_of_the_table(frame, saved):
    path, found = saved
    for size in (1, 64, 2000):
        batches = (
            frame.head(640 if size < 2000 else 2000)
            .to_arrow()
            .combine_chunks()
            .to_batches(max_chunksize=size)
        )
        scored = pa.Table.from_batches(odefs.score_batches(path, batches, id="key"))
        n = scored.num_rows
        assert scored.column_names == ["key", "score", "percentile", "agreement", "outlier"]
        assert scored["key"].to_pylist() == frame["key"].to_list()[:n]
        np.testing.assert_allclose(scored["score"].to_numpy(), found.scores[:n], rtol=1e-6)
        assert np.array_equal(scored["outlier"].to_numpy(), found.is_outlier[:n])


def scores_in_batches(model, table, size):
    batches = odefs.score_batches(model, table.to_batches(max_chunksize=size), id="key")
    return pa.Table.from_batches(batches)["score"].to_pylist()


def test_text_is_read_the_same_wherever_batches_are_cut(tmp_path):
    rng = np.random.default_rng(0)
    n = 300
    days = pl.Series(rng.integers(19_000, 19_300, n)).cast(pl.Date)
    frame = pl.DataFrame(
        {
            "key": np.arange(n),
            "price": [f"{value:.2f} EUR" for value in rng.normal(50, 5, n)],
            "amount": rng.integers(100, 3000, n).astype(float),
            "day": days,
            "hour": (pl.Series(rng.integers(8, 18, n)) * 3_600_000_000_000).cast(pl.Time),
        }
    )
    model = tmp_path / "m.odefs"
    odefs.detect(frame, id="key").save(model)
    table = pa.table(
        {
            "key": [1, 2, 3, 4],
            "price": ["51.20 EUR", "49.00 EUR", "on request", "n/a"],
            "amount": ["952", "1.032", "unknown", "1032"],
            "day": ["2022-05-01", "2022-06-01", "03/04/2022", "13/04/2022"],
            "hour": ["12:00", "12:00:00", "noon", "23:00"],
        }
    )
    with pytest.warns(odefs.exceptions.UnreadableColumnWarning, match="column 'price'"):
        alone = scores_in_batches(model, table, 1)
    for size in (2, 3, 4):
        assert scores_in_batches(model, table, size) == alone
    # Read plainly if training had no text: 1.032 is slightly more than one, and other text is
    # missing.
    typed = pa.table(
        {
            "key": [1, 2, 3, 4],
            "price": [51.2, 49.0, None, None],
            "amount": [952, 1.032, None, 1032],
            "day": pl.Series(["2022-05-01", "2022-06-01", None, None]).str.to_date().to_arrow(),
            "hour": pl.Series(["12:00:00", "12:00:00", None, "23:00:00"]).str.to_time().to_arrow(),
        }
    )
    assert scores_in_batches(model, typed, 4) == alone


def test_models_of_arrays(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    batch = pa.RecordBatch.from_pydict(
        {"a": X[:, 0], "i": np.arange(500), "b": X[:, 1], "c": X[:, 2]}
    )
    model = odefs.ODEFS(random_state=0).fit(X)
    (scored,) = odefs.score_batches(model, [batch], id=["i"], threshold=1.2)
    assert np.array_equal(scored.column("score").to_numpy(), model.outlier_scores_)
    assert np.array_equal(
        scored.column("outlier").to_numpy(zero_copy_only=False), model.outlier_scores_ > 1.2
    )
    # Columns are found by name where the model knows names, in whatever order they come.
    named = odefs.ODEFS(random_state=0).fit(
        pl.DataFrame({"c": X[:, 2], "a": X[:, 0], "b": X[:, 1]}).to_pandas()
    )
    (scored,) = odefs.score_batches(named, [batch])
    assert np.array_equal(scored.column("score").to_numpy(), named.outlier_scores_)
    with pytest.raises(ValueError, match="lacks column 'c'"):
        next(odefs.score_batches(named, [batch.drop_columns(["c"])]))
    with pytest.raises(TypeError, match="record batches, and it gave Table"):
        list(odefs.score_batches(model, [pa.Table.from_batches([batch])]))
    twice = pa.RecordBatch.from_arrays([batch.column(0)] * 3, names=["a", "a", "c"])
    with pytest.raises(ValueError, match="two columns of the batch are called 'a'"):
        list(odefs.score_batches(model, [twice]))
    with pytest.raises(ValueError, match="4 features"):
        next(odefs.score_batches(model, [batch]))
    with pytest.raises(ValueError, match="contains NaN"):
        next(
            odefs.score_batches(
                model, [pa.RecordBatch.from_pydict({"a": [None], "b": [1.0], "c": [1.0]})]
            )
        )
    assert next(odefs.score_batches(named, [batch.slice(0, 0)])).num_rows == 0


def test_a_table_is_its_batches(frame, saved):
    path, found = saved
    table = frame.to_arrow().slice(0, 50)
    whole = pa.Table.from_batches(odefs.score_batches(path, table, id="key"))
    np.testing.assert_allclose(whole["score"].to_numpy(), found.scores[:50], rtol=1e-6)
    (one,) = odefs.score_batches(path, table.combine_chunks().to_batches()[0], id="key")
    assert one.column("score").to_pylist() == whole["score"].to_pylist()
    read = pa.Table.from_batches(odefs.score_batches(path, table.to_reader(20), id="key"))
    assert read.equals(whole)


@pytest.mark.parametrize("given", ["table", "reader"])
def test_no_rows_give_a_batch_with_all_columns(given, frame, saved):
    path, _ = saved
    empty = pa.Table.from_batches([], schema=frame.to_arrow().schema)
    rows = empty if given == "table" else pa.RecordBatchReader.from_batches(empty.schema, [])
    (none,) = odefs.score_batches(path, rows, id="key")
    assert (none.num_rows, none.schema.names) == (
        0,
        ["key", "score", "percentile", "agreement", "outlier"],
    )


@pytest.mark.parametrize("name", ["score", "percentile", "agreement", "outlier"])
def test_ids_that_are_called_as_results_are_refused(name, frame, saved, tmp_path):
    path, _ = saved
    named = frame.rename({"key": name})
    with pytest.raises(TableError, match=f"the id column '{name}' is called as a result is"):
        next(odefs.score_batches(path, iter([]), id=name))
    write_parts(named, tmp_path / "in", 2)
    done = run("score", path, "in", "-o", "out", "--id", name, cwd=tmp_path)
    assert done.returncode == 1
    assert f"the id column '{name}' is called as a result is" in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_ids_that_would_be_ambiguous_are_refused(frame, saved):
    path, _ = saved
    batch = frame.head(5).to_arrow().combine_chunks().to_batches()[0]
    with pytest.raises(TableError, match="the id column 'key' is named twice"):
        next(odefs.score_batches(path, [batch], id=["key", "shop", "key"]))
    double = pa.RecordBatch.from_arrays(
        [*batch.columns, batch.column(2)], names=[*batch.schema.names, "key"]
    )
    with pytest.raises(TableError, match="two columns of the batch are called 'key'"):
        next(odefs.score_batches(path, [double], id="key"))


def write_parts(frame, folder, n=4):
    folder.mkdir()
    size = len(frame) // n
    for part in range(n):
        frame.slice(part * size, size).write_parquet(folder / f"part-{part}.parquet")


def test_a_folder_becomes_a_folder(frame, saved, tmp_path):
    path, found = saved
    write_parts(frame, tmp_path / "in")
    done = run("score", path, "in", "-o", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "schema_version": 2,
        "written": 4,
        "skipped": 0,
        "rows": 2000,
        "flagged": int(found.is_outlier.sum()),
        "flagged_in_training": found.is_outlier.mean(),
        "without_input": [],
        "max_flagged": None,
    }
    out = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert out["key"].to_list() == frame["key"].to_list()
    np.testing.assert_allclose(out["score"].to_numpy(), found.scores, rtol=1e-6)
    assert np.array_equal(out["outlier"].to_numpy(), found.is_outlier)
    # Finished ones are skipped, missing ones are written again.
    before = (tmp_path / "out" / "part-0.parquet").stat().st_mtime_ns
    (tmp_path / "out" / "part-2.parquet").unlink()
    done = run("score", path, "in", "-o", "out", cwd=tmp_path)
    assert "1 file written, 3 already there" in done.stdout
    assert (tmp_path / "out" / "part-0.parquet").stat().st_mtime_ns == before
    # So is one whose input was replaced: here by the rows of another.
    shutil.copyfile(tmp_path / "in" / "part-1.parquet", tmp_path / "in" / "part-3.parquet")
    done = run("score", path, "in", "-o", "out", cwd=tmp_path)
    assert "1 file written, 3 already there" in done.stdout
    first, last = (pl.read_parquet(tmp_path / "out" / f"part-{part}.parquet") for part in (1, 3))
    assert first.equals(last)
    assert (
        run(
            "score", path, "in", "-o", "out", "--force", "--max-flagged", "0", cwd=tmp_path
        ).returncode
        == 3
    )
    # An output whose input is gone stays, does not count, and is named.
    (tmp_path / "in" / "part-0.parquet").unlink()
    done = run("score", path, "in", "-o", "out", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["without_input"] == ["part-0.parquet"]
    assert json.loads(done.stdout)["rows"] == 1500
    assert outputs_without_input("out", ["part-0.parquet"]) in done.stderr
    assert (tmp_path / "out" / "part-0.parquet").exists()


@pytest.mark.parametrize(
    "option",
    [
        ("--reasons", "all"),
        *(
            pytest.param(option, marks=pytest.mark.slow)
            for option in [("--delimiter", ";"), ("--top", "3"), ("--with-data",)]
        ),
    ],
)
def test_a_folder_takes_no_options_of_single_tables(option, frame, saved, tmp_path):
    path, _ = saved
    write_parts(frame, tmp_path / "in", 1)
    done = run("score", path, "in", "-o", "out", *option, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option[0]} is for single tables" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_folder_of_folders_is_told_how_to_be_named(frame, saved, tmp_path):
    path, _ = saved
    (tmp_path / "in" / "year=2024").mkdir(parents=True)
    frame.write_parquet(tmp_path / "in" / "year=2024" / "a.parquet")
    ways_out = {
        "score": "score these folders one by one",
        "detect": "name the files, as 'in/*/*.parquet'",
    }
    for command in (("score", path, "in", "-o", "out"), ("detect", "in")):
        done = run(*command, cwd=tmp_path)
        assert done.returncode == 1
        assert f"only in folders inside it: {ways_out[command[0]]}" in done.stderr
    done = run("score", path, "in/*/*.parquet", "-o", "scores.parquet", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(tmp_path / "scores.parquet").height == 2000
    with pytest.raises(ValueError, match="only in folders inside it"):
        RowBlocks.from_parquet(tmp_path / "in")
    blocks = RowBlocks.from_parquet(str(tmp_path / "in" / "*" / "*.parquet"), columns=["amount"])
    assert sum(len(block) for block in blocks.read()) == 2000


@pytest.mark.slow
def test_outputs_that_are_there_count_and_must_be_of_the_same_settings(frame, saved, tmp_path):
    path, found = saved
    write_parts(frame, tmp_path / "in", 2)
    common = ("score", path, "in", "-o", "out")
    assert run(*common, "--max-flagged", "0", cwd=tmp_path).returncode == 3
    again = run(*common, "--max-flagged", "0", "--json", cwd=tmp_path)
    assert again.returncode == 3, "a second run finds the same"
    told = {
        "written": 0,
        "skipped": 2,
        "rows": 2000,
        "flagged": int(found.is_outlier.sum()),
        "without_input": [],
    }
    assert told.items() <= json.loads(again.stdout).items()
    other = tmp_path / "other.odefs"
    odefs.detect(frame.head(1000), id="key").save(other)
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    # A missing output is not made either: nothing of two kinds in one folder.
    (tmp_path / "out" / "part-0.parquet").unlink()
    for changed, says in (
        (("score", other, "in", "-o", "out"), "another model"),
        ((*common, "--threshold", "0.5"), "another threshold"),
        ((*common, "--id", "shop"), "other id columns"),
    ):
        done = run(*changed, cwd=tmp_path)
        assert done.returncode == 1
        assert f"part-1.parquet: the output already exists and was made with {says}" in done.stderr
        assert "--force" in done.stderr
        assert len(messages(done)) == 1
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["part-1.parquet"]
    assert (tmp_path / "out" / "part-1.parquet").read_bytes() == before["part-1.parquet"]
    # As an earlier version wrote it.
    pl.read_parquet(tmp_path / "out" / "part-1.parquet").write_parquet(
        tmp_path / "out" / "part-1.parquet"
    )
    done = run(*common, cwd=tmp_path)
    assert done.returncode == 1
    assert "does not record its model" in done.stderr
    done = run(*common, "--threshold", "0.5", "--force", cwd=tmp_path)
    assert "2 files written" in done.stdout, done.stderr
    assert "2 already there" in run(*common, "--threshold", "0.5", cwd=tmp_path).stdout


def test_a_column_that_cannot_be_read_is_told(frame, saved, tmp_path):
    path, _ = saved
    write_parts(frame.with_columns(amount=pl.lit("none of it")), tmp_path / "in", 2)
    done = run("score", path, "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = messages(done)
    assert line == f"odefs: {unreadable_column('amount', 'number')}"


@pytest.mark.slow
def test_what_a_folder_refuses(frame, saved, tmp_path):
    path, _ = saved
    write_parts(frame, tmp_path / "in", 2)
    done = run("score", path, "in", "-o", "in", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("odefs: in: ")
    assert run("score", path, "in", "-o", "out", "--flag", "3", cwd=tmp_path).returncode == 2
    frame.drop("amount").write_parquet(tmp_path / "in" / "part-1.parquet")
    done = run("score", path, "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    held = ", ".join(frame.drop("amount").columns)
    assert f"part-1.parquet: the file lacks column 'amount'; its columns are {held}." in done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["part-0.parquet"]
    before = (tmp_path / "in" / "part-0.parquet").read_bytes()
    (tmp_path / "out" / "part-0.parquet").unlink()
    (tmp_path / "out" / "part-0.parquet").symlink_to(tmp_path / "in" / "part-0.parquet")
    done = run("score", path, "in", "-o", "out", "--force", cwd=tmp_path)
    assert done.returncode == 1
    assert "leads to a file that is to be scored" in done.stderr
    assert (tmp_path / "in" / "part-0.parquet").read_bytes() == before


@pytest.mark.slow
def test_killed_and_started_again(frame, saved, tmp_path):
    """SIGKILL while a partition is written: existing files are complete, and a new run resumes."""
    path, found = saved
    many = pl.concat([frame] * 120)
    (tmp_path / "in").mkdir()
    frame.write_parquet(tmp_path / "in" / "a.parquet")
    many.write_parquet(tmp_path / "in" / "b.parquet")
    frame.write_parquet(tmp_path / "in" / "c.parquet")
    line = [str(part) for part in (COMMAND, "score", path, "in", "-o", "out", "--jobs", "1")]
    process = subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list((tmp_path / "out").glob(".b.parquet.*.part")):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    names = {p.name for p in (tmp_path / "out").glob("*.parquet")}
    assert names == {"a.parquet"}
    whole = (tmp_path / "out" / "a.parquet").read_bytes()
    done = run("score", path, "in", "-o", "out", cwd=tmp_path)
    assert "2 files written, 1 already there" in done.stdout, done.stderr
    assert (tmp_path / "out" / "a.parquet").read_bytes() == whole
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "a.parquet",
        "b.parquet",
        "c.parquet",
    ]
    assert pq.read_metadata(tmp_path / "out" / "b.parquet").num_rows == len(many)
    scores = pl.read_parquet(tmp_path / "out" / "b.parquet")["score"].to_numpy()
    np.testing.assert_allclose(scores, np.tile(found.scores, 120), rtol=1e-6)
