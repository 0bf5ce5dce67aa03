"""What is written and said about a detection, by direct calls."""

import gzip
import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import odefs
from odefs.cli.terminal.screen import Screen, show_detection
from odefs.exceptions import TableError
from odefs.report.collect import _without_choice
from odefs.tables.model_files.tables import load_table_model
from odefs.tables.readers.open import open_table
from odefs.tables.table import table_of
from odefs.tables.writers.columns import result_batches
from odefs.tables.writers.files import write_table


def frame(**further):
    rng = np.random.default_rng(0)
    columns = {
        "a": [*rng.integers(0, 9, 60).astype(float), 99.0, 99.0],
        "b": ["u", "v"] * 30 + ["u", None],
    }
    return pl.DataFrame(columns | further)


def found(table, **options):
    return odefs.detect(table, model=odefs.ODEFS(n_estimators=3, random_state=0), **options)


def test_rows_that_only_the_encoding_makes_equal_are_shown_apart(capsys):
    table = frame(b=["u"] * 30 + ["v"] * 20 + ["u"] * 11 + [None])
    detection = found(table)
    assert np.array_equal(detection.X[60], detection.X[61]), "a blank takes the usual value"
    show_detection(Screen(), detection, 2)
    shown = capsys.readouterr().out
    assert " more" not in shown.split("\n\n")[1]
    assert "candidate" not in shown, "how the model was trained is in the report"
    assert (
        repr(detection)
        == f"<Detection: 62 rows, 2 columns used, {int(detection.is_outlier.sum())} flagged>"
    )


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".ndjson"])
def test_dates_without_times_are_written_without_times(suffix, tmp_path):
    days = [f"2022-10-{1 + k % 28:02d}" for k in range(62)]
    times = [f"{day} 12:30:00" for day in days]
    frame(day=days, time=times).write_csv(tmp_path / "t.csv")
    detection = odefs.detect(tmp_path / "t.csv", random_state=0, checks=False)
    path = tmp_path / f"out{suffix}"
    write_table(path, result_batches(detection.origin, detection, with_data=True))
    if suffix == ".xlsx":
        written = pl.read_excel(path)
        assert written.schema["day"] == pl.Date
        assert written["day"].cast(pl.String).to_list() == days
        assert written.schema["time"] == pl.Datetime("ms")
    else:
        read = pl.read_ndjson if suffix == ".ndjson" else pl.read_csv
        written = read(path)
        assert written["day"].cast(pl.String).to_list() == days
        assert all("12:30" in str(one) for one in written["time"])


@pytest.mark.parametrize("named", [False, True])
def test_a_column_called_row_is_kept_apart_from_row_numbers(named, tmp_path):
    table = frame(row=[f"r{i % 50}" for i in range(62)])
    detection = found(table, id="row" if named else None)
    (columns,) = result_batches(table_of(table), detection, reasons="none", with_data=True)
    assert list(columns["row"]) == list(range(1, 63))
    own = columns["row (id)" if named else "row (input)"]
    assert pl.Series(own).to_list() == table["row"].to_list()
    assert list(columns)[-2:] == (["a", "b"] if named else ["b", "row (input)"])
    detection.save(tmp_path / "m.odefs")
    assert load_table_model(tmp_path / "m.odefs").identifier == ("row" if named else None)


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_nested_cells_are_written_as_text(name, tmp_path):
    table = pl.DataFrame({"l": [[1, 2], None], "s": [{"k": "ü"}, {"k": None}], "b": [b"\xff", b""]})
    write_table(tmp_path / name, [table.to_dict()])
    back = open_table(tmp_path / name).table.frame
    assert json.loads(back["l"][0]) == [1, 2]
    assert json.loads(back["s"][0]) == {"k": "ü"}


@pytest.mark.parametrize(
    ("name", "separator"),
    [("big.tsv.scores.csv", ","), ("t.tsv", "\t"), ("T.TSV.GZ", "\t"), ("t.tsv.csv.gz", ",")],
)
def test_the_end_of_a_name_says_how_cells_are_parted(name, separator, tmp_path):
    write_table(tmp_path / name, [{"a": [1], "b": [2]}])
    content = (tmp_path / name).read_bytes()
    text = gzip.decompress(content) if name.lower().endswith(".gz") else content
    assert text.decode() == f"a{separator}b\n1{separator}2\n"


def test_formulas_are_defused_in_categories_and_only_where_a_spreadsheet_reads(tmp_path):
    columns = {
        "c": pl.Series(["=1+1", "x"], dtype=pl.Categorical),
        "e": pl.Series(["@a", "b"], dtype=pl.Enum(["@a", "b"])),
    }
    write_table(tmp_path / "t.csv", [columns], excel=True)
    assert (tmp_path / "t.csv").read_text("utf-8-sig") == "c,e\n'=1+1,'@a\nx,b\n"
    write_table(tmp_path / "t.parquet", [columns], excel=True)
    assert pl.read_parquet(tmp_path / "t.parquet")["c"][0] == "=1+1"


def test_a_command_less_its_threshold_stays_a_command():
    assert _without_choice("odefs detect 'my file.csv' --flag 3 --id 'a --flag b'") == (
        "odefs detect 'my file.csv' --id 'a --flag b'"
    )
    assert (
        _without_choice("odefs detect t.csv --threshold=2.5 --contamination '0.1'")
        == "odefs detect t.csv"
    )


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "ndjson", "xlsx", "parquet", "arrow"])
def test_a_table_without_batches_is_a_file(ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    assert write_table(path, []) == ()
    assert path.is_file()


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", [pl.Int128, pl.List(pl.Int128)], ids=["cells", "lists"])
def test_integers_that_arrow_lacks_are_refused(kind, ending, tmp_path):
    cells = [2**100, None] if kind == pl.Int128 else [[2**100], None]
    with pytest.raises(TableError, match="column 'n' holds integers of 128 bits"):
        write_table(tmp_path / f"t.{ending}", [{"x": [1, 2], "n": pl.Series(cells, dtype=kind)}])
    assert list(tmp_path.iterdir()) == []
    write_table(tmp_path / "t.csv", [{"n": pl.Series(cells, dtype=kind)}])
    assert str(2**100) in (tmp_path / "t.csv").read_text()


@pytest.mark.parametrize("ending", ["csv", "ndjson", "xlsx"])
def test_cells_without_a_form_in_text_are_written_as_text(ending, tmp_path):
    columns = {
        "took": [timedelta(days=1, seconds=3), None],
        "raw": [b"\x00ab", None],
        "parts": [[1, 2], None],
        "pieces": [[b"a"], None],
        "other": pl.Series([Path("a"), None], dtype=pl.Object),
    }
    write_table(tmp_path / f"t.{ending}", [columns])
    if ending == "csv":
        assert (
            (tmp_path / "t.csv").read_text()
            == 'took,raw,parts,pieces,other\nP1DT3S,AGFi,"[1, 2]","[""b\'a\'""]",a\n,,,,\n'
        )
    if ending == "ndjson":
        first = json.loads((tmp_path / "t.ndjson").read_text().splitlines()[0])
        assert first["raw"] == "AGFi"
        assert first["parts"] == [1, 2]
