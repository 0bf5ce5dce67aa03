"""Grids of jobs: killed, continued, run side by side, and started from the command line."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from experiment_records import ODEFS, SMALL
from locations import ROOT
from odefs.experiments import grid, plans, run, sources
from odefs.experiments.reproduce import RECORDS, planned_jobs, reproduce


def test_census_is_capped_openly():
    jobs = plans.table_jobs(["LeSiNN", "ODEFS-paper"], ["census", "musk"], 20)
    assert len([job for job in jobs if job.dataset == "musk"]) == 40
    assert {job.options for job in jobs if job.dataset == "census"} == {(), (("n_estimators", 30),)}


def test_lines_that_were_cut_short_are_passed_over(tmp_path):
    path = tmp_path / "r.jsonl"
    record = {
        "job": {"method": "a", "dataset": "b", "seed": 0, "protocol": "p", "options": []},
        "auc": 0.5,
    }
    grid.append_record(path, record)
    with open(path, "a") as file:
        file.write('{"job": {"met')
    grid.append_record(path, record | {"auc": 0.6})
    assert [found["auc"] for found in grid.read_records(path)] == [0.5, 0.6]


@pytest.mark.slow
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
        while (
            len(grid.read_records(results)) < before + 3
            and time.monotonic() < deadline
            and process.poll() is None
        ):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        counts.append(len(grid.read_records(results)))
    assert 0 < counts[0] < counts[1] < 24
    survived = results.read_text()
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert f"[progress] {counts[1] + 1}/24" in done.stderr
    records = grid.read_records(results)
    assert results.read_text().startswith(survived.rsplit("\n", 1)[0])
    assert len(records) == 24
    assert len({grid.job_of(record).key for record in records}) == 24


def test_parallel_workers_give_the_same_numbers(tmp_path):
    jobs = [grid.Job("LeSiNN", SMALL, seed) for seed in range(4)]
    for name, workers in (("one", 1), ("two", 2)):
        list(grid.run_grid(jobs, tmp_path / name, run.run_job, workers))
    numbers = [
        {r["job"]["seed"]: r["auc"] for r in grid.read_records(tmp_path / name)}
        for name in ("one", "two")
    ]
    assert numbers[0] == numbers[1]
    assert list(grid.run_grid(jobs, tmp_path / "one", run.run_job, 1)) == []


def test_failures_are_tried_again_and_the_last_word_counts(tmp_path):
    outcomes = iter([{"error": "no"}, {"auc": 0.9}])
    job = grid.Job("LeSiNN", SMALL, 0)

    def run_once(job):
        return {"job": {**vars(job), "options": []}, **next(outcomes)}

    for _ in range(2):
        list(grid.run_grid([job], tmp_path / "r", run_once, 1))
    assert [record["auc"] for record in grid.latest_records(tmp_path / "r")] == [0.9]
    assert list(grid.run_grid([job], tmp_path / "r", run_once, 1)) == []


@pytest.mark.slow
def test_an_empty_machine_is_told_what_is_missing(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "ODEFS_DATA": ""}
    line = [str(ODEFS), "reproduce", "table1", "--repeats", "1", "-o", str(tmp_path / "out")]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert "odefs datasets get census" in done.stderr
    assert "speech is not available locally" in done.stderr
    assert "Traceback" not in done.stderr
    own = subprocess.run(
        [*line, "--datasets", "nowhere.npz"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert "nowhere.npz is left out: there is no such file or dataset." in own.stderr
    listed = subprocess.run(
        [str(ODEFS), "datasets", "list"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert listed.stdout.count("not downloaded") == 12


def test_a_file_that_changed_is_run_again(tmp_path):
    """Records of one's own file belong to its content, not to its name."""
    file, results = tmp_path / "mine.npz", tmp_path / "records"

    def aucs_of_new_jobs(seed):
        made = sources.open_source(SMALL, seed)
        np.savez(file, X=made.X, y=made.y)
        jobs, _ = planned_jobs("table1", ["LeSiNN"], [str(file)], 2, "transductive", False)
        return [record["auc"] for _, _, record in grid.run_grid(jobs, results, run.run_job, 1)]

    first = aucs_of_new_jobs(seed=0)
    assert len(first) == 2
    assert aucs_of_new_jobs(seed=0) == []
    changed = aucs_of_new_jobs(seed=1)
    assert len(changed) == 2
    assert changed != first
    assert aucs_of_new_jobs(seed=0) == []
    assert len(grid.latest_records(results)) == 4


def test_the_tables_speak_of_the_file_as_it_is(tmp_path):
    file = tmp_path / "mine.npz"
    shown = []
    for seed in (0, 1):
        made = sources.open_source(SMALL, seed)
        np.savez(file, X=made.X, y=made.y)
        jobs, _ = planned_jobs("table2", ["LeSiNN"], [str(file)], 2, "transductive", False)
        reproduce("table2", jobs, tmp_path, 1, lambda *_: None)
        records = [
            record
            for record in grid.read_records(tmp_path / RECORDS)
            if record["job"]["content"] == jobs[0].content
        ]
        shown.append((tmp_path / "table2-auc.md").read_text())
        assert f"{np.mean([record['auc'] for record in records]):.3f}" in shown[-1]
    assert shown[0] != shown[1]


def test_datasets_of_the_registry_and_generators_keep_the_keys_they_had():
    assert sources.content_of("musk") == sources.content_of(SMALL) == ""
    committed = grid.read_records(ROOT / "results" / RECORDS)
    assert committed
    for record in committed:
        assert grid.job_of(record).key == json.dumps(record["job"], sort_keys=True)


@pytest.mark.slow
def test_competitors_are_read_in_several_ways(tmp_path):
    line = [
        str(ODEFS),
        "reproduce",
        "competitors",
        "--datasets",
        SMALL,
        "--repeats",
        "1",
        "--jobs",
        "1",
    ]
    done = subprocess.run([*line, "-o", str(tmp_path)], capture_output=True, text=True, check=True)
    assert "RegFS n_features=0.8 on" in done.stderr
    table = (tmp_path / "competitors-auc.md").read_text()
    assert "| RegFS() | RegFS(n_features=0.5) |" in table
    assert table.count("±") == 7
    refused = subprocess.run([*line, "--peers"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "competitors compares RegFS and DisFS" in refused.stderr
