"""Options that name a column for two uses are refused if the uses exclude each other."""

import polars as pl
import pytest
from click.testing import CliRunner

from command import odefs, read
from odefs.cli.commands.detect import command as detect
from odefs.cli.commands.review import command as review

EXCLUDED = [
    *(("--id", other) for other in ("--drop", "--keep", "--number", "--category", "--by")),
    *(("--id", other) for other in ("--label", "--known")),
    *(("--label", other) for other in ("--drop", "--keep", "--number", "--category", "--by")),
    *(("--known", other) for other in ("--drop", "--number", "--label", "--by")),
    *(("--drop", other) for other in ("--keep", "--number", "--category", "--by")),
    ("--number", "--category"),
]
TOGETHER = [
    ("--hide", "--drop"),
    ("--hide", "--id"),
    ("--by", "--category"),
    ("--keep", "--number"),
]


@pytest.mark.parametrize("options", EXCLUDED, ids=" ".join)
@pytest.mark.parametrize("command", [detect, review])
def test_a_column_has_one_use(command, options):
    one, other = options
    done = CliRunner().invoke(command, ["gone.csv", one, "k", other, "k"])
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert f"{one} k" in told
    assert f"{other} k" in told
    assert CliRunner().invoke(command, ["gone.csv", one, "k", other, "n"]).exit_code == 1


@pytest.mark.parametrize("options", TOGETHER, ids=" ".join)
def test_uses_that_go_together_are_taken(options):
    one, other = options
    assert CliRunner().invoke(detect, ["gone.csv", one, "k", other, "k"]).exit_code == 1


def test_a_column_that_is_left_out_can_be_hidden(tmp_path):
    columns = {
        "pay": range(1000, 1060),
        "a": [i % 7 for i in range(60)],
        "b": [i % 5 for i in range(60)],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    line = ("detect", "t.csv", "--drop", "pay", "--with-data", "--no-report", "-o")
    fast = ("--set", "n_estimators=2")
    assert odefs(*line, "shown.csv", *fast, cwd=tmp_path).returncode == 0
    assert odefs(*line, "hidden.csv", "--hide", "pay", *fast, cwd=tmp_path).returncode == 0
    assert "pay" in read(tmp_path / "shown.csv")[0]
    assert "pay" not in read(tmp_path / "hidden.csv")[0]
