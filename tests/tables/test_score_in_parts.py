"""``odefs score`` on files read in parts: the same scores as in memory."""

import json
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import odefs
from command import messages
from command import odefs as run
from odefs.exceptions import TableError
from odefs.system.tempfiles import FileArray
from odefs.tables import drift
from odefs.tables import table as tables
from odefs.tables.detect import score_table
from odefs.tables.frames.arrow import floats_of
from odefs.tables.messages import sampled
from odefs.tables.table import ParquetTable, table_of

IN_PARTS = {"here": "", "there": "1"}


def make_frame(n, seed=0):
    rng = np.random.default_rng(seed)
    amount = rng.normal(100, 10, n)
    amount[::150] += 90
    return pl.DataFrame(
        {
            "key": [f"k{i:05}" for i in range(n)],
            "shop": rng.choice(["a", "b", "c", "NA"], n),
            "amount": amount,
            "count": pl.Series(rng.integers(0, 9, n)).replace(3, None),
            "flag": rng.random(n) < 0.05,
            "day": pl.Series(rng.integers(0, 300, n)).cast(pl.Date),
            "price": [f"$ {value:.2f}" for value in rng.normal(50, 5, n)],
            "weight": [f"{value:.1f} kg" for value in rng.normal(70, 8, n)],
        }
    )


def drifted(n):
    """Another table: larger amounts, a shop that training never saw, more counts missing."""
    return make_frame(n, seed=1).with_columns(
        pl.col("amount") * 1.2,
        pl.col("shop").replace({"a": "new"}),
        pl.when(pl.col("count") < 3).then(None).otherwise(pl.col("count")).alias("count"),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and other tables of one form: ``n`` has all rows, ``one`` a single one."""
    folder = tmp_path_factory.mktemp("score")
    make_frame(1500).write_parquet(folder / "t.parquet")
    done = run(
        "detect",
        "t.parquet",
        "--id",
        "key",
        "--save",
        "m.odefs",
        "--quiet",
        "--no-report",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    other = drifted(900)
    other.write_parquet(folder / "n.parquet", row_group_size=100)
    other.write_csv(folder / "n.csv")
    other.write_ndjson(folder / "n.ndjson")
    other.head(1).write_parquet(folder / "one.parquet")
    other.head(0).write_csv(folder / "none.csv")
    return folder


def both(folder, *arguments, model="m.odefs", **more):
    """The command in memory and in parts; ``{}`` in arguments becomes a separate name for each."""
    return [
        run(
            "score",
            model,
            *(part.replace("{}", name) for part in arguments),
            cwd=folder,
            ODEFS_IN_PARTS=in_parts,
            **more,
        )
        for name, in_parts in IN_PARTS.items()
    ]


def results(folder, ending):
    read = {"parquet": pl.read_parquet, "csv": pl.read_csv, "ndjson": pl.read_ndjson}[ending]
    return [read(folder / f"{name}.{ending}") for name in IN_PARTS]


@pytest.mark.parametrize(
    "ending",
    ["parquet", *(pytest.param(ending, marks=pytest.mark.slow) for ending in ("csv", "ndjson"))],
)
def test_the_same_table_comes_out(ending, folder):
    options = ("--force", "--json", "--reasons", "all", "--with-data", "--hide", "shop")
    here, there = both(folder, f"n.{ending}", "-o", f"{{}}.{ending}", *options)
    assert here.returncode == there.returncode == 0, there.stderr
    a, b = results(folder, ending)
    assert a.columns == b.columns
    assert {
        "key",
        "score",
        "rank",
        "percentile",
        "agreement",
        "outlier",
        "reasons",
        "amount",
    } <= set(b.columns)
    assert "new" not in b["reasons"].str.join(" ").item()
    assert [name for name in a.columns if not a[name].equals(b[name])] == []
    told, said = json.loads(here.stdout), json.loads(there.stdout)
    assert said["sampled"] == {"drawn": 900, "judged_by": None}
    # The map is drawn of other rows, and two commands differ in their names.
    same = told.keys() - {"sampled", "map", "run", "commands"}
    assert {name: told[name] for name in same} == {name: said[name] for name in same}
    columns = {entry["column"]: entry for entry in said["drift"]["columns"]}
    assert columns["amount"]["out_of_range"] > 0
    assert columns["shop"]["unseen_share"] > 0.2
    assert columns["shop"]["unseen"] == [], "it is hidden"
    assert columns["count"]["missing_now"] > 0.3
    flagged = b["outlier"] == "yes" if ending == "csv" else b["outlier"]
    assert flagged.dtype == pl.Boolean
    assert said["flagged"] == flagged.sum() > 0


@pytest.mark.parametrize(
    "choice",
    [
        ("--flag", "7"),
        pytest.param(("--contamination", "0.1"), marks=pytest.mark.slow),
        pytest.param(("--threshold", "1.5"), marks=pytest.mark.slow),
    ],
)
def test_the_same_rows_are_flagged(choice, folder):
    here, there = both(
        folder, "n.parquet", *choice, "--top", "2", "-o", "{}.csv", "--force", COLUMNS="500"
    )
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    a, b = results(folder, "csv")
    assert a.equals(b)
    assert 0 < (b["outlier"] == "yes").sum() < 900
    lines = [line.replace("here.csv", "there.csv") for line in here.stdout.splitlines()]
    (parts,) = [line for line in there.stdout.splitlines() if "in parts" in line]
    assert [line for line in there.stdout.splitlines() if line != parts] == lines


@pytest.mark.slow
def test_too_many_flagged_rows(folder):
    here, there = both(
        folder, "n.parquet", "--max-flagged", "0.0005", "-o", "{}.parquet", "--force", "--quiet"
    )
    assert here.returncode == there.returncode == 3
    assert "of the rows are flagged, more than the 0.05% allowed." in there.stderr
    assert messages(here) == messages(there)
    assert results(folder, "parquet")[1].height == 900, "what was found is written all the same"
    assert both(folder, "n.parquet", "--max-flagged", "0.9", "--quiet")[1].returncode == 0


@pytest.mark.slow
def test_one_row_and_none(folder):
    here, there = both(folder, "one.parquet", "-o", "{}.csv", "--force", "--report", "{}.md")
    assert here.returncode == there.returncode == 0, there.stderr
    a, b = results(folder, "csv")
    assert a.equals(b)
    assert b.height == 1
    page = (folder / "there.md").read_text()
    assert sampled(1, judged_by=None, drawn=1) in page
    here, there = both(folder, "none.csv")
    assert here.returncode == there.returncode == 1
    assert messages(here) == messages(there)
    assert "a table needs at least one row, this one has 0" in there.stderr


@pytest.mark.slow
def test_an_id_of_ones_own(folder):
    frame = drifted(60).rename({"key": "name"})
    frame.write_csv(folder / "named.csv", separator=";")
    for arguments, name in (("--id", "name"), "name"), ((), "row"):
        here, there = both(
            folder, "named.csv", *arguments, "--delimiter", ";", "-o", "{}.csv", "--force"
        )
        assert here.returncode == there.returncode == 0, there.stderr
        a, b = results(folder, "csv")
        assert a.equals(b)
        assert b.columns[0] == name


REFUSED = {
    "lacking": (
        ("lacking.parquet",),
        "the table lacks columns 'shop', 'count', which the model was trained on.",
    ),
    "id": (
        ("n.parquet", "--id", "nobody"),
        "there is no column 'nobody'; the columns are key, shop",
    ),
    "used id": (
        ("n.parquet", "--id", "amount"),
        "the table lacks column 'amount', which the model was trained on.",
    ),
    "hide": (
        ("n.parquet", "--hide", "nobody"),
        "there is no column 'nobody'; the columns are key, shop",
    ),
    "type": (
        ("dates.parquet",),
        "column 'amount' held numbers in training and holds dates or times here.",
    ),
    "text": (
        ("words.parquet",),
        "column 'price' held numbers in training, but most values here are not (first: 'much').",
    ),
    "sheet": (("n.parquet", "--sheet", "first"), "--sheet is for Excel files."),
}


@pytest.mark.parametrize(
    "case",
    [name if name == "text" else pytest.param(name, marks=pytest.mark.slow) for name in REFUSED],
)
def test_what_is_refused_in_memory_is_refused_in_parts(case, folder):
    arguments, sentence = REFUSED[case]
    frame = drifted(50)
    frame.drop("shop", "count").write_parquet(folder / "lacking.parquet")
    frame.with_columns(pl.col("day").alias("amount")).write_parquet(folder / "dates.parquet")
    words = ["$ 3.00"] * 10 + ["much"] * 40
    frame.with_columns(pl.Series("price", words)).write_parquet(
        folder / "words.parquet", row_group_size=10
    )
    here, there = both(folder, *arguments)
    assert here.returncode == there.returncode == 1
    assert sentence in there.stderr
    assert messages(here) == messages(there)


@pytest.mark.slow
def test_no_sheet_has_room_and_no_model_no_scores(folder):
    there = both(folder, "n.parquet", "-o", "s{}.xlsx")[1]
    assert there.returncode == 1
    assert "an Excel sheet holds 1,048,576 rows" in there.stderr
    here, there = both(folder, "n.parquet", model="nothing.odefs")
    assert here.returncode == there.returncode == 1
    assert messages(here) == messages(there)


@pytest.mark.slow
def test_tables_without_a_header(folder):
    rows = make_frame(300).select("amount", "flag", "count").cast({"flag": pl.Int8})
    rows.write_csv(folder / "bare.csv", include_header=False)
    saved = run(
        "detect",
        "bare.csv",
        "--no-header",
        "--save",
        "bare.odefs",
        "--quiet",
        "--no-report",
        "--force",
        cwd=folder,
    )
    assert saved.returncode == 0, saved.stderr
    here, there = both(
        folder, "bare.csv", "-o", "{}.csv", "--force", "--with-data", model="bare.odefs"
    )
    assert here.returncode == there.returncode == 0, there.stderr
    a, b = results(folder, "csv")
    assert a.equals(b)
    assert b.height == 300
    # The names that such a table is given are known again.
    rows.columns = ["column 1", "column 2", "column 3"]
    rows.write_csv(folder / "names.csv")
    there = both(folder, "names.csv", "-o", "{}.csv", "--force", model="bare.odefs")[1]
    assert there.returncode == 0, there.stderr
    assert results(folder, "csv")[1]["score"].equals(b["score"])


@pytest.mark.parametrize("height", [pytest.param(1, marks=pytest.mark.slow), 37, 5000])
def test_where_batches_are_cut_changes_no_bit(height, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "rows_at_once", lambda width: height)
    trained = odefs.detect(make_frame(800), id="key")
    frame = drifted(400)
    frame.write_parquet(tmp_path / "n.parquet", row_group_size=150)
    here, drift_here = score_table(table_of(frame), trained.model, trained.encoder, id="key")
    there, drift_there = score_table(
        ParquetTable((tmp_path / "n.parquet",)), trained.model, trained.encoder, id="key"
    )
    assert np.array_equal(there.extent.scores, here.scores)
    assert np.array_equal(there.extent.agreement, here.agreement)
    assert np.array_equal(there.extent.is_outlier, here.is_outlier)
    assert there.threshold == here.threshold
    assert drift_there == drift_here
    assert isinstance(there.extent.scores, FileArray), "one number per row is too much for memory"


def test_a_detector_without_agreement(tmp_path):
    frame, other = make_frame(300), drifted(100)
    encoder = odefs.TableEncoder(drop=["key"]).fit(frame)
    model = odefs.LeSiNN(random_state=0).fit(encoder.transform(frame))
    other.write_parquet(tmp_path / "n.parquet")
    found, _ = score_table(ParquetTable((tmp_path / "n.parquet",)), model, encoder, flag=5)
    assert found.extent.agreement is None
    assert np.array_equal(
        found.extent.scores, score_table(table_of(other), model, encoder)[0].scores
    )
    assert found.n_flagged == 5


def test_names_of_unseen_categories_are_limited_and_their_rows_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(drift, "MOST_NAMES", 3)
    monkeypatch.setattr(tables, "rows_at_once", lambda width: 10)
    trained = odefs.detect(make_frame(300), id="key")
    other = make_frame(40).with_columns(
        pl.Series("shop", [f"s{(7 * i) % 40:02}" for i in range(40)])
    )
    other.write_parquet(tmp_path / "n.parquet")
    table = ParquetTable((tmp_path / "n.parquet",))
    found, changes = score_table(table, trained.model, trained.encoder, id="key")
    (shop,) = [entry for entry in changes if entry.column == "shop"]
    assert (shop.unseen, shop.unseen_share) == (["s00", "s01", "s02"], 1.0)
    assert score_table(table_of(other), trained.model, trained.encoder, id="key")[1] == changes
    assert found.n_rows == 40


def test_text_where_training_had_numbers(tmp_path):
    """Where training had numbers, the format of text is recognised, in memory and in parts."""
    trained = odefs.detect(make_frame(300), id="key")
    plain = drifted(50).with_columns(pl.Series("amount", [f"{101 + i}.25" for i in range(50)]))
    commas = plain.with_columns(pl.col("amount").str.replace(".", ",", literal=True))
    found = []
    for name, frame in (("plain", plain), ("commas", commas)):
        frame.write_parquet(tmp_path / f"{name}.parquet")
        for table in (table_of(frame), ParquetTable((tmp_path / f"{name}.parquet",))):
            scored, _ = score_table(table, trained.model, trained.encoder, id="key")
            found.append(np.asarray(scored.extent.scores))
    assert all(np.array_equal(scores, found[0]) for scores in found[1:])
    words = plain.with_columns(pl.lit("much").alias("amount"))
    words.write_parquet(tmp_path / "words.parquet")
    for table in (table_of(words), ParquetTable((tmp_path / "words.parquet",))):
        with pytest.raises(TableError, match="column 'amount' held numbers in training, but most"):
            score_table(table, trained.model, trained.encoder, id="key")


@pytest.mark.slow
def test_decimals_are_the_same_numbers(tmp_path):
    """As a category by its digits: one bit less would be a value that training never saw."""
    rng = np.random.default_rng(0)
    cents = rng.integers(1, 400, 1200)

    def write(name, rows):
        columns = {
            "x": rng.normal(size=rows.size),
            "c": pl.Series(rows).cast(pl.Decimal(12, 0)) / 100,
        }
        pl.DataFrame(columns).with_columns(pl.col("c").cast(pl.Decimal(10, 2))).write_parquet(
            tmp_path / name
        )

    write("t.parquet", cents)
    write("n.parquet", cents[:500])
    for way in ((), ("--category", "c")):
        done = run(
            "detect",
            "t.parquet",
            *way,
            "--save",
            "m.odefs",
            "--force",
            "--quiet",
            "--no-report",
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        here, there = both(tmp_path, "n.parquet", "-o", "{}.csv", "--force", "--json")
        assert here.returncode == there.returncode == 0, there.stderr
        one, other = results(tmp_path, "csv")
        assert one.equals(other)
        assert json.loads(here.stdout)["drift"] == json.loads(there.stdout)["drift"]


KINDS = [pa.decimal128(10, 2), pa.decimal128(38, 20), pa.decimal128(19, 0), pa.decimal256(40, 3)]
# Newer versions of pyarrow have shorter ones.
KINDS += [pa.decimal64(12, 3)] if hasattr(pa, "decimal64") else []


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_decimals_of_arrow_become_the_nearest_floats(kind):
    rng = np.random.default_rng(1)
    whole = [int(cell) for cell in rng.integers(-(10**10) + 1, 10**10, 3000)]
    if kind.precision > 18:
        whole += [cell * 10**8 + 7 for cell in whole]
    cells = [*(Decimal(cell).scaleb(-kind.scale) for cell in whole), None]
    column = pa.chunked_array([pa.array(cells[:100], kind), pa.array(cells, kind).slice(100)])
    expected = np.array([np.nan if cell is None else float(cell) for cell in cells])
    assert np.array_equal(floats_of(column), expected, equal_nan=True)
    assert floats_of(pa.array([1.5])) is None
    assert floats_of(pa.array([], kind)).size == 0
