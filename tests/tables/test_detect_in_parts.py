"""``odefs detect`` on files read in parts: the same outliers as in memory."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odefs
from command import messages, read
from command import odefs as run
from odefs.cli.run import labels_of
from odefs.exceptions import TableError
from odefs.system.memory import BASELINE
from odefs.tables import table as tables
from odefs.tables.detect import detect_table
from odefs.tables.encoder import learning
from odefs.tables.readers.memory_estimate import bytes_in_memory, fits
from odefs.tables.records.notes import Exclusion
from odefs.tables.results.hold_rows import draw_flagged, top_rows
from odefs.tables.table import ParquetTable


def make_frame(n=6000):
    rng = np.random.default_rng(0)
    amount = rng.normal(100, 10, n)
    amount[::400] += 90
    frame = pl.DataFrame(
        {
            "position": np.arange(n) + 1,
            "key": [f"k{i:06}" for i in range(n)],
            "shop": rng.choice(["a", "b", "c", "NA"], n),
            "amount": amount,
            "count": rng.integers(0, 9, n),
            "flag": np.arange(n) == 4321,
            "day": pl.Series(rng.integers(0, 300, n)).cast(pl.Date),
            "noise": rng.normal(size=n).astype(np.float32),
        }
    )
    return frame.with_columns(
        pl.when(pl.col("count") == 3).then(None).otherwise(pl.col("count")).alias("count")
    )


@pytest.fixture(scope="module")
def frame():
    return make_frame()


def test_what_fits(frame, tmp_path, monkeypatch):
    frame.write_parquet(tmp_path / "t.parquet")
    assert bytes_in_memory(tmp_path / "t.parquet") > frame.estimated_size()
    monkeypatch.setenv("ODEFS_MEMORY", "10GB")
    assert fits(tmp_path / "t.parquet")
    monkeypatch.setenv("ODEFS_MEMORY", "100kB")
    assert not fits(tmp_path / "t.parquet")
    assert not fits(tmp_path)
    assert fits(tmp_path / "nothing.parquet")
    assert fits("-")


def flags(n=200_000):
    rng = np.random.default_rng(0)
    return pl.DataFrame({f"f{k}": rng.random(n) < 0.01 for k in range(8)})


@pytest.mark.parametrize(
    "file", ["t.parquet", "t.csv", "t.csv.gz", "t.ndjson", "t.arrow", "packed.arrow"]
)
def test_cells_count_however_small_they_are_in_a_file(file, tmp_path, monkeypatch):
    """A flag is a bit in parquet, two bytes in csv, and 8 bytes, twice, in a run."""
    frame, path = flags(), tmp_path / file
    if file.endswith("arrow"):
        frame.write_ipc(path, compression="zstd" if file == "packed.arrow" else "uncompressed")
    elif file == "t.csv.gz":
        path.write_bytes(gzip.compress(frame.cast(pl.Int8).write_csv().encode()))
    else:
        frame = frame.cast(pl.Int8) if file == "t.csv" else frame
        getattr(frame, f"write_{path.suffix[1:]}")(path)
    cells = frame.height * frame.width
    assert 16 * cells < bytes_in_memory(path) < 90 * cells
    monkeypatch.setenv("ODEFS_MEMORY", str(BASELINE + 16 * cells))
    assert not fits(path)
    monkeypatch.setenv("ODEFS_MEMORY", str(BASELINE + 90 * cells))
    assert fits(path)


@pytest.mark.parametrize("file", ["t.csv", "t.ndjson"])
def test_cells_of_text_count_as_in_parquet(file, tmp_path):
    """Text is encoded into a column for each of its values, whatever the file it comes from."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"t{k}": rng.choice(["ab", "c d", "\u00e4"], 20_000) for k in range(5)})
    numbers = pl.DataFrame({f"t{k}": rng.normal(size=20_000) * 1e-9 for k in range(5)})
    for table, name in ((frame, "t"), (numbers, "n")):
        table.write_parquet(tmp_path / f"{name}.parquet")
        getattr(table, f"write_{file[2:]}")(tmp_path / file.replace("t.", f"{name}.", 1))
    assert bytes_in_memory(tmp_path / file) > bytes_in_memory(tmp_path / "t.parquet")
    assert (
        bytes_in_memory(tmp_path / file.replace("t.", "n.", 1))
        < bytes_in_memory(tmp_path / file) / 1.5
    )


def test_keys_count_however_they_are_spaced(tmp_path):
    close = "".join(f'{{"a":{k},"b":2,"c":3}}\n' for k in range(5000))
    (tmp_path / "close.ndjson").write_text(close)
    (tmp_path / "wide.ndjson").write_text(close.replace(":", " : "))
    assert bytes_in_memory(tmp_path / "wide.ndjson") > bytes_in_memory(tmp_path / "close.ndjson")


def test_a_delimiter_that_is_named_counts(tmp_path):
    flags(1000).cast(pl.Int8).write_csv(tmp_path / "t.txt", separator="#")
    assert bytes_in_memory(tmp_path / "t.txt", "#") > 7 * bytes_in_memory(tmp_path / "t.txt") / 2


def test_a_packed_file_may_begin_with_nothing(tmp_path):
    text = gzip.compress(b"1,2,3\n" * 50_000)
    (tmp_path / "a.csv.gz").write_bytes(text)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"") + text)
    assert (
        bytes_in_memory(tmp_path / "b.csv.gz")
        >= bytes_in_memory(tmp_path / "a.csv.gz")
        > 150_000 * 24
    )


@pytest.mark.slow
def test_sheets_that_are_too_large_are_refused(tmp_path):
    flags(3000).cast(pl.Int8).write_excel(tmp_path / "t.xlsx")
    assert bytes_in_memory(tmp_path / "t.xlsx") > 40 * 3000 * 8
    done = run("detect", "t.xlsx", cwd=tmp_path, ODEFS_MEMORY="261MB")
    assert done.returncode == 1
    assert len(messages(done)) == 1
    assert "t.xlsx: this run needs at least" in done.stderr
    done = run("detect", "t.xlsx", cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert done.returncode == 1
    assert len(messages(done)) == 1
    assert "t.xlsx: the file is too large to be read at once" in done.stderr
    done = run("detect", "t.xlsx", "--no-report", cwd=tmp_path, ODEFS_MEMORY="500MB")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "file", ["t.xlsx", "t.xls", "t.arrow", "t.parquet", "t.csv.gz", "t", "t.csv"]
)
def test_sizes_leave_broken_files_to_the_reader(file, tmp_path):
    (tmp_path / file).write_bytes(b"\x1f\x8bnothing" if file == "t.csv.gz" else b"")
    assert fits(tmp_path / file)
    (tmp_path / file).chmod(0)
    assert fits(tmp_path / file)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv", "folder"])
def test_the_command_finds_the_same_either_way(frame, kind, tmp_path):
    file = f"t.{kind}"
    if kind == "parquet":
        frame.write_parquet(tmp_path / file, row_group_size=1000)
    elif kind == "csv":
        frame.write_csv(tmp_path / file)
    else:
        (tmp_path / file).mkdir()
        for part in range(3):
            frame.slice(part * 2000, 2000).write_parquet(tmp_path / file / f"{part}.parquet")
    common = ("detect", file, "--id", "key")
    here = run(*common, "-o", "here.csv", "--no-report", "--reasons", "none", cwd=tmp_path)
    large = (*common, "-o", "there.csv", "--save", "m.odefs")
    there = run(*large, cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert "read in parts" in there.stdout
    assert f"Left out: position ({Exclusion('row_counter')})" in there.stdout
    assert [page.name for page in tmp_path.glob("*.html")] == [
        f"{'t.folder' if kind == 'folder' else 't'}.outliers.html"
    ]
    a, b = read(tmp_path / "here.csv"), read(tmp_path / "there.csv")
    assert [row["key"] for row in a] == [row["key"] for row in b]
    np.testing.assert_allclose(
        [float(r["score"]) for r in b], [float(r["score"]) for r in a], rtol=1e-6
    )
    assert [row["outlier"] for row in a] == [row["outlier"] for row in b]
    # The same rows with the same scores and reasons are shown.
    shown = [
        [line.split()[:3] for line in done.stdout.splitlines() if " k00" in line]
        for done in (here, there)
    ]
    assert len(shown[0]) == 10
    assert shown[0] == shown[1]
    if kind == "parquet":
        scores = next(
            odefs.score_batches(
                tmp_path / "m.odefs", frame.to_arrow().combine_chunks().to_batches()
            )
        )
        np.testing.assert_allclose(
            scores.column("score").to_numpy(), [float(r["score"]) for r in a], rtol=1e-6
        )


@pytest.mark.slow
def test_what_large_files_refuse(frame, tmp_path):
    frame.write_parquet(tmp_path / "t.parquet")
    little = {"cwd": tmp_path, "ODEFS_IN_PARTS": "1"}
    done = run("detect", "t.parquet", "-o", "s.xlsx", **little)
    assert done.returncode == 1
    assert "an Excel sheet holds 1,048,576 rows" in done.stderr
    done = run("detect", "t.parquet", "--sheet", "first", **little)
    assert done.returncode == 1
    assert "--sheet is for Excel files" in done.stderr
    done = run("detect", "t.parquet", "--label", "count", **little)
    assert done.returncode == 1
    assert "labels must be 0" in done.stderr
    done = run("detect", "t.parquet", "--id", "nobody", **little)
    assert done.returncode == 1
    assert "there is no column 'nobody'" in done.stderr
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\n" * 15_000 + b"x,1,2\n")
    done = run("detect", "t.csv", **little)
    assert done.returncode == 1
    assert "line 15002 has 3 fields" in done.stderr
    assert run("detect", "t.parquet", cwd=tmp_path, ODEFS_MEMORY="much").returncode == 1


@pytest.mark.parametrize("in_memory", [True, False])
def test_labels_with_missing_cells_are_refused(in_memory, tmp_path):
    pl.DataFrame({"label": [0, 1, None]}).write_parquet(tmp_path / "t.parquet")
    table = ParquetTable((tmp_path / "t.parquet",))
    with pytest.raises(TableError, match="labels must be 0"):
        labels_of(table.load() if in_memory else table, "label")


def test_json_and_parquet_output(frame, tmp_path):
    frame.write_parquet(tmp_path / "t.parquet")
    done = run(
        "detect",
        "t.parquet",
        "--json",
        "-o",
        "s.parquet",
        "--flag",
        "7",
        cwd=tmp_path,
        ODEFS_IN_PARTS="1",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rows"] == 6000
    scores = pl.read_parquet(tmp_path / "s.parquet")
    assert scores.columns == [
        "row",
        "score",
        "rank",
        "percentile",
        "agreement",
        "outlier",
        "kind",
        "reasons",
        "checks",
    ]
    assert scores["rank"].to_list() == scores["score"].rank("min", descending=True).to_list()
    assert (scores["reasons"].is_not_null() == scores["outlier"]).all()
    assert scores["outlier"].sum() == told["flagged"] == 7
    assert scores["row"].to_list() == list(range(1, 6001))


def test_the_highest_scores(monkeypatch):
    from odefs.kernels import row_reductions

    monkeypatch.setattr(row_reductions, "CHUNK_ROWS", 10)
    scores = np.round(np.random.default_rng(0).random(95), 1)
    assert np.array_equal(top_rows(scores, 12), np.argsort(-scores, kind="stable")[:12])
    assert np.array_equal(draw_flagged(scores > 0.5, 1000, 0), np.flatnonzero(scores > 0.5))
    some = draw_flagged(scores > 0.5, 9, 0)
    assert len(set(some.tolist())) == 9
    assert (scores[some] > 0.5).all()
    assert draw_flagged(scores > 2, 9, 0).size == 0


@pytest.mark.parametrize("in_memory", [True, False])
def test_text_among_numbers(in_memory, tmp_path, monkeypatch):
    """Words at the end are missing numbers, even if a batch has little else; notes name rows."""
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 2000)
    monkeypatch.setattr(tables, "rows_at_once", lambda width: 1024)
    rng = np.random.default_rng(0)
    n, words = 8192, 700
    prices = [f"$ {value:.2f}" for value in rng.normal(100, 10, n - words)] + ["unknown"] * words
    pl.DataFrame({"price": prices, "noise": rng.normal(size=n)}).write_parquet(
        tmp_path / "t.parquet"
    )
    model = odefs.ODEFS(random_state=0, n_estimators=2, scaling="none")
    table = ParquetTable((tmp_path / "t.parquet",))
    found = detect_table(table.load() if in_memory else table, model, odefs.TableEncoder())
    assert [spec.kind for spec in found.encoder.specs_] == ["number", "number"]
    (note,) = [note for note in found.notes if note.kind == "unreadable_cells"]
    assert prices[note.row] == note.value == "unknown"
    assert note.is_sampled
    assert found.n_rows == n


@pytest.mark.slow
def test_categories_of_files_that_know_different_ones(tmp_path):
    """pandas stores categories with 8-bit codes if possible; the next file may need more."""
    rng = np.random.default_rng(0)
    (tmp_path / "t").mkdir()
    for part, shops in enumerate((np.arange(100), np.arange(300), np.arange(100, 200))):
        cells = pd.Categorical([f"s{shop}" for shop in rng.choice(shops, 1000)])
        pd.DataFrame({"a": rng.normal(size=1000), "shop": cells}).to_parquet(
            tmp_path / "t" / f"{part}.parquet"
        )
    common = ("detect", "t", "--reasons", "none", "--no-report", "-o")
    here, there = (
        run(*common, "here.csv", cwd=tmp_path),
        run(*common, "there.csv", cwd=tmp_path, ODEFS_IN_PARTS="1"),
    )
    assert here.returncode == there.returncode == 0, there.stderr
    assert "read in parts" in there.stdout
    a, b = read(tmp_path / "here.csv"), read(tmp_path / "there.csv")
    np.testing.assert_allclose(
        [float(r["score"]) for r in b], [float(r["score"]) for r in a], rtol=1e-6
    )


def odd_columns(n, rng):
    """Columns of types without an order in pyarrow, as far as the installed version has them."""
    yield "shop", pa.array(rng.choice(["x", "y", "z"], n).tolist(), pa.string_view())
    yield "raw", pa.array([b"%d" % i for i in range(n)], pa.binary_view())
    if hasattr(pa, "uuid"):
        sixteen = pa.array([i.to_bytes(16, "big") for i in range(n)], pa.binary(16))
        yield "who", pa.ExtensionArray.from_storage(pa.uuid(), sixteen)
    if hasattr(pa, "json_"):
        yield (
            "told",
            pa.ExtensionArray.from_storage(pa.json_(), pa.array([f"[{i}]" for i in range(n)])),
        )


@pytest.mark.parametrize("in_memory", [True, False])
def test_durations_and_types_without_an_order(in_memory, tmp_path, monkeypatch):
    """What is read of a column, and what is left out, beyond the rows that are learned from."""
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 300)
    rng = np.random.default_rng(0)
    n = 2000
    seconds = rng.integers(0, 3600, n)
    seconds[77] = 10**6
    rare = pa.array([None if i % 9 else int(i == 99) for i in range(n)], pa.duration("us"))
    columns = {
        "a": pa.array(rng.normal(size=n)),
        "took": pa.array(seconds, pa.duration("s")),
        "rare": rare,
    }
    for name, column in odd_columns(n, rng):
        try:
            pq.write_table(pa.table({name: column}), tmp_path / "one.parquet")
        except pa.ArrowNotImplementedError:
            continue
        columns[name] = column
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = ParquetTable((tmp_path / "t.parquet",))
    exact = odefs.TableEncoder().fit(table.load().frame)
    table = table.load() if in_memory else table
    sampled = odefs.TableEncoder()
    learning.learn_encoder(sampled, table, table.names, seed=0)
    assert (
        sampled.columns
        == exact.columns
        == [name for name in ("a", "took", "shop") if name in columns]
    )
    assert (
        sampled.left_out_.keys() == exact.left_out_.keys() == columns.keys() - {"a", "took", "shop"}
    )
    for one, other in zip(sampled.specs_, exact.specs_, strict=True):
        assert (one.kind, one.low, one.high, one.levels) == (
            other.kind,
            other.low,
            other.high,
            other.levels,
        )
    extremes = learning.find_extremes(table, ["took", "rare"])
    assert extremes["took"].rows == {"low": int(seconds.argmin()), "high": 77}
    assert (extremes["rare"].rows["high"], extremes["rare"].missing) == (99, rare.null_count)


def test_times_that_python_cannot_hold(tmp_path):
    stamps = pa.array([5, None, 2**50, -(2**50)], pa.timestamp("s"))
    pq.write_table(pa.table({"far": stamps}), tmp_path / "t.parquet")
    far = learning.find_extremes(ParquetTable((tmp_path / "t.parquet",)), ["far"])["far"]
    assert (far.rows, far.missing) == ({"low": 3, "high": 2}, 1)


@pytest.mark.slow
def test_times_that_are_categories_have_one_name_either_way(tmp_path):
    rng = np.random.default_rng(0)
    when = pl.Series(1_900_000_000 // 86_400 * 86_400 + rng.integers(0, 3, 3000) * 86_400)
    # One row alone says that these are no dates.
    when[2900] = when[2900] + 5400
    stamps = when.cast(pl.Int64) * 1_000_000
    frame = pl.DataFrame({"when": stamps.cast(pl.Datetime("us")), "x": rng.normal(size=3000)})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=500)
    found = []
    for in_parts in ("", "1"):
        command = (
            "detect",
            "t.parquet",
            "--category",
            "when",
            "--reasons",
            "all",
            "--no-report",
            "-o",
            f"{in_parts}.csv",
        )
        done = run(*command, cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
        assert (done.returncode, "read in parts" in done.stdout) == (0, in_parts == "1"), (
            done.stderr
        )
        found.append(read(tmp_path / f"{in_parts}.csv"))
    assert "when = 2030-03-19 01:30:00" in found[0][2900]["reasons"]
    assert any("when = 2030-03-17 00:00:00" in row["reasons"] for row in found[0])
    assert [row["reasons"] for row in found[0]] == [row["reasons"] for row in found[1]]
