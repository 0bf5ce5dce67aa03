"""``odefs detect`` on 100,000 rows, in memory and in parts: the same results."""

import gzip
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from browser import check_quiet, forget_logs, needs_browser, start_browser
from command import ODEFS, messages
from command import odefs as run
from odefs.tables.messages import sampled
from odefs.tables.records.notes import Note
from odefs.tables.writers.files import write_table
from pages import Texts

pytestmark = pytest.mark.slow

ROWS = 100_000
"""As many as columns are judged by: a larger table has other medians than its sample."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The table, and what a run in memory and one in parts leave."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    amount = rng.normal(100, 10, ROWS)
    amount[::1000] += 90
    codes = [f"{10_000 + i % 30}" if i < 60_000 else f"{i % 30:05}" for i in range(ROWS)]
    frame = pl.DataFrame(
        {
            "key": [f"k{i:06}" for i in range(ROWS)],
            "zip": codes,
            "shop": rng.choice(["a", "b", "c", "NA"], ROWS),
            "amount": amount,
            "rank": rng.integers(0, 9, ROWS),
            "day": pl.Series(rng.integers(0, 300, ROWS)).cast(pl.Date),
            "secret": rng.normal(size=ROWS).round(3),
            "told": pl.Series([1, 0, None, None] * (ROWS // 4)).set(
                pl.Series(np.arange(ROWS) % 2000 > 3), None
            ),
            "label": (np.arange(ROWS) % 1000 == 0).astype(int),
        }
    )
    frame.write_csv(folder / "t.csv")
    common = (
        "detect",
        "t.csv",
        "--id",
        "key",
        "--label",
        "label",
        "--known",
        "told",
        "--hide",
        "secret",
        "--with-data",
    )
    common += ("--drop", "rank", "--set", "n_estimators=3", "--jobs", "2")
    for name, environment in (("here", {}), ("there", {"ODEFS_IN_PARTS": "1"})):
        done = run(
            *common,
            "-o",
            f"{name}.csv",
            "--report",
            f"{name}.html",
            cwd=folder,
            COLUMNS="500",
            **environment,
        )
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.txt").write_text(done.stdout)
    return folder


def both(folder, ending):
    return [(folder / f"{name}.{ending}").read_text() for name in ("here", "there")]


def test_the_output_has_the_same_columns(folder):
    here, there = (
        pl.read_csv(folder / f"{name}.csv", infer_schema_length=None) for name in ("here", "there")
    )
    assert "zip" in here.columns
    assert "rank (input)" in here.columns
    assert "secret" not in here.columns
    assert there["zip"].to_list() == here["zip"].to_list()
    # Of reasons only what is usual differs, which comes from a sample; the texts do not say it.
    assert_frame_equal(there, here, check_exact=False, rel_tol=1e-6)


def test_the_screen_says_the_same(folder):
    here, there = both(folder, "txt")
    (parts,) = [line for line in there.splitlines(keepends=True) if "read in parts" in line]
    assert there.replace(parts, "").replace("there.", "here.") == here
    assert "Against the labels: AUC 1.000" in here
    assert str(Note("leading_zeros", "zip")) in here
    assert str(Note("known_cases", "told", count=50, n_normal=50)) in here


def test_the_pages_tell_the_same_story(folder):
    here, there = (Texts(page).text for page in both(folder, "html"))
    note = sampled(ROWS, judged_by=ROWS, drawn=20_000)
    assert note in there
    assert note not in here
    data = [
        json.loads(page.split('id="data">')[1].split("</script>")[0])
        for page in both(folder, "html")
    ]
    for name in ("rows", "identifier"):
        assert data[0][name] == data[1][name]
    for name in ("counts", "chosen"):
        assert data[0]["scores"][name] == data[1]["scores"][name]
    assert [count for _, count in data[0]["scores"]["choices"]] == [
        count for _, count in data[1]["scores"]["choices"]
    ]
    for name in ("place", "name", "twins", "because", "shown"):
        assert [row[name] for row in data[0]["top"]] == [row[name] for row in data[1]["top"]]
    # A point that stands in both maps has the same place in the order of all rows.
    places = [{point[3]: point[2] for point in side["points"]} for side in data]
    shared = places[0].keys() & places[1].keys()
    assert len(shared) > 150


@pytest.mark.slow
@needs_browser
def test_the_page_opens(folder, tmp_path):
    browser = start_browser(tmp_path / "profile", tmp_path)
    try:
        forget_logs(browser)
        browser.get((folder / "there.html").as_uri())
        assert "rows stand out" in browser.title.replace(f"of {ROWS:,} ", "")
        assert (
            browser.execute_script("return document.querySelectorAll('#outliers tr.row').length")
            >= 50
        )
        assert (
            browser.execute_script(
                "return document.querySelectorAll('.chart canvas, .chart svg').length"
            )
            >= 2
        )
        check_quiet(browser)
    finally:
        browser.quit()


FILES = ["s.csv", "s.tsv", "s.csv.gz", "s.parquet", "s.arrow", "s.ndjson"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("excel", [False, True])
def test_every_kind_of_file_is_written_in_batches(name, excel, tmp_path):
    frame = pl.DataFrame(
        {"=a": [1.5, 2.5, None], "text": ["x", "=y", "z"], "list": [[1, 2], None, [3]]}
    )
    write_table(tmp_path / f"whole-{name}", [frame.to_dict()], excel)
    batches = [
        dict(zip(frame.columns, part.to_arrow().columns, strict=True))
        for part in (frame[:1], frame[1:])
    ]
    write_table(tmp_path / name, batches, excel)
    if name.endswith((".parquet", ".arrow")):
        read = pl.read_parquet if name.endswith(".parquet") else pl.read_ipc
        assert_frame_equal(read(tmp_path / name), read(tmp_path / f"whole-{name}"))
        return
    unpack = gzip.decompress if name.endswith(".gz") else bytes
    assert unpack((tmp_path / name).read_bytes()) == unpack(
        (tmp_path / f"whole-{name}").read_bytes()
    )


def test_standard_output(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"=a": rng.normal(size=1200), "b": rng.normal(size=1200)})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=300)
    asked = (
        "detect",
        "t.parquet",
        "-o",
        "-",
        "--with-data",
        "--excel",
        "--reasons",
        "all",
        "--set",
        "n_estimators=2",
    )
    here, there = (
        run(*asked, cwd=tmp_path, **settings) for settings in ({}, {"ODEFS_IN_PARTS": "1"})
    )
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert there.stdout.startswith("\ufeff")
    frames = [pl.read_csv(done.stdout.removeprefix("\ufeff").encode()) for done in (here, there)]
    assert frames[0].columns[-2:] == ["'=a", "b"]
    assert frames[0]["reasons"].null_count() < 1200
    assert_frame_equal(frames[1], frames[0], check_exact=False, rel_tol=1e-6)


def test_tabs_are_for_names_that_end_so(tmp_path):
    write_table(tmp_path / "big.tsv.scores.csv", [{"a": pa.array([1]), "b": pa.array([2])}])
    assert (tmp_path / "big.tsv.scores.csv").read_bytes() == b"a,b\n1,2\n"


def test_a_reader_of_standard_output_may_leave(tmp_path):
    """More rows than a pipe holds, so that the writing fails whenever the reader leaves."""
    rng = np.random.default_rng(0)
    pl.DataFrame({"a": rng.normal(size=5000), "b": rng.normal(size=5000)}).write_parquet(
        tmp_path / "t.parquet"
    )
    line = (
        f"set -o pipefail; {ODEFS} detect t.parquet -o - --with-data --reasons none --no-report "
        "--quiet --set n_estimators=2 | head -1"
    )
    done = run("-c", line, command=("bash",), cwd=tmp_path, ODEFS_IN_PARTS="1")
    assert (done.returncode, messages(done)) == (0, []), done.stderr
    assert done.stdout.startswith("row,")
