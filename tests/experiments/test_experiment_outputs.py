"""Tables and figures from records."""

import csv
import io

import pytest

from experiment_records import fake_records
from odefs.experiments import tables
from odefs.experiments.methods import TABLE2
from odefs.experiments.reproduce import planned_jobs, write_outputs
from odefs.experiments.summary import summarise


def test_tables_in_three_formats():
    records = fake_records()
    table = tables.comparison_table(
        records, TABLE2, ["musk", "bank", "mnist", "u2r"], "auc", "ODEFS-paper"
    )
    lines = table.markdown().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "(0.641)" in lines[3], "the paper's number stands beside ours"
    parsed = list(csv.reader(io.StringIO(table.csv())))
    assert parsed[0] == ["dataset", *TABLE2]
    assert [row[0] for row in parsed[-5:]] == [
        "mean of 4",
        "average rank",
        "p against ODEFS-paper",
        "p, Holm",
        "p as in the paper",
    ]
    assert table.latex().count(r"\\") == len(parsed)
    cell = summarise(records, "auc")["RandFS", "musk"]
    assert f"{cell.mean:.3f} ± {cell.std:.3f}" in lines[2]
    assert "base rate" in tables.improvement_table(records, ["musk"]).header


@pytest.mark.parametrize("experiment", ["theorem", "noise", "scalability"])
def test_figures_are_drawn_and_repeat(experiment, tmp_path):
    jobs, absent = planned_jobs(experiment, [], [], 2, "transductive", False)
    assert not absent
    numbers = {"auc": 0.8, "seconds": 1.0, "subset_size": 3.0, "precision": 0.5, "recall": 0.5}
    records = [
        {"job": {**vars(job), "options": [list(o) for o in job.options]}, **numbers} for job in jobs
    ]
    written = [write_outputs(experiment, records, tmp_path / name) for name in ("a", "b")]
    if experiment == "theorem":
        assert len((tmp_path / "a" / "theorem.csv").read_text().splitlines()) == 1 + 12, (
            "one row per m/m*"
        )
    images = [path for path in written[0] if path.suffix in (".svg", ".png")]
    assert images
    for path in images:
        assert path.stat().st_size > 2000
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_method_that_fails_everywhere_spoils_nothing(tmp_path):
    records = fake_records()
    for record in records:
        if record["job"]["method"] == "RandFS":
            for measure in ("auc", "p@k", "ap", "seconds"):
                del record[measure]
            record["error"] = "MemoryError: no"
    written = {path.name: path for path in write_outputs("table2", records, tmp_path)}
    table = written["table2-auc.md"].read_text()
    assert table.count("failed") == 4
    assert "mean of 4" in table
    assert "MemoryError" in written["table2-failures.md"].read_text()
    assert "table2-ranks.svg" in written


def test_a_split_run_does_not_overwrite_the_other_protocols_files(tmp_path):
    records = fake_records()
    split = [{**record, "job": {**record["job"], "protocol": "split"}} for record in records]
    names = [
        {path.name for path in write_outputs("table2", part, tmp_path)} for part in (records, split)
    ]
    assert not names[0] & names[1]


def test_a_table_of_failures_has_no_averages():
    record = {**fake_records()[0], "error": "MemoryError: no"}
    del record["auc"]
    dataset, method = record["job"]["dataset"], record["job"]["method"]
    assert tables.comparison_table([record], [method], [dataset], "auc", "ODEFS").rows == [
        [dataset, "failed (1.000)"]
    ]
