"""One job: any method on any data, and what its record holds."""

import json
import subprocess

import numpy as np
import pytest

from experiment_records import ODEFS, SMALL
from odefs.experiments import grid, run, sources
from odefs.experiments.methods import built_in, resolve_method
from odefs.experiments.summary import failures, summarise


def test_a_record_holds_what_a_number_depends_on():
    record = run.run_job(grid.Job("ODEFS-paper", SMALL, 3, options=(("selection__l1", 1e-3),)))
    assert {
        "auc",
        "p@k",
        "ap",
        "seconds",
        "subset_size",
        "precision",
        "recall",
        "versions",
        "cpu",
        "threads",
    } <= set(record)
    assert grid.job_of(json.loads(json.dumps(record))) == grid.Job(
        "ODEFS-paper", SMALL, 3, options=(("selection__l1", 1e-3),)
    )
    again = run.run_job(grid.Job("ODEFS-paper", SMALL, 3, options=(("selection__l1", 1e-3),)))
    assert again["auc"] == record["auc"]


@pytest.mark.parametrize("method", built_in())
def test_every_method_runs(method):
    record = run.run_job(grid.Job(method, SMALL, 0))
    assert "error" not in record
    assert record["auc"] > 0.9


def test_a_failure_is_recorded_and_does_not_stop_the_rest():
    record = run.run_job(grid.Job("sklearn.svm:SVC", SMALL, 0))
    assert "TypeError" in record["error"]
    assert failures([record]) == {("sklearn.svm:SVC", SMALL): record["error"]}
    assert summarise([record], "auc") == {}


def test_methods_of_ones_own():
    assert run.run_job(grid.Job("sklearn.ensemble:IsolationForest", SMALL, 0))["auc"] > 0.9
    with pytest.raises(ValueError, match="cannot be imported"):
        resolve_method("nowhere:Nothing")
    with pytest.raises(ValueError, match="one of LeSiNN"):
        resolve_method("nothing")


def test_data_of_ones_own(tmp_path):
    made = sources.open_source(SMALL, 0)
    np.savez(tmp_path / "mine.npz", X=made.X, y=made.y)
    header = ",".join([*(f"c{k}" for k in range(10)), "odd"])
    np.savetxt(
        tmp_path / "mine.csv",
        np.c_[made.X, made.y],
        delimiter=",",
        header=header,
        comments="",
        fmt="%.9g",
    )
    numbers = [
        run.run_job(grid.Job("LeSiNN", str(name), 0))["auc"]
        for name in (tmp_path / "mine.npz", f"{tmp_path}/mine.csv:odd")
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-3)
    with pytest.raises(sources.DatasetError, match="label"):
        sources.open_source(str(tmp_path / "mine.csv"), 0)


def test_a_dataset_that_cannot_be_opened_is_a_failure_of_its_job():
    assert "DatasetError" in run.run_job(grid.Job("LeSiNN", "nowhere.npz", 0))["error"]


@pytest.mark.parametrize("name", ["sklearn.neighbors:LocalOutlierFactor", "pyod.models.hbos:HBOS"])
def test_scores_are_found_under_the_names_of_other_libraries(name):
    assert run.run_job(grid.Job(name, SMALL, 0))["auc"] > 0.8


def test_making_data(tmp_path):
    line = [
        str(ODEFS),
        "datasets",
        "make",
        "shifted",
        "-o",
        str(tmp_path / "s.npz"),
        "--rows",
        "200",
        "--columns",
        "9",
        "--relevant",
        "2",
    ]
    subprocess.run(line, check=True, capture_output=True)
    with np.load(tmp_path / "s.npz") as made:
        assert made["X"].shape == (200, 9)
        assert made["relevant"].size == 2
