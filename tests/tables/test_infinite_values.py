"""Infinite cells count as missing; values to check have their rows, if they are few."""

import json
import warnings

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.exceptions import ODEFSWarning
from odefs.tables import table as tables
from odefs.tables.checks import find_checks
from odefs.tables.detect import score_table
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.messages import infinite_column
from odefs.tables.table import ParquetTable, table_of


def table_with(*infinite, n=200):
    cells = np.random.default_rng(0).normal(50, 3, n)
    cells[3 : 3 + len(infinite)] = infinite
    return pl.DataFrame({"x": cells, "y": np.arange(n) % 7.0})


def checks_of(table):
    encoder = ColumnEncoder()
    learn_encoder(encoder, table, table.names, 0)
    return [
        (check.kind, check.rows, check.values) for check in find_checks(table, encoder, table.names)
    ]


@pytest.mark.parametrize("height", [None, 5])
def test_infinite_cells_have_rows(height, tmp_path, monkeypatch):
    frame = table_with(np.inf, -np.inf, np.nan)
    table = table_of(frame)
    if height:
        frame.write_parquet(tmp_path / "t.parquet")
        monkeypatch.setattr(tables, "rows_at_once", lambda width: height)
        table = ParquetTable((tmp_path / "t.parquet",))
    assert checks_of(table) == [("infinite_value", (3, 4), ("inf", "-inf"))]


def test_numbers_beyond_the_largest_float_are_infinite_in_text():
    frame = table_with().with_columns(x=pl.format("{} kg", pl.col("x").round(1)))
    frame[3, "x"] = "1e999 kg"
    assert checks_of(table_of(frame)) == [("infinite_value", (3,), ("1e999 kg",))]


def test_integers_beyond_the_largest_float_are_not_infinite():
    cells = pl.Series([10**400, *range(199)], dtype=pl.Object)
    frame = table_with().with_columns(x=cells)
    assert "infinite_value" not in [kind for kind, *_ in checks_of(table_of(frame))]


def test_many_infinite_cells_belong_to_the_column():
    found = odefs.detect(table_with(*[-np.inf] * 20), random_state=0)
    assert found.checks == []
    assert [note.kind for note in found.notes] == ["infinite_cells"]


def test_the_check_replaces_the_note(tmp_path):
    table_with(np.inf).write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--set", "n_estimators=2", "--no-report")
    shown = run(*line, cwd=tmp_path).stdout
    assert shown.count("infinite") == 1
    (check,) = json.loads(run(*line, "--json", cwd=tmp_path).stdout)["checks"]
    assert (check["kind"], check["rows"], check["values"]) == ("infinite_value", [4], ["inf"])


@pytest.fixture
def scorers(tmp_path):
    """Ways to score new rows with a detection, and with the pipeline that its file gives."""
    found = odefs.detect(table_with(), random_state=0)
    found.save(tmp_path / "m.odefs")
    loaded = odefs.load(tmp_path / "m.odefs")
    return {
        "score": found.score,
        "predict": found.predict,
        "pipeline": loaded.predict,
        "batches": lambda rows: list(odefs.score_batches(loaded, rows.to_arrow())),
    }


@pytest.mark.parametrize("n_infinite", [1, 200])
@pytest.mark.parametrize("way", ["score", "predict", "pipeline", "batches"])
def test_infinite_cells_of_new_rows_are_warned_about(way, n_infinite, scorers):
    rows = table_with(n=200).with_row_index("row")
    is_chosen = pl.col("row") < n_infinite
    infinite, missing = (
        rows.with_columns(x=pl.when(is_chosen).then(cell).otherwise("x")).drop("row")
        for cell in (np.inf, np.nan)
    )
    with pytest.warns(ODEFSWarning) as warned:
        scorers[way](infinite)
    assert [str(warning.message) for warning in warned] == [infinite_column("x")]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEFSWarning)
        scorers[way](missing)


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_column_of_infinite_cells_alone_is_noted(kind):
    codes = table_with().with_columns(x=pl.Series(np.arange(200.0) % 3))
    encoder = odefs.TableEncoder(**{kind: ["x"]}).fit(codes)
    model = odefs.LeSiNN(scaling="none", random_state=0).fit(encoder.transform(codes))
    rows = table_of(codes.with_columns(x=pl.lit(np.inf)))
    found, _ = score_table(rows, model, encoder)
    assert [(note.kind, note.count) for note in found.notes] == [("infinite_cells", 200)]


def test_infinite_cells_of_columns_that_are_not_used_are_not_warned_about():
    found = odefs.detect(table_with(), drop="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEFSWarning)
        found.score(table_with(np.inf))
