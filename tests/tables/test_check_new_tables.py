"""Values to check in new tables, which are read as the model has read the table of its training."""

import json
from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import odefs
from command import odefs as run
from odefs.tables.checks import find_checks
from odefs.tables.encoder.encoder import ColumnEncoder
from odefs.tables.encoder.learning import learn_encoder
from odefs.tables.table import table_of

TODAY = datetime(2026, 11, 18, tzinfo=UTC).timestamp()


def checks_of(trained, new):
    """Return the checks of a column of a new table as (kind, rows)."""
    frames = [
        pl.DataFrame({"when": cells, "y": np.arange(len(cells)) % 7.0}) for cells in (trained, new)
    ]
    encoder = ColumnEncoder()
    learn_encoder(encoder, table_of(frames[0]), ["when", "y"], 0)
    checks = find_checks(table_of(frames[1]), encoder, ["when", "y"], today=TODAY)
    return [(check.kind, check.rows) for check in checks]


def days(n):
    return [date(2026, 1, 1) + timedelta(days=k) for k in range(n)]


@pytest.mark.parametrize(("order", "is_future"), [("%m/%d/%Y", False), ("%d/%m/%Y", True)])
def test_ambiguous_dates_are_read_as_in_training(order, is_future):
    new = [f"{1 + k % 12:02d}/{1 + k % 12:02d}/2026" for k in range(100)]
    new = ["01/01/2026" if one.startswith("12") else one for one in new]
    new[7] = "11/12/2026"  # 12 November, or 11 December
    trained = [day.strftime(order) for day in days(300)]
    assert checks_of(trained, new) == [("future_date", (7,))] * is_future


@pytest.mark.parametrize("convert", [int, str])
def test_some_bad_dates_do_not_make_numbers_of_compact_dates(convert):
    trained = [convert(day.strftime("%Y%m%d")) for day in days(300)]
    new = trained[:200]
    new[5], new[6], new[9] = convert("0"), convert("0"), convert("20261399")
    assert checks_of(trained, new) == [("text_in_numbers", (5, 6, 9))]


def test_decimal_commas_of_training_are_known_in_new_tables():
    trained = [f"{40 + k % 17},{k % 9}5" for k in range(100)]
    # On their own, these would be thousands.
    new = [f"{40 + k % 17},{k % 9}50" for k in range(100)]
    assert checks_of(trained, new) == []
    new[7] = "43250,5"
    assert checks_of(trained, new) == [("extreme_value", (7,))]


def test_columns_that_the_model_does_not_read_are_recognised():
    new = [day.strftime("%d/%m/%Y") for day in days(100)]
    new[7] = "11/12/2027"
    assert checks_of(["same"] * 100, new) == [("future_date", (7,))]


def test_the_command_does_not_advise_options_that_it_lacks(tmp_path):
    rng = np.random.default_rng(0)
    cells = [f"{one:.1f} kg" for one in rng.normal(70, 5, 200)]
    cells[4] = cells[5] = "-999 kg"
    cells[6] = "-999.0 kg"
    pl.DataFrame({"w": cells, "x": rng.normal(size=200)}).write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--set", "n_estimators=2", "--json")
    found = json.loads(run(*line, "--save", "m.odefs", cwd=tmp_path).stdout)
    (check,) = found["checks"]
    assert (check["kind"], check["rows"]) == ("code", [5, 6, 7])
    assert "--na=-999 " in check["message"]
    # The advice holds for all spellings of the number.
    assert json.loads(run(*line, "--na=-999", cwd=tmp_path).stdout)["checks"] == []
    for form in (["--json"], ["--format", "github"], []):
        shown = run("check", "t.csv", "--model", "m.odefs", *form, cwd=tmp_path).stdout
        assert "-999" in shown
        assert "--na" not in shown


def test_records_of_python_name_arguments():
    rng = np.random.default_rng(0)
    cells = rng.normal(70, 5, (200, 30))
    cells[3:5] = -999
    found = odefs.detect(cells, random_state=0)
    assert "na=['-999']" in str(found.checks[0])
    assert "--" not in str(odefs.detect(cells[10:20], random_state=0).convention)
    report = found.report()
    assert report.summary["checks_omitted"] > 0
    for text in (report.markdown(), report.html()):
        assert "checks lists all" in text
        assert "checks-out" not in text
