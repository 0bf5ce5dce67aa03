"""Tables with categories in the accuracy experiment: counts of values, real runs, the section."""

import math
import os
import subprocess
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import odefs
from experiment_records import ODEFS
from odefs.datasets.store import DatasetError
from odefs.experiments import accuracy_page, grid, sources
from odefs.experiments.accuracy import plan, run
from odefs.experiments.accuracy import value_frequencies as counts
from odefs.experiments.run import evaluate
from odefs.tables.frames.convert import columns_of

TITLE = "## Tables with categories"
NAMES = ("mixed/monks_0_12.csv", "mixed/nursery.csv")


def made_table(n_rows=120, seed=0):
    """Text, few and many numbers, blanks in each kind, and a label."""
    rng = np.random.default_rng(seed)
    label = np.arange(n_rows) % 12 == 0
    colour = np.where(label, "green", rng.choice(["red", "blue"], n_rows)).tolist()
    price = np.where(label, 90.0, rng.normal(10, 3, n_rows)).round(2).tolist()
    size = rng.integers(0, 4, n_rows).tolist()
    colour[3], price[4], size[5] = None, None, None
    return pl.DataFrame({"colour": colour, "price": price, "size": size, "label": label * 1})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of datasets with two of the twelve tables, and only the fast methods."""
    (tmp_path / "data" / "mixed").mkdir(parents=True)
    for seed, name in enumerate(NAMES):
        made_table(seed=seed).write_csv(tmp_path / "data" / name)
    monkeypatch.setenv("ODEFS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    fast = (plan.DETECT, *counts.BASELINES, "IForest")
    monkeypatch.setattr(plan, "MIXED_METHODS", fast)
    return tmp_path


def cells_of(values):
    """The values that count as equal: cells, or bins where there are more than ten numbers."""
    known = [v for v in values if v is not None]
    if isinstance(known[0], str) or len(set(known)) <= 10:
        return values
    low, high = min(known), max(known)
    return [None if v is None else min(int((v - low) / (high - low) * 10), 9) for v in values]


def naive(columns):
    """Sums of -log of the share of rows with the same value, row by row."""
    total = []
    for row in range(len(columns[0])):
        shares = [Counter(column)[column[row]] / len(column) for column in columns]
        total.append(sum(-math.log(share) for share in shares))
    return total


def test_sums_over_a_table_agree_with_a_loop():
    table = made_table().drop("label")
    columns = [cells_of(column.to_list()) for column in table]
    codes = counts.table_codes(columns_of(table))
    both = [list(zip(a, b, strict=True)) for a, b in combinations(columns, 2)]
    assert counts.frequencies(codes) == pytest.approx(naive(columns), abs=1e-7)
    assert counts.pairs(codes) == pytest.approx(naive(both), abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_sums_over_a_matrix_agree_with_a_loop(dtype):
    rng = np.random.default_rng(1)
    X = rng.integers(0, [2, 3, 10, 200], (150, 4)).astype(dtype)
    columns = [cells_of(column.tolist()) for column in X.T]
    codes = counts.matrix_codes(X)
    both = [list(zip(a, b, strict=True)) for a, b in combinations(columns, 2)]
    assert counts.frequencies(codes) == pytest.approx(naive(columns), abs=1e-7)
    assert counts.pairs(codes) == pytest.approx(naive(both), abs=1e-7)


def test_only_more_than_ten_numbers_are_binned_and_missing_is_a_value():
    ten, eleven = np.arange(10.0)[:, None], np.append(np.arange(10.0), 100.0)[:, None]
    assert len(set(counts.matrix_codes(ten)[0])) == 10
    assert counts.matrix_codes(eleven)[0].tolist() == [1] * 10 + [10]
    with_missing = np.array([[1.0], [1.0], [1.0], [np.nan]])
    scores = counts.frequencies(counts.matrix_codes(with_missing))
    assert scores == pytest.approx([-math.log(3 / 4)] * 3 + [math.log(4)], abs=1e-7)


def test_sums_of_equal_terms_are_tied_in_any_order_of_the_columns():
    X = np.random.default_rng(2).integers(0, 5, (200, 12)).astype(float)
    for score in counts.BASELINES.values():
        one, other = score(counts.matrix_codes(X)), score(counts.matrix_codes(X[:, ::-1]))
        assert np.array_equal(one, other)


def test_pairs_of_too_many_values_are_left_out():
    few = np.arange(600) % 3
    for n_values, is_used in ((500, True), (501, False)):
        many = np.minimum(np.arange(600), n_values - 1)
        constant = np.zeros(600, dtype=int)
        assert counts.pairs([many, constant]).any() == is_used
        assert counts.pairs([few, constant, many]).any()


def test_every_method_gets_the_same_tables():
    jobs = plan.mixed_jobs([], 20)
    by_method = {
        method: {(job.dataset, job.seed) for job in jobs if job.method == method}
        for method in plan.MIXED_METHODS
    }
    assert len(plan.MIXED) == len(set(plan.MIXED)) == 12
    for method, found in by_method.items():
        seeds = plan.REPEATS if method in plan.OURS else plan.FEW_REPEATS
        assert found == {(table, seed) for table in plan.MIXED for seed in range(seeds)}
    assert {job.method for job in plan.baseline_jobs([], 20)} == {"frequencies", "pairs"}


def test_jobs_use_the_table_and_peers_its_encoded_matrix(folder):
    name = NAMES[0]
    frame, y = sources.open_frame(name)
    assert frame.columns == ["colour", "price", "size"]
    assert y.sum() == 10
    found = run.run_accuracy_job(grid.Job(plan.DETECT, name, 3))
    direct = evaluate(y, odefs.detect(frame, random_state=3, n_jobs=1).scores)
    assert {key: found[key] for key in direct} == direct
    assert found["n_columns"] == 3
    peer = run.run_accuracy_job(grid.Job("IForest", name, 3))
    assert peer["n_columns"] == odefs.TableEncoder().fit_transform(frame).shape[1] > 3
    for method, score in counts.BASELINES.items():
        record = run.run_accuracy_job(grid.Job(method, name, 0))
        assert record["auc"] == evaluate(y, score(counts.table_codes(columns_of(frame))))["auc"]


def test_the_bare_detector_is_measured_on_tables_too(folder):
    found = run.run_accuracy_job(grid.Job(plan.DETECT_BARE, NAMES[0], 3))
    assert "error" not in found
    assert 0.5 < found["auc"] <= 1


def test_a_real_run_writes_records_and_the_section(folder):
    path = folder / run.RECORDS
    records = [r for *_, r in run.run_parts(path, 1, NAMES, 1, ["mixed"])]
    assert [r for r in records if "error" in r] == []
    assert {len(r["job"]["content"]) for r in records} == {64}
    assert len(records) == 2 * len(plan.MIXED_METHODS)
    page = accuracy_page.write_page(folder, folder / "docs").read_text()
    part = page.partition(TITLE)[2]
    assert "on 2 public tables" in part
    assert "one seed" in part
    assert part.count("| table | odefs.detect | frequencies | pairs | IForest |") == 2
    assert part.count("| mean of 2 |") == 2
    assert "| nursery | 120 x 3 | 0.083 |" in part.partition("## Datasets")[2]
    assert list(run.run_parts(path, 1, NAMES, 1, ["mixed"])) == []
    list(run.run_parts(path, 1, NAMES, 2, ["mixed"]))
    again = accuracy_page.write_page(folder, folder / "docs").read_text()
    assert "means over 2 seeds" in again.partition(TITLE)[2]


def made_record(method, dataset, seed, auc):
    job = grid.Job(method, dataset, seed).as_record()
    return {"job": job, "auc": auc, "p@k": auc / 2, "seconds": 1.0}


def test_the_section_compares_with_both_baselines_and_marks_failures(tmp_path):
    aucs = {plan.DETECT: 0.8, "frequencies": 0.7, "pairs": 0.85}
    records = [made_record(m, name, 0, auc) for name in NAMES for m, auc in aucs.items()]
    records += [made_record(plan.DETECT, name, 1, 0.8) for name in NAMES]
    records.append(made_record("PyOD-PCA", NAMES[0], 0, 0.6))
    failed = grid.Job("PyOD-PCA", NAMES[1], 0).as_record()
    records.append({"job": failed, "error": "ValueError: no"})
    for one in records:
        grid.append_record(tmp_path / run.RECORDS, one)
    page = accuracy_page.write_page(tmp_path, tmp_path / "docs").read_text()
    part = page.partition(TITLE)[2]
    assert "means over 1 to 2 seeds" in part
    assert "mean AUC +0.100, mean p@k +0.050; the AUC is higher on 2 of 2" in part
    assert "mean AUC -0.050, mean p@k -0.025; the AUC is higher on 0 of 2" in part
    assert "| nursery | 0.800 | 0.700 | 0.850 | failed |" in part
    assert "| mean of 2 | 0.800 | 0.700 | 0.850 |  |" in part
    assert "## Comparison with the bare detector" not in page, "tables are not among the matrices"


@pytest.mark.parametrize("counted", [(), ("frequencies",), ("frequencies", "pairs")])
def test_the_tables_of_matrices_have_columns_for_the_baselines_that_were_run(tmp_path, counted):
    default = {**made_record("ODEFS", "musk", 0, 0.9), "total_subsets": 100}
    default["parameters"] = {"scaling": "damped"}
    bare = plan.bare_job(default)
    records = [default, made_record("ODEFS-paper", "musk", 0, 0.8)]
    records.append({"job": bare.as_record(), "auc": 0.7, "p@k": 0.3, "seconds": 1.0})
    records += [made_record(method, "musk", 0, 0.75) for method in counted]
    records += [made_record(method, NAMES[0], 0, 0.6) for method in counts.BASELINES]
    for one in records:
        grid.append_record(tmp_path / run.RECORDS, one)
    page = accuracy_page.write_page(tmp_path, tmp_path / "docs").read_text()
    part = page.partition("## Comparison with the bare detector")[2].partition("\n## ")[0]
    for method in counts.BASELINES:
        assert (f"| {method} AUC | {method} p@k |" in part) == (method in counted)
        assert ("`frequencies` and `pairs` add up" in part) == bool(counted)
    assert part.count("0.750 | 0.375") == 2 * len(counted), "the dataset and the mean"


def test_baselines_run_on_matrices(folder):
    made = sources.open_source("shifted?n_rows=300&n_columns=10&n_relevant=3&shift=0.8", 0)
    (folder / "data" / "more").mkdir()
    np.savez(folder / "data" / "more" / "wafer.npz", X=made.X, y=made.y)
    path = folder / run.RECORDS
    records = [r for *_, r in run.run_parts(path, 1, ["more/wafer.npz"], 2, ["baselines"])]
    assert [(r["job"]["method"], r["n_columns"]) for r in records] == [
        ("frequencies", 10),
        ("pairs", 10),
    ]
    assert min(r["auc"] for r in records) > 0.8


def test_without_the_folder_tables_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("ODEFS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    assert set(plan.MIXED) <= set(run.missing_datasets())
    assert list(run.run_parts(tmp_path / run.RECORDS, 1, plan.MIXED, 1, ["mixed"])) == []
    with pytest.raises(DatasetError, match=r"mixed/nursery\.csv.* not on this machine.*ODEFS_DATA"):
        sources.open_frame("mixed/nursery.csv")


@pytest.mark.slow
def test_the_command_names_missing_tables(tmp_path):
    environment = {**os.environ, "ODEFS_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    line = [str(ODEFS), "reproduce", "accuracy", "--datasets", ",".join(plan.MIXED)]
    line += ["--jobs", "1", "-o", str(tmp_path / "out")]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    said = " ".join(done.stderr.split())
    assert all(f"{name} is left out" in said for name in plan.MIXED)
    assert TITLE not in (tmp_path / "out" / "accuracy.md").read_text()
