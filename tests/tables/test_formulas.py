"""Text that a spreadsheet would evaluate: escaped in csv, restored by odefs, kept elsewhere."""

import csv
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from command import odefs as run
from odefs.tables.formulas import OWN_NAMES, defused_name, is_own, restored_name
from odefs.tables.readers.text.cells import NULLS
from odefs.tables.readers.text.dialect import Dialect
from odefs.tables.readers.text.header import read_header
from odefs.tables.records.notes import Note
from odefs.tables.writers.columns import LEAST_RESULTS, RESULT_NAMES
from odefs.tables.writers.files import write_table
from opening import MODES, in_both_modes, read, read_in_memory, read_in_parts

STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8),
    st.text(st.sampled_from("='+-@\t\r\n\"',;|ab 1.e%\uff1d"), max_size=6),
).filter(lambda text: text.strip() not in NULLS and not text.isspace())
HOSTILE = [
    "=1+1",
    "-A1",
    "'=x",
    "''=x",
    "'-5",
    "-5",
    "+1e5",
    "@SUM(A1)",
    "\t=1",
    "\r\n=1",
    '="a,b"',
    "--1",
    "-",
    "'",
    "'a",
]
HOSTILE += ["-1-1", "\uff1d1", 'a"b', "x\ny", "=a\nb"]
QUICK = ("--no-report", "--quiet", "--set", "n_estimators=2")


def is_dangerous(text):
    return text.startswith(STARTS) and not re.fullmatch(r"[+-][0-9.,]+([eE][+-]?[0-9]+)?%?", text)


def scores(texts, name="id"):
    """A file of scores has these columns."""
    n = len(texts)
    numbers = {
        "row": [*range(1, n + 1)],
        "score": [-1.5] * n,
        "rank": [1] * n,
        "outlier": ["no"] * n,
    }
    return {name: texts, **numbers, "amount": [-5] * n}


def in_batches(columns):
    """The first row, and the others."""
    return [
        {name: cells[rows] for name, cells in columns.items()}
        for rows in (slice(1), slice(1, None))
    ]


@given(st.lists(TEXTS, min_size=2, max_size=6))
@example(HOSTILE)
@settings(deadline=None, max_examples=60)
def test_any_text_is_read_back_as_it_was_and_none_is_written_as_a_formula(texts):
    with TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        write_table(path, in_batches(scores(texts)))
        with open(path, encoding="utf-8", newline="") as file:
            written = [line[0] for line in csv.reader(file)]
        assert not any(map(is_dangerous, written))
        here = read_in_memory(path, text_columns=["id"])
        for back in (here.frame, read_in_parts(path, Path(folder), text_columns=["id"]).frame):
            assert back["id"].to_list() == texts
            assert back["amount"].to_list() == [-5] * len(texts), "numbers are not text"
            assert back["score"].to_list() == [-1.5] * len(texts)


@given(st.text(max_size=6), st.text(max_size=6))
@example("=a", "'=a")
def test_the_escape_of_names_can_be_undone(one, other):
    assert restored_name(defused_name(one)) == one
    assert not is_dangerous(defused_name(one))
    assert (defused_name(one) == defused_name(other)) == (one == other)


@in_both_modes
def test_names_of_columns_are_defused_and_restored(mode, tmp_path):
    names = ["=cmd|x", "'=cmd|x", "@b", "plain"]
    write_table(tmp_path / "t.csv", [scores(["a", "b"]) | {name: ["u", "v"] for name in names}])
    header = next(csv.reader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert not any(map(is_dangerous, header))
    assert read(tmp_path / "t.csv", mode).columns[-4:] == names


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_raw_writes_text_as_it_is_and_excel_adds_a_mark(name, tmp_path):
    columns = {"=a": ["=1+1", "-x"], "b": [1, -2]}
    write_table(tmp_path / name, [columns], raw=True)
    assert read_in_memory(tmp_path / name).frame.to_dict(as_series=False) == columns
    write_table(tmp_path / "u.csv", [columns], excel=True)
    assert (tmp_path / "u.csv").read_bytes() == b"\xef\xbb\xbf'=a,b\n'=1+1,1\n'-x,-2\n"


@in_both_modes
def test_an_apostrophe_in_other_files_is_part_of_the_text(mode, tmp_path):
    (tmp_path / "t.csv").write_text("'=id,x\n'=a,1\n''-b,2\n'c,3\n")
    back = read(tmp_path / "t.csv", mode).frame
    assert back.columns == ["'=id", "x"]
    assert back["'=id"].to_list() == ["'=a", "''-b", "'c"]


def test_scores_are_recognised_by_the_columns_that_are_written():
    assert tuple(name for name, _ in OWN_NAMES) == RESULT_NAMES[: len(OWN_NAMES)]
    required = {name for name, is_required in OWN_NAMES if is_required}
    assert len(required | {"percentile"}) == LEAST_RESULTS
    for names in (
        RESULT_NAMES,
        ("id", *RESULT_NAMES, "x"),
        ("row", "score", "rank", "outlier"),
        ("row (id)", *RESULT_NAMES),
    ):
        assert is_own(names, None)
    for names in (
        (),
        ("row",),
        ("a", "b", *RESULT_NAMES),
        RESULT_NAMES[::-1],
        ("row", "x", *RESULT_NAMES[1:]),
    ):
        assert not is_own(names, None)


@in_both_modes
@pytest.mark.parametrize(
    "content",
    [
        "name,rank,row,score,outlier\n'=a,1,1,0.5,no\n'=b,2,2,0.5,no\n",
        "name,city,row,score,rank,outlier\n'=a,x,1,0.5,1,no\n'=b,x,2,0.5,2,no\n",
        "name,row,score,rank,outlier\n'=a,1,0.5,1,0\n'=b,2,0.5,2,1\n",
        "name,row,score,rank,outlier\n'=a,1,0.5,1,FALSE\n'=b,2,0.5,2,no\n",
    ],
    ids=["other order", "two columns before", "numbers as flags", "another word"],
)
def test_files_that_only_resemble_scores_stay_as_they_are(content, mode, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    back = read(tmp_path / "t.csv", mode)
    assert back.frame["name"].to_list() == ["'=a", "'=b"]
    assert not any(note.kind == "apostrophes_removed" for note in back.notes)


def test_a_note_counts_the_apostrophes_that_were_removed(tmp_path):
    for texts, name, n in (
        (["=a", "'=b", "c"], "=id", 3),
        (["a", "-5", "=c"], "id", 1),
        (["a", "'b"], "id", 0),
    ):
        write_table(tmp_path / "t.csv", [scores(texts, name)])
        for mode in MODES:
            notes = read(tmp_path / "t.csv", mode).notes
            assert list(notes) == ([Note("apostrophes_removed", count=n)] if n else [])


def test_scores_with_a_long_first_row_or_none_are_recognised(tmp_path):
    write_table(tmp_path / "t.csv", [scores(["=" + "x" * 200_000, "=b"])])
    assert read_in_memory(tmp_path / "t.csv").frame["id"].to_list()[1] == "=b"
    (tmp_path / "u.csv").write_text("'=id,row,score,rank,outlier\n")
    assert read_header(tmp_path / "u.csv", Dialect(",", "utf-8")).names[0] == "=id"


@pytest.mark.slow
@pytest.mark.parametrize("in_parts", [False, True])
def test_ids_survive_from_command_to_command(in_parts, tmp_path):
    """detect, the same on its own output, known cases from it, and explain by id."""
    ids = [f"{start}{i}" for i in range(20) for start in ("-A", "=x", "'=x", "'", "@", "n")]
    frame = pl.DataFrame({"=key": ids, "x": [*range(119), 900], "y": [i % 7 for i in range(120)]})
    frame.write_parquet(tmp_path / "t.parquet")
    env = {"ODEFS_IN_PARTS": "1"} if in_parts else {}
    done = run(
        "detect",
        "t.parquet",
        "--id",
        "=key",
        "-o",
        "s.csv",
        "--with-data",
        *QUICK,
        cwd=tmp_path,
        **env,
    )
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "s.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert not any(is_dangerous(cell) for line in lines for cell in line)
    again = (
        "--id",
        "=key",
        "--known",
        "outlier",
        "--drop",
        "row",
        "--drop",
        "score",
        "--drop",
        "rank",
    )
    done = run(
        "detect",
        "s.csv",
        *again,
        "-o",
        "again.parquet",
        "--save",
        "m.odefs",
        *QUICK,
        cwd=tmp_path,
        **env,
    )
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(tmp_path / "again.parquet")["=key"].to_list() == ids
    done = run("explain", "m.odefs", "s.csv", "--rows", "'=x3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'=x3" in done.stdout


@pytest.mark.slow
def test_standard_output_is_defused_too(tmp_path):
    pl.DataFrame(
        {
            "k": [f"=x{i}" for i in range(60)],
            "x": [i % 7 for i in range(60)],
            "y": [i % 11 for i in range(60)],
        }
    ).write_parquet(tmp_path / "t.parquet")
    asked = ("detect", "t.parquet", "--id", "k", "-o", "-", *QUICK)
    for env in ({}, {"ODEFS_IN_PARTS": "1"}):
        for option, start in (((), "'=x0,"), (("--raw",), "=x0,")):
            done = run(*asked, *option, cwd=tmp_path, **env)
            assert done.returncode == 0, done.stderr
            assert done.stdout.splitlines()[1].startswith(start)
