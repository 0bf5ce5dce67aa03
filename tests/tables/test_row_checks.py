"""Results name the cells of each row that are to be checked, in memory and in parts."""

import csv
import json
from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import odefs
from command import odefs as run
from command import read
from erroneous_table import planted
from odefs.report import build_report
from odefs.report.page_data import _top_row
from odefs.tables import messages
from odefs.tables import table as tables
from odefs.tables.checks import ValueCheck, find_checks
from odefs.tables.checks.marks import find_marks
from odefs.tables.checks.rows import ROWS_KEPT
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.frames.columns import Columns
from odefs.tables.messages.checks import LABELS
from odefs.tables.records.checks import CheckKind
from odefs.tables.results.row_checks import RowChecks
from odefs.tables.table import ParquetTable, table_of
from odefs.tables.writers.columns import result_batches

FAST = ("--set", "n_estimators=3", "--seed", "1", "--no-report", "--force")


def small():
    return odefs.ODEFS(n_estimators=3, scaling="none", random_state=0)


def expected_rows(expected):
    """The rows of each error, and the beginnings of the texts that name its cells."""
    begins = {}
    for (_, column), rows in expected.items():
        for row in rows:
            start = "copy of row 90" if column is None else f"{column} = "
            begins.setdefault(row, []).append(start)
    return begins


def texts_of(frame):
    return {k: text for k, text in enumerate(frame["checks"]) if isinstance(text, str) and text}


def test_every_planted_error_is_named_in_its_row_and_in_no_other():
    frame, expected = planted()
    found = odefs.detect(frame, model=small())
    texts = texts_of(found.to_frame())
    begins = expected_rows(expected)
    # Rows count from 0 in Python.
    begins[90] = ["copy of row 89"]
    assert texts.keys() == begins.keys()
    for row, starts in begins.items():
        parts = texts[row].split("; ")
        assert len(parts) == len(starts)
        assert all(any(part.startswith(start) for part in parts) for start in starts)
    labels = {
        check.kind: messages.checked_cell(check, check.values[0])
        for check in found.checks
        if check.values
    }
    for (kind, column), rows in expected.items():
        assert column is None or texts[rows[0]] == labels[kind]


@pytest.mark.parametrize("ending", ["csv", "parquet", "ndjson", "xlsx"])
def test_files_of_every_format_have_the_column(ending, tmp_path):
    frame, expected = planted()
    frame.write_csv(tmp_path / "t.csv")
    done = run("detect", "t.csv", "--id", "key", *FAST, "-o", f"s.{ending}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    reader = {"csv": pl.read_csv, "parquet": pl.read_parquet, "ndjson": pl.read_ndjson}
    written = reader.get(ending, pl.read_excel)(tmp_path / f"s.{ending}")
    assert written.columns[-1] == "checks"
    texts = texts_of(written)
    assert texts.keys() == expected_rows(expected).keys()
    # The number in the column "row", which counts from 1.
    assert texts[90] == "copy of row 90"
    assert texts[50] == "height = 58.9 (far from all others)"


def test_files_are_the_same_in_memory_and_in_parts_to_the_byte(tmp_path):
    frame, _ = planted()
    # Dates in numbers, words for missing, and ids that no model uses.
    n = frame.height
    days = [20250100 + k % 28 + 1 for k in range(n)]
    days[7] = 20930101
    orders = [1000 + k for k in range(n)]
    orders[9] = orders[8]
    frame = frame.with_columns(booked=pl.Series(days), order_id=pl.Series(orders))
    frame.write_csv(tmp_path / "t.csv")
    for mode in ("0", "1"):
        line = ("detect", "t.csv", "--id", "key", *FAST, "--na", "green", "-o", f"s{mode}.csv")
        done = run(*line, "--reasons", "all", cwd=tmp_path, ODEFS_IN_PARTS=mode)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "s0.csv").read_bytes() == (tmp_path / "s1.csv").read_bytes()
    texts = texts_of(pl.read_csv(tmp_path / "s1.csv"))
    assert texts[7].startswith("booked = 2093")
    assert texts[8] == "order_id = 1008 (repeated id)"
    assert texts[9] == "order_id = 1008 (repeated id)"


@pytest.mark.parametrize("height", [7, 500, 100_000])
def test_all_rows_of_a_check_are_marked_also_those_that_it_does_not_list(
    height, tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "rows_at_once", lambda width: height)
    n = 40_000
    rng = np.random.default_rng(0)
    size = rng.normal(50, 5, n)
    wrong = np.sort(rng.choice(n, n // 20, replace=False))
    size[wrong] = -1.0
    pl.DataFrame({"size": size, "other": rng.normal(size=n)}).write_parquet(tmp_path / "t.parquet")
    table, encoder = ParquetTable((tmp_path / "t.parquet",)), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    (check,) = find_checks(table, encoder, table.names)
    assert (check.count, len(check.rows)) == (wrong.size, ROWS_KEPT)
    checks = RowChecks((check,), frozenset(encoder.na), frozenset())
    rows = []
    for start, batch in table.batches(checks.columns):
        numbers = np.arange(start, start + batch.num_rows)
        texts = checks.of_batch(table, batch, numbers, str)
        rows += [start + k for k, text in enumerate(texts) if text is not None]
    assert rows == wrong.tolist()
    some = np.array([*wrong[-3:][::-1], 0 if wrong[0] else 1, wrong[0], wrong[-1]])
    texts = checks.of_rows(table, some, str)
    assert [text is not None for text in texts] == [True, True, True, False, True, True]


def test_all_copies_are_marked_with_the_first_row_that_they_repeat():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=150_000) for j in range(4)})
    frame = pl.concat([frame, frame[:1200], frame[:1], frame[5:6]])
    table, encoder = table_of(frame), ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    (check,) = find_checks(table, encoder, table.names)
    assert (check.kind, check.count, len(check.rows)) == ("copied_row", 1202, ROWS_KEPT)
    (marks,) = find_marks([check], Columns((), frame.height), np.arange(frame.height))
    assert marks.places.tolist() == list(range(150_000, 151_202))
    assert list(marks.originals) == [*range(1200), 0, 5]


def test_a_row_that_is_a_sum_is_named_as_such_only():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.integers(1, 50, 60).astype(float) for name in "abc"})
    frame = pl.concat([frame, frame.sum()])
    texts = texts_of(odefs.detect(frame, model=small()).to_frame())
    assert texts == {60: "sum of all other rows in a, b, c"}


@pytest.mark.parametrize(
    "as_library", [lambda f: f, lambda f: f.to_pandas(), lambda f: f.to_arrow()]
)
def test_frames_of_every_library_have_it(as_library):
    frame, expected = planted()
    found = odefs.detect(as_library(frame.drop("key")), model=small())
    own, top = found.to_frame(), found.top(20)
    texts = pd.Series(own["checks"]) if isinstance(own, pa.Table) else own["checks"]
    texts = texts.to_list()
    assert {k for k, text in enumerate(texts) if isinstance(text, str)} == {
        row for rows in expected.values() for row in rows
    }
    listed = top["checks"].to_pylist() if isinstance(top, pa.Table) else top["checks"].to_list()
    wanted = [texts[row] for row in found.order[:20].tolist()]
    assert [str(a) if isinstance(a, str) else None for a in listed] == [
        str(b) if isinstance(b, str) else None for b in wanted
    ]
    assert any(isinstance(text, str) for text in listed)


def test_copies_are_named_as_the_frame_names_its_rows():
    frame, _ = planted()
    assert odefs.detect(frame, id="key", model=small()).to_frame()["checks"][90].endswith("k89")
    indexed = frame.to_pandas().set_index("key")
    assert (
        odefs.detect(indexed, model=small())
        .to_frame()["checks"]["k89"]
        .tolist()[1]
        .endswith("row k89")
    )
    hidden = odefs.detect(frame, id="key", hide=["key"], model=small())
    assert hidden.to_frame()["checks"][90] == "copy of row 89"


def test_without_a_search_there_is_no_column_and_without_errors_it_is_empty(tmp_path):
    frame, _ = planted()
    found = odefs.detect(frame, model=small(), checks=False)
    assert "checks" not in found.to_frame().columns
    assert "checks" not in found.top(2).columns
    clean = pl.DataFrame({"a": np.arange(60.0) % 7, "b": np.arange(60.0) % 11})
    empty = odefs.detect(clean, model=small())
    assert empty.checks == []
    assert empty.to_frame().schema["checks"] == empty.top(0).schema["checks"] == pl.String
    assert empty.to_frame()["checks"].null_count() == 60
    (columns,) = result_batches(table_of(clean), empty)
    assert columns["checks"].dtype == pl.String
    assert columns["checks"].null_count() == 60
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", *FAST, "-o", "s.csv")
    assert run(*line, "--no-checks", cwd=tmp_path).returncode == 0
    assert "checks" not in read(tmp_path / "s.csv")[0]


def test_scores_of_new_rows_have_no_such_column(tmp_path):
    frame, _ = planted()
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--save", "m.odefs", "--json", *FAST)
    assert run(*line, cwd=tmp_path).returncode == 0
    done = run("score", "m.odefs", "t.csv", "-o", "s.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "checks" not in read(tmp_path / "s.csv")[0]


@pytest.mark.parametrize("mode", ["0", "1"])
def test_hidden_columns_are_not_named(mode, tmp_path):
    frame, expected = planted()
    frame.write_csv(tmp_path / "t.csv")
    hide = ("--hide", "country", "--hide", "income")
    line = ("detect", "t.csv", "--id", "key", *FAST, *hide, "--json", "-o", "s.csv")
    done = run(*line, "--with-data", "--flag", "40", cwd=tmp_path, ODEFS_IN_PARTS=mode)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "s.csv").read_text()
    assert "Phlippines" not in text
    assert "Phlippines" not in done.stdout
    assert "-999" not in text
    shown = {place: rows for place, rows in expected.items() if place[1] not in hide}
    assert texts_of(pl.read_csv(tmp_path / "s.csv")).keys() == expected_rows(shown).keys()


@pytest.mark.parametrize("mode", ["0", "1"])
def test_json_and_the_report_have_the_text_of_the_file(mode, tmp_path):
    frame, _ = planted()
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--id", "key", *FAST, "--json", "-o", "s.csv", "--flag", "30")
    done = run(*line, cwd=tmp_path, ODEFS_IN_PARTS=mode)
    assert done.returncode == 0, done.stderr
    written = {line["key"]: line["checks"] or None for line in read(tmp_path / "s.csv")}
    top = json.loads(done.stdout)["top"]
    assert [row["checks"] for row in top] == [written[row["name"]] for row in top]
    assert any(row["checks"] for row in top)


def test_the_page_shows_it_where_a_row_is_opened_and_saves_it():
    frame, _ = planted()
    report = build_report(odefs.detect(frame, model=small(), flag=30))
    top = report.summary["top"]
    assert any(row["checks"] for row in top)
    for row in top:
        shown = _top_row(row)["checks"]
        assert (shown is None) == (row["checks"] is None)
        assert shown is None or row["checks"] in shown
    assert ",checks" in report.drawing["csv"]["header"]
    without = build_report(odefs.detect(frame, model=small(), checks=False))
    assert ",checks" not in without.drawing["csv"]["header"]
    assert {row["checks"] for row in without.summary["top"]} == {None}


def test_text_that_would_be_a_formula_is_escaped_and_restored(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(50, 5, 200).round(2)
    size[7] = -3.0
    frame = pl.DataFrame({"=size": size, "x": rng.normal(size=200).round(3)})
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", *FAST, "-o", "s.csv")
    for options, mark in (((), "'"), (("--raw",), "")):
        assert run(*line, *options, cwd=tmp_path).returncode == 0
        assert read(tmp_path / "s.csv")[7]["checks"] == f"{mark}=size = -3 (negative)"
    assert run(*line, cwd=tmp_path).returncode == 0
    # Recognised as a file of scores: the apostrophe is removed when it is read again.
    again = run("detect", "s.csv", *FAST, "--json", cwd=tmp_path)
    assert "apostrophes_removed" in {one["kind"] for one in json.loads(again.stdout)["notes"]}


def test_input_columns_of_the_same_name_are_kept(tmp_path):
    frame, _ = planted()
    frame = frame.rename({"length": "checks"})
    frame.write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", *FAST, "-o", "s.csv", "--with-data")
    assert run(*line, cwd=tmp_path).returncode == 0
    row = read(tmp_path / "s.csv")[10]
    assert (row["checks"], row["checks (input)"]) == (
        "checks = 0 (zero among positive numbers)",
        "0.0",
    )


def test_answers_keep_the_column():
    frame, _ = planted()
    found = odefs.detect(frame, model=small())
    review = found.review()
    review.tell(review.next(), False)
    assert texts_of(found.with_answers(review).to_frame()) == texts_of(found.to_frame())


def test_checks_without_a_description_of_their_cells_mark_the_rows_that_they_list():
    check = ValueCheck("negative", "age", 2, (3, 9), values=(-1.0, -2.0))
    (marks,) = find_marks([check], Columns((), 4), np.array([9, 2, 3, 10]))
    assert (marks.places.tolist(), list(marks.cells)) == ([0, 2], [-2.0, -1.0])


def test_infinite_cells_and_long_ids_are_named():
    rng = np.random.default_rng(0)
    ids = 4 * 10**15 + np.arange(300)
    ids[20] = ids[10]
    frame = pl.DataFrame({"card_id": ids, "a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame[5, "a"] = np.inf
    texts = odefs.detect(frame, model=small()).to_frame()["checks"]
    assert "a = inf (" in texts[5]
    assert f"card_id = {ids[10]} (" in texts[10]
    assert texts[10] == texts[20]


def test_lines_of_the_page_have_the_checks_of_their_own_row():
    """Rows that are identical to the model need not be so in other columns."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=600)
    amount = [f"{value:.2f}" for value in rng.normal(100, 5, 600)]
    number[[10, 20]], amount[10], amount[20] = 40.0, "abc", None
    found = odefs.detect(pl.DataFrame({"amount": amount, "number": number}), model=small())
    (group,) = [row for row in found.report().summary["top"] if row["count"] == 2]
    assert "abc" in group["checks"]
    saved = found.report().drawing["csv"]
    lines = csv.DictReader([saved["header"], *saved["lines"]])
    checks = {line["row"]: line["checks"] for line in lines}
    assert "abc" in checks["11"]
    assert "abc" not in checks["21"]


def test_every_kind_of_a_cell_has_a_label():
    of_rows_or_values = {"spelling", "case_or_spaces", "text_in_numbers", "copied_row", "sum_row"}
    of_rows_or_values |= {"repeated_header", "text_row"}
    assert set(LABELS) | of_rows_or_values == set(get_args(CheckKind))
