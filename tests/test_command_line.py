"""The installed command, run as people run it."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from odefs.datasets.transactions import transactions_path, truth_path

ODEFS = Path(sys.executable).parent / "odefs"


def odefs(*arguments, cwd=None, command=(ODEFS,)):
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    line = [str(part) for part in (*command, *arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd, env=environment)


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_the_example_shows_the_planted_transactions(tmp_path):
    done = odefs("detect", "-o", tmp_path / "scores.csv")
    assert done.returncode == 0, done.stderr
    assert "T0422" in done.stdout
    assert "country = SG, distance_km = 9500.3" in done.stdout
    truth = {row["transaction"] for row in read(truth_path())}
    scores = read(tmp_path / "scores.csv")
    assert len(scores) == 800
    top = {row["transaction"] for row in scores if int(row["rank"]) <= len(truth)}
    assert len(top & truth) >= 0.9 * len(truth)
    assert not list(tmp_path.glob("*.part"))


def test_the_same_command_gives_the_same_bytes(tmp_path):
    for name, jobs in (("a.csv", 1), ("b.csv", 2)):
        odefs("detect", transactions_path(), "--id", "transaction", "--jobs", jobs, "-o", tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    odefs("detect", transactions_path(), "--id", "transaction", "--seed", 1, "-o", tmp_path / "c.csv")
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()


def test_columns_that_cannot_help_are_left_out_and_named(tmp_path):
    done = odefs("detect", transactions_path())
    assert "left out: transaction (text that differs from row to row)" in done.stdout
    (tmp_path / "t.csv").write_text("same,empty,x\n" + "".join(f"1,,{i * i % 17}\n" for i in range(40)))
    done = odefs("detect", tmp_path / "t.csv")
    assert "left out: same (one value)" in done.stdout
    assert "left out: empty (empty)" in done.stdout


def test_dropped_columns_give_no_reasons():
    done = odefs("detect", transactions_path(), "--id", "transaction", "--drop", "country", "--drop", "distance_km")
    assert "country" not in done.stdout
    assert "amount" in done.stdout


def test_square_brackets_are_no_markup(tmp_path):
    rows = "".join(f"[/x{i}],{i % 7},{(i * 13) % 11}\n" for i in range(60)) + "[red]odd[/red],900,3\n"
    (tmp_path / "t.csv").write_text("name,weight [kg],b\n" + rows)
    done = odefs("detect", tmp_path / "t.csv", "--id", "name")
    assert done.returncode == 0, done.stderr
    assert "[red]odd[/red]" in done.stdout
    assert "weight [kg] = 900" in done.stdout


def test_more_rows_than_there_are_may_be_asked_for():
    assert odefs("detect", "--top", "1200").stdout.count(" = ") >= 800


def test_an_identifier_may_be_called_score(tmp_path):
    (tmp_path / "t.csv").write_text("score,x\n" + "".join(f"n{i},{i * i % 17}\n" for i in range(40)))
    odefs("detect", tmp_path / "t.csv", "--id", "score", "-o", tmp_path / "o.csv")
    assert read(tmp_path / "o.csv")[3]["score (id)"] == "n3"


def test_lists_in_cells_are_left_out(tmp_path):
    pl.DataFrame({"l": [[1], [2, 3]] * 20, "x": [float(i % 7) for i in range(40)]}).write_parquet(
        tmp_path / "t.parquet"
    )
    assert "left out: l (lists or records in its cells)" in odefs("detect", tmp_path / "t.parquet").stdout


def test_module_version_and_help():
    assert odefs("--version").stdout.startswith("odefs, version ")
    assert "detect" in odefs("--help", command=(sys.executable, "-m", "odefs")).stdout
    assert "--seed" in odefs("detect", "-h").stdout


BAD = {
    "no such file": (None, [], "there is no such file"),
    "a directory": ("", [], "there is no such file"),
    "empty.csv": ("", [], "empty"),
    "header.csv": ("a,b\n", [], "at least two rows"),
    "one.csv": ("a,b\n1,2\n", [], "at least two rows"),
    "words.txt": ("hello", [], "only .csv and .parquet"),
    "broken.parquet": ("not parquet", [], "broken.parquet"),
    "constant.csv": ("a\n1\n1\n1\n", [], "no column is left"),
    "column.csv": ("a,b\n1,2\n3,4\n", ["--id", "z"], "there is no column 'z'; the columns are a, b"),
}


@pytest.mark.parametrize("name", BAD)
def test_unusable_data_exits_1_with_one_sentence(name, tmp_path):
    content, arguments, sentence = BAD[name]
    path = tmp_path / name
    if name == "a directory":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    done = odefs("detect", path, *arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_an_unwritable_output_is_named(tmp_path):
    done = odefs("detect", "-o", tmp_path / "nowhere" / "scores.csv")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_exits_2():
    assert odefs("detect", "--top", "none").returncode == 2
    assert odefs("dtect").returncode == 2
    assert odefs("detect", "--jobs", "0").returncode == 2
    assert odefs("detect", "--seed", "-1").returncode == 2
