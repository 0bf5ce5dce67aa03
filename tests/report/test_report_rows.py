"""Rows of the page: the csv that it saves, nearest ordinary rows, and charts of the columns."""

import csv
import io
import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from command import odefs
from odefs import ODEFS
from odefs.cli.run import shared_command_line
from odefs.datasets.transactions import transactions_path
from odefs.detection import detect
from odefs.engines.parquet import parquet_files
from odefs.report import build_report, flagged_csv
from odefs.tables import messages
from odefs.tables.detect import detect_table
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.table import ParquetTable
from pages import mixed_frame

ODD = ['a "quoted", cell', "two\r\nlines", "=1+1", "'=x", "-5", "+x", "@y", "ünïcode, yes", ""]


def saved(drawing):
    text = "".join(f"{line}\r\n" for line in [drawing["csv"]["header"], *drawing["csv"]["lines"]])
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.fixture(scope="module")
def found():
    return detect(pl.read_csv(transactions_path()), id="transaction")


@pytest.fixture(scope="module")
def report(found):
    return build_report(found)


def test_rows_have_the_same_reasons_everywhere(found, report, tmp_path):
    detected = odefs("detect", "-o", "s.parquet", "--json", cwd=tmp_path)
    written = pl.read_parquet(tmp_path / "s.parquet")
    frame = found.to_frame()
    assert frame.columns == [name for name in written.columns if name not in ("row", "line")]
    assert frame.equals(written.select(frame.columns))
    listed = {row["name"]: row["reasons"] for row in json.loads(detected.stdout)["top"]}
    assert listed == {row["name"]: row["reasons"] for row in report.summary["top"]}
    for row, reasons in zip(found.order, found.reasons(found.order), strict=True):
        name = found.row_names[row]
        columns = [reason.column for reason in reasons]
        if name in listed:
            assert [reason["column"] for reason in listed[name]] == columns
        if found.is_outlier[row]:
            texts = written.row(by_predicate=pl.col("transaction") == name, named=True)["reasons"]
            assert [text.partition(" = ")[0] for text in texts.split("; ")] == columns


def test_rows_beyond_the_report_have_the_same_kinds_in_files(tmp_path):
    table = pl.concat([pl.read_csv(transactions_path()).drop("transaction")] * 2)
    table.write_csv(tmp_path / "t.csv")
    frame = detect(pl.read_csv(tmp_path / "t.csv"), flag=700).to_frame()
    for mode in ("0", "1"):
        arguments = ("detect", "t.csv", "--flag", "700", "-o", "s.csv", "--no-report", "--force")
        odefs(*arguments, cwd=tmp_path, ODEFS_IN_PARTS=mode)
        written = pl.read_csv(tmp_path / "s.csv")
        assert written["kind"].to_list() == frame["kind"].to_list()
    assert frame["kind"].drop_nulls().len() >= 700


def test_saved_rows_have_every_column_of_the_table_and_the_results(found, report):
    frame = pl.read_csv(transactions_path())
    lines = saved(report.drawing)
    own = ["transaction", "score", "rank", "percentile", "agreement", "kind", "reasons", "checks"]
    assert list(lines[0]) == own + [name for name in frame.columns if name != "transaction"]
    by_name = {row["transaction"]: row for row in frame.iter_rows(named=True)}
    top = {row["name"]: row for row in report.summary["top"]}
    for line in lines[: report.summary["flagged"]]:
        cells, row = by_name[line["transaction"]], top[line["transaction"]]
        for name in frame.columns[1:]:
            assert line[name] == ("" if cells[name] is None else str(cells[name]))
        assert float(line["score"]) == row["score"]
        assert float(line["percentile"]) == row["percentile"]
        assert line["kind"] == messages.kind(report.summary["kinds"][row["kind"]])
        assert line["reasons"] == "; ".join(map(messages.short_reason, row["reasons"]))
    scores = [float(line["score"]) for line in lines]
    assert scores == sorted(found.scores, reverse=True)[: len(scores)]


def test_odd_cells_and_names_survive_and_formulas_are_escaped():
    frame = mixed_frame().with_columns(
        pl.Series("=name, odd", (ODD * 50)[:400]), pl.Series("kind", np.arange(400) % 7)
    )
    lines = saved(build_report(detect(frame, flag=60)).drawing)
    assert {"'=name, odd", "kind", "kind (input)", "row"} <= set(lines[0])
    escaped = {"=1+1": "'=1+1", "'=x": "''=x", "+x": "'+x", "@y": "'@y"}
    for line in lines:
        row = frame.row(int(line["row"]) - 1, named=True)
        assert line["'=name, odd"] == escaped.get(row["=name, odd"], row["=name, odd"])
        assert line["kind (input)"] == str(row["kind"])


def test_hidden_columns_are_not_saved():
    frame = mixed_frame().with_columns(who=pl.Series([f"PERSON{i}" for i in range(400)]))
    drawing = build_report(detect(frame, id="who", hide=["who", "shop"])).drawing
    assert not {"who", "shop"} & set(saved(drawing)[0])
    assert "PERSON" not in str(drawing)


def test_identical_rows_are_saved_one_by_one():
    frame = mixed_frame()
    twin = frame[0].with_columns(amount=pl.lit(9000.0))
    lines = saved(build_report(detect(pl.concat([frame, twin, twin, twin]))).drawing)
    assert [line["row"] for line in lines[:3]] == ["401", "402", "403"]
    assert [line["rank"] for line in lines[:4]] == ["1", "1", "1", "4"]


def test_arrays_and_data_frames_of_pandas_have_their_cells_too():
    pandas = pytest.importorskip("pandas")
    frame = mixed_frame().select("amount", "noise", "day")
    made = pandas.DataFrame(frame.to_dict(as_series=False))
    for given, name in ((made, "day"), (frame.select("amount", "noise").to_numpy(), None)):
        lines = saved(build_report(detect(given)).drawing)
        row = int(lines[0]["row"]) - 1
        assert str(frame["amount"][row]) in lines[0].values()
        assert name is None or lines[0][name].startswith(str(frame["day"][row])[:10])


def test_lines_are_bounded_and_without_gaps(found, monkeypatch):
    monkeypatch.setattr(flagged_csv, "MAX_CHARACTERS", 2_000)
    lines = build_report(found).drawing["csv"]["lines"]
    assert 1 <= len(lines) < 25
    assert sum(map(len, lines)) <= 2_000
    monkeypatch.setattr(flagged_csv, "MAX_CELLS", 16 * 5)
    assert len(build_report(found).drawing["csv"]["lines"]) == 5


def test_a_table_in_parts_has_the_same_rows_and_neighbours(tmp_path):
    frame = mixed_frame(n=900).with_columns(note=pl.Series([f"note {i}" for i in range(900)]))
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    table = ParquetTable(tuple(parquet_files(str(tmp_path / "t.parquet"))))
    drawings = [
        build_report(
            detect_table(one, ODEFS(n_estimators=3, random_state=0), ColumnEncoder())
        ).drawing
        for one in (table, table.load())
    ]
    assert saved(drawings[0]) == saved(drawings[1])
    assert saved(drawings[0])[0]["note"].startswith("note ")
    assert drawings[0]["nearest"] == drawings[1]["nearest"]


def test_the_nearest_ordinary_row_is_the_nearest():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: rng.normal(size=300) for name in "abc"})
    frame[7, "a"] = 40.0
    found = detect(frame, flag=3)
    report = build_report(found)
    near = report.drawing["nearest"]
    X = np.asarray(found.X, dtype=float)
    ordinary = np.flatnonzero(~found.is_outlier)
    low, middle, high = np.quantile(X[ordinary], [0.05, 0.5, 0.95], axis=0)
    scaled = np.clip((X - middle) / ((high - low) / 3.29), -6, 6)
    for i, row in enumerate(report.summary["top"]):
        own = row["row"] - 1
        others = ordinary[ordinary != own]
        distances = ((scaled[others] - scaled[own]) ** 2).sum(axis=1)
        assert near["rows"][near["index"][i]]["name"] - 1 == others[np.argmin(distances)]
    first = next(i for i, row in enumerate(report.summary["top"]) if row["row"] == 8)
    assert report.summary["values"]["columns"][near["differs"][first][0]] == "a"
    assert not near["is_sample"]


def test_no_neighbour_without_ordinary_rows_or_features(found):
    flagging = replace(found.flagging, is_outlier=np.ones(800, dtype=bool))
    assert build_report(replace(found, flagging=flagging)).drawing["nearest"] is None
    frame = mixed_frame().select("amount", "noise")
    assert build_report(detect(frame, hide=["amount", "noise"])).drawing["nearest"] is None


def test_charts_count_all_flagged_rows_of_numbers_and_categories(found, report):
    for chart in report.drawing["charts"]:
        assert chart["flagged"] == report.summary["flagged"]
        if "values" in chart:
            only = sum(n for _, n in chart["flagged_only"])
            counted = sum(chart["flagged_values"]) + only + chart["flagged_others"]
        else:
            counted = sum(chart["flagged_counts"]) + chart["flagged_below"] + chart["flagged_above"]
            assert sum(chart["counts"]) + chart["below"] + chart["above"] + chart["missing"] == 800
        assert counted + chart["flagged_missing"] == chart["flagged"]
    distance = next(one for one in report.drawing["charts"] if one["column"] == "distance_km")
    assert distance["flagged_above"] >= 8


def kind(n_rows, *columns):
    return {"count": n_rows, "traits": [{"column": column} for column in columns]}


@pytest.mark.parametrize(
    ("kinds", "named", "mostly"),
    [
        ([kind(4, "a")], ["a"], False),
        ([kind(1, "a"), kind(1, "b"), kind(1, "c"), kind(1, "d")], list("abcd"), False),
        ([kind(3, "a"), kind(1)], ["a"], True),
        ([kind(2, "a"), kind(2)], [], False),
        ([kind(1, "pressure" * 3), kind(1, "temperature" * 2), kind(2, "yield")], [], False),
        ([kind(3, "pressure" * 3), kind(1, "temperature" * 3)], ["pressure" * 3], True),
    ],
)
def test_headline_says_mostly_of_columns_of_most_rows(report, kinds, named, mostly):
    convention = {"kind": "auto", "expected": 1.0}
    summary = report.summary | {"kinds": kinds, "flagged": 4, "convention": convention}
    text = messages.headline(summary)
    assert len(text) <= 64
    assert ("mostly" in text) == mostly
    assert all(column in text for column in named)
    assert (" by " in text) == (bool(named) or "other" in text)


def test_headline_names_what_fits(report):
    long = "a very long name of a column " * 9
    kinds = [kind(9, long), kind(1, "amount")]
    text = messages.headline(report.summary | {"kinds": kinds})
    assert len(text) <= 64
    assert "…" in text
    assert messages.shortened("x" * 10, 10) == "x" * 10
    assert len(messages.shortened(long, 28)) <= 28


def test_the_command_has_paths_from_the_working_directory(tmp_path):
    (tmp_path / "in").mkdir()
    frame = mixed_frame().rename({"noise": "a/b"})
    frame.write_csv(tmp_path / "in" / "t.csv")
    page = tmp_path / "out.json"
    line = [f"{tmp_path}/in/t.csv", "--drop", "a/b", f"--report={page}", "--set", "n_estimators=3"]
    done = odefs("detect", "--quiet", *line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in page.read_text(encoding="utf-8")
    expected = f"odefs detect --quiet {os.path.join('in', 't.csv')} --drop a/b --report=out.json"
    command = json.loads(page.read_text(encoding="utf-8"))["run"]["command"]
    assert command == f"{expected} --set n_estimators=3"
    again = odefs(*shlex.split(command)[1:], "--force", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_options_keep_their_names_and_relative_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    given = [
        (f"-o{tmp_path / 'x' / 'y.csv'}", f"-o{os.path.join('x', 'y.csv')}"),
        ("https://host/a/t.csv", "https://host/a/t.csv"),
        ("-", "-"),
        ("folder/", "folder/"),
        (str(tmp_path.parent / "t.csv"), "t.csv"),
        (os.path.join("..", "alice", "t.csv"), "t.csv"),
        (f"--report={tmp_path.parent / 'alice' / 'page.html'}", "--report=page.html"),
    ]
    require_commands(monkeypatch, given)


def require_commands(monkeypatch, given):
    monkeypatch.setattr("sys.argv", ["odefs", *(word for word, _ in given)])
    assert shlex.split(shared_command_line())[1:] == [word for _, word in given]


@pytest.mark.parametrize("above", [".", "home"])
def test_a_working_directory_above_that_of_the_user_counts_as_outside(above, monkeypatch, tmp_path):
    own = tmp_path / "home" / "alice"
    own.mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: own)
    monkeypatch.chdir(tmp_path / above)
    require_commands(monkeypatch, [(str(own / "t.csv"), "t.csv")])
    monkeypatch.chdir(own)
    path = os.path.join("in", "t.csv")
    require_commands(monkeypatch, [(str(own / path), path)])


def test_a_file_in_the_root_directory_has_its_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path.anchor)
    require_commands(monkeypatch, [(str(tmp_path / "t.csv"), "t.csv")])


@pytest.mark.skipif(os.name == "nt", reason="the working directory cannot be deleted")
def test_a_deleted_working_directory(monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    require_commands(monkeypatch, [(str(tmp_path / "t.csv"), "t.csv")])
