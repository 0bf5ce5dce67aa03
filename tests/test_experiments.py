"""The experiments: exact measures, resumable grids, tables and figures, and the commands that make them."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from odefs.experiments import comparison, grid, plans, results_page, run, sources, tables
from odefs.experiments.methods import TABLE2, built_in, resolve_method
from odefs.experiments.metrics import evaluate, precision_at_k
from odefs.experiments.paper_numbers import TABLE2_AUC, paper_number
from odefs.experiments.peers import peers
from odefs.experiments.reproduce import RECORDS, planned_jobs, write_outputs
from odefs.experiments.summary import failures, summarise

ODEFS = Path(sys.executable).parent / "odefs"
SMALL = "shifted?n_rows=300&n_columns=10&n_relevant=3&shift=0.8"


def test_precision_at_k_is_the_expectation_over_orders_of_ties():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.3).astype(int)
    scores = rng.integers(0, 4, 60).astype(float)
    k = y.sum()
    sampled = [y[np.lexsort((rng.random(60), -scores))[:k]].mean() for _ in range(4000)]
    assert precision_at_k(y, scores) == pytest.approx(np.mean(sampled), abs=0.01)
    assert precision_at_k(y, y.astype(float)) == 1
    assert np.isnan(precision_at_k(np.zeros(3), np.arange(3.0)))


def test_measures():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    found = evaluate(y, scores)
    assert found["auc"] == roc_auc_score(y, scores)
    assert found["p@k"] == 0.5


def test_holm_by_hand():
    np.testing.assert_allclose(comparison.holm(np.array([0.01, np.nan, 0.04, 0.03])), [0.03, np.nan, 0.06, 0.06])
    np.testing.assert_allclose(comparison.holm(np.array([0.5, 0.9])), [1.0, 1.0])


def test_signed_ranks_against_the_reference():
    rng = np.random.default_rng(1)
    values = rng.random((12, 3))
    values[:, 2] = values[:, 0]
    values[3, 1] = np.nan
    p = comparison.signed_rank_p_values(values, 0)
    whole = np.delete(values, 3, axis=0)
    assert np.isnan(p[0])
    assert p[1] == pytest.approx(stats.wilcoxon(whole[:, 0], whole[:, 1]).pvalue)
    assert p[2] == 1.0
    # All eleven of eleven better: two sign patterns of 2^11 are as extreme.
    assert comparison.signed_rank_p_values(np.c_[np.arange(11.0) + 1, np.zeros(11)], 0)[1] == pytest.approx(2 / 2**11)


def test_average_ranks_and_critical_difference():
    np.testing.assert_allclose(comparison.average_ranks(np.array([[3.0, 2, 1], [1, 1, 0]])), [1.25, 1.75, 3])
    # Demsar (2006): q_0.05 = 2.343 for three methods.
    assert comparison.critical_difference(3, 10) == pytest.approx(2.343 * np.sqrt(3 * 4 / 60), abs=1e-3)


def test_averages_of_the_papers_tables_are_those_it_prints():
    for method, average in (
        ("RandFS", 0.764),
        ("DisFS", 0.759),
        ("RegFS", 0.759),
        ("CINFO", 0.782),
        ("ODEFS-paper", 0.815),
    ):
        assert np.mean([row[method] for row in TABLE2_AUC.values()]) == pytest.approx(average, abs=0.001)
    assert paper_number("LeSiNN", "bank", "p@k") == 0.190
    assert paper_number("ODEFS", "bank", "auc") is None


def test_a_record_holds_what_a_number_depends_on():
    record = run.run_job(grid.Job("ODEFS-paper", SMALL, 3, options=(("l1", 1e-3),)))
    assert {"auc", "p@k", "ap", "seconds", "subset_size", "precision", "recall", "versions", "cpu", "threads"} <= set(
        record
    )
    assert grid.job_of(json.loads(json.dumps(record))) == grid.Job("ODEFS-paper", SMALL, 3, options=(("l1", 1e-3),))
    again = run.run_job(grid.Job("ODEFS-paper", SMALL, 3, options=(("l1", 1e-3),)))
    assert again["auc"] == record["auc"]


@pytest.mark.parametrize("method", built_in())
def test_every_method_runs(method):
    record = run.run_job(grid.Job(method, SMALL, 0))
    assert "error" not in record
    assert record["auc"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("method", peers())
def test_every_peer_runs(method):
    assert run.run_job(grid.Job(method, SMALL, 0))["auc"] > 0.8
    assert run.run_job(grid.Job(method, SMALL, 0, protocol="split"))["auc"] > 0.7


def test_a_failure_is_recorded_and_does_not_stop_the_rest():
    record = run.run_job(grid.Job("sklearn.svm:SVC", SMALL, 0))
    assert "TypeError" in record["error"]
    assert failures([record]) == {("sklearn.svm:SVC", SMALL): record["error"]}
    assert summarise([record], "auc") == {}


def test_methods_of_ones_own():
    assert run.run_job(grid.Job("sklearn.ensemble:IsolationForest", SMALL, 0))["auc"] > 0.9
    with pytest.raises(ValueError, match="cannot be imported"):
        resolve_method("nowhere:Nothing")
    with pytest.raises(ValueError, match="not one of LeSiNN"):
        resolve_method("nothing")


def test_data_of_ones_own(tmp_path):
    made = sources.open_source(SMALL, 0)
    np.savez(tmp_path / "mine.npz", X=made.X, y=made.y)
    header = ",".join([*(f"c{k}" for k in range(10)), "odd"])
    np.savetxt(tmp_path / "mine.csv", np.c_[made.X, made.y], delimiter=",", header=header, comments="", fmt="%.9g")
    numbers = [
        run.run_job(grid.Job("LeSiNN", str(name), 0))["auc"]
        for name in (tmp_path / "mine.npz", f"{tmp_path}/mine.csv:odd")
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-3)
    with pytest.raises(sources.DatasetError, match="label"):
        sources.open_source(str(tmp_path / "mine.csv"), 0)


def test_identical_rows_stay_on_one_side():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(2000, 4))
    train, test = run.split_rows(X, 0)
    assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[test]}
    assert 0.69 < len(train) / 2000 <= 0.7
    assert len(train) + len(test) == 2000


def test_one_large_group_of_identical_rows_does_not_eat_the_training_part():
    X = np.r_[np.zeros((1200, 3)), np.random.default_rng(0).normal(size=(800, 3))]
    for seed in range(10):
        train, test = run.split_rows(X, seed)
        assert 0.35 <= len(train) / 2000 <= 0.7
        assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[test]}


def test_census_is_capped_openly():
    jobs = plans.table_jobs(["LeSiNN", "ODEFS-paper"], ["census", "musk"], 20)
    assert len([job for job in jobs if job.dataset == "musk"]) == 40
    assert {job.options for job in jobs if job.dataset == "census"} == {(), (("n_estimators", 30),)}


def test_lines_that_were_cut_short_are_passed_over(tmp_path):
    path = tmp_path / "r.jsonl"
    record = {"job": {"method": "a", "dataset": "b", "seed": 0, "protocol": "p", "options": []}, "auc": 0.5}
    grid.append_record(path, record)
    with open(path, "a") as file:
        file.write('{"job": {"met')
    grid.append_record(path, record | {"auc": 0.6})
    assert [found["auc"] for found in grid.read_records(path)] == [0.5, 0.6]


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    """SIGKILL in the middle, again and again; in the end every job was run exactly once."""
    line = [
        ODEFS,
        "reproduce",
        "table2",
        "--datasets",
        SMALL,
        "--methods",
        "LeSiNN,RandFS,ODEFS-paper",
        "--repeats",
        "8",
    ]
    line = [*map(str, line), "--jobs", "1", "-o", str(tmp_path)]
    results = tmp_path / RECORDS
    counts = []
    for _ in range(2):
        before = len(grid.read_records(results))
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(grid.read_records(results)) < before + 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        counts.append(len(grid.read_records(results)))
    assert 0 < counts[0] < counts[1] < 24
    survived = results.read_text()
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert f"[{counts[1] + 1}/24" in done.stderr
    records = grid.read_records(results)
    assert results.read_text().startswith(survived.rsplit("\n", 1)[0])
    assert len(records) == 24
    assert len({grid.job_of(record).key for record in records}) == 24


def test_parallel_workers_give_the_same_numbers(tmp_path):
    jobs = [grid.Job("LeSiNN", SMALL, seed) for seed in range(4)]
    for name, workers in (("one", 1), ("two", 2)):
        list(grid.run_grid(jobs, tmp_path / name, run.run_job, workers))
    numbers = [{r["job"]["seed"]: r["auc"] for r in grid.read_records(tmp_path / name)} for name in ("one", "two")]
    assert numbers[0] == numbers[1]
    assert list(grid.run_grid(jobs, tmp_path / "one", run.run_job, 1)) == []


def fake_records():
    rng = np.random.default_rng(0)
    records = []
    for method in ("LeSiNN", *TABLE2):
        for dataset in ("musk", "bank", "mnist", "u2r"):
            for seed in range(3):
                job = {"method": method, "dataset": dataset, "seed": seed, "protocol": "transductive", "options": []}
                numbers = {name: float(rng.random()) for name in ("auc", "p@k", "ap", "seconds", "outlier_share")}
                records.append({"job": job, **numbers, "subset_size": 9.0})
    return records


def test_tables_in_three_formats():
    records = fake_records()
    table = tables.comparison_table(records, TABLE2, ["musk", "bank", "mnist", "u2r"], "auc", "ODEFS-paper")
    lines = table.markdown().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "(0.641)" in lines[3], "the paper's number stands beside ours"
    parsed = list(csv.reader(io.StringIO(table.csv())))
    assert parsed[0] == ["dataset", *TABLE2]
    assert [row[0] for row in parsed[-4:]] == ["mean of 4", "average rank", "p against ODEFS-paper", "p, Holm"]
    assert table.latex().count(r"\\") == len(parsed)
    cell = summarise(records, "auc")["RandFS", "musk"]
    assert f"{cell.mean:.3f} ± {cell.std:.3f}" in lines[2]
    assert "base rate" in tables.improvement_table(records, ["musk"]).header


@pytest.mark.parametrize("experiment", ["theorem", "noise", "scalability"])
def test_figures_are_drawn_and_repeat(experiment, tmp_path):
    jobs, absent = planned_jobs(experiment, [], [], 2, "transductive", False)
    assert not absent
    numbers = {"auc": 0.8, "seconds": 1.0, "subset_size": 3.0, "precision": 0.5, "recall": 0.5}
    records = [{"job": {**vars(job), "options": [list(o) for o in job.options]}, **numbers} for job in jobs]
    written = [write_outputs(experiment, records, tmp_path / name) for name in ("a", "b")]
    if experiment == "theorem":
        assert len((tmp_path / "a" / "theorem.csv").read_text().splitlines()) == 1 + 12, "one row per m/m*"
    images = [path for path in written[0] if path.suffix in (".svg", ".png")]
    assert images
    for path in images:
        assert path.stat().st_size > 2000
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_the_results_page_says_what_the_records_say(tmp_path):
    for record in fake_records():
        grid.append_record(tmp_path / RECORDS, record)
    page = results_page.write_page(tmp_path, tmp_path / "docs").read_text()
    cell = summarise(fake_records(), "auc")["RandFS", "musk"]
    assert f"{cell.mean:.3f} ± {cell.std:.3f} (1.000)" in page
    assert "odefs reproduce table2 -o results" in page
    assert "- musk: 3 repeats." in page
    assert "- census: no records yet." in page
    assert (tmp_path / "docs" / "figures" / "table2-ranks.svg").exists()


def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    root = Path(__file__).parent.parent
    page = results_page.write_page(root / "results", tmp_path)
    assert page.read_text() == (root / "docs" / "results.md").read_text()
    figures = sorted(tmp_path.glob("figures/*.svg"))
    assert figures
    assert all((root / "docs" / "figures" / figure.name).exists() for figure in figures)


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


def test_the_fastest_method_ranks_first():
    records = fake_records()
    for record in records:
        record["seconds"] = 1.0 if record["job"]["method"] == "RandFS" else 5.0
    table = tables.comparison_table(records, TABLE2, ["musk", "bank"], "seconds", "ODEFS-paper")
    ranks = next(row for row in table.rows if row[0] == "average rank")
    assert ranks[1 + TABLE2.index("RandFS")] == "1.00"


def test_failures_are_tried_again_and_the_last_word_counts(tmp_path):
    outcomes = iter([{"error": "no"}, {"auc": 0.9}])
    job = grid.Job("LeSiNN", SMALL, 0)

    def run_once(job):
        return {"job": {**vars(job), "options": []}, **next(outcomes)}

    for _ in range(2):
        list(grid.run_grid([job], tmp_path / "r", run_once, 1))
    assert [record["auc"] for record in grid.latest_records(tmp_path / "r")] == [0.9]
    assert list(grid.run_grid([job], tmp_path / "r", run_once, 1)) == []


def test_a_dataset_that_cannot_be_opened_is_a_failure_of_its_job():
    assert "DatasetError" in run.run_job(grid.Job("LeSiNN", "nowhere.npz", 0))["error"]


@pytest.mark.parametrize("name", ["sklearn.neighbors:LocalOutlierFactor", "pyod.models.hbos:HBOS"])
def test_scores_are_found_under_the_names_of_other_libraries(name):
    assert run.run_job(grid.Job(name, SMALL, 0))["auc"] > 0.8


def test_an_empty_machine_is_told_what_is_missing(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "ODEFS_DATA": ""}
    line = [str(ODEFS), "reproduce", "table1", "--repeats", "1", "-o", str(tmp_path / "out")]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert "odefs datasets get census" in done.stderr
    assert "speech is not on this machine" in done.stderr
    assert "Traceback" not in done.stderr
    own = subprocess.run(
        [*line, "--datasets", "nowhere.npz"], capture_output=True, text=True, check=False, env=environment
    )
    assert "nowhere.npz is left out: there is no such file or dataset." in own.stderr
    listed = subprocess.run(
        [str(ODEFS), "datasets", "list"], capture_output=True, text=True, check=True, env=environment
    )
    assert listed.stdout.count("not here") == 12


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
