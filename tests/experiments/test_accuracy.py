"""Accuracy experiment: its jobs, the bare detector, real runs, and the page of the records."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest

from experiment_records import ODEFS, SMALL
from locations import ROOT
from odefs.experiments import accuracy_page, grid, sources
from odefs.experiments.accuracy import measures, noise, plan, run
from odefs.experiments.accuracy.measures import BARE, DEFAULT, PAPER
from odefs.experiments.accuracy.trust_section import rank_correlation, trust_and_gain


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of datasets with one small file of the fourteen."""
    made = sources.open_source(SMALL, 0)
    (tmp_path / "data" / "more").mkdir(parents=True)
    np.savez(tmp_path / "data" / "more" / "wafer.npz", X=made.X, y=made.y)
    monkeypatch.setenv("ODEFS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    return tmp_path


def record(method, dataset, seed, auc, options=(), **more):
    job = plan.versioned(grid.Job(method, dataset, seed, options=tuple(options))).as_record()
    return {
        "job": job,
        "auc": auc,
        "p@k": auc / 2,
        "seconds": 1.0,
        "parameters": {"scaling": "damped"},
        **more,
    }


def fake_records(lift=0.05, datasets=(*plan.ELEVEN, *plan.MORE), seeds=3):
    """All parts but agreement and known cases; ``ODEFS()`` beats the bare detector by ``lift``."""
    rng = np.random.default_rng(0)
    reliance = {
        "contrast": 2.0,
        "stability": 0.95,
        "n_rows": 10,
        "n_columns": 3,
        "outlier_share": 0.1,
        "cpu": "a processor",
    }
    records = []
    for k, dataset in enumerate((*datasets, *plan.noise_datasets())):
        for seed in range(seeds):
            luck = 0.001 * rng.random()
            total = 50 * (4 + seed)
            default = record(
                "ODEFS",
                dataset,
                seed,
                0.8 + lift + luck,
                total_subsets=total,
                trust=k / 100,
                **reliance,
            )
            records += [default, record("ODEFS-paper", dataset, seed, 0.79 + 10 * luck)]
            bare = plan.bare_job(default)
            records.append(record(bare.method, dataset, seed, 0.8 + luck, bare.options))
            if dataset in datasets:
                for options in plan.ABLATIONS.values():
                    trusted = dict(options).get("trust")
                    auc = 0.7 + k / 100 if trusted == 1.0 else 0.7 + luck
                    records.append(record("ODEFS", dataset, seed, auc, options))
    return records


def page_of(records, folder):
    for one in records:
        grid.append_record(folder / run.RECORDS, one)
    return accuracy_page.write_page(folder, folder / "docs").read_text()


def section_of(page, title):
    return page.partition(f"## {title}")[2].partition("\n## ")[0]


def test_widened_data_are_the_rows_with_seeded_uniform_noise():
    whole = sources.open_source(SMALL, 3)
    wide = sources.changed(whole, 3, noise=300)
    assert wide.X.shape == (300, 40)
    assert np.array_equal(wide.X[:, :10], whole.X)
    added = wide.X[:, 10:]
    assert 0 <= added.min() < 0.01 < 0.99 < added.max() < 1
    assert np.array_equal(sources.changed(whole, 3, noise=300).X, wide.X)
    assert not np.array_equal(sources.changed(whole, 4, noise=300).X, wide.X)
    some = sources.changed(whole, 3, rows=100)
    assert some.X.shape == (100, 10)
    places = [np.flatnonzero((row == whole.X).all(axis=1))[0] for row in some.X]
    assert places == sorted(set(places))
    assert np.array_equal(some.y, whole.y[places])


def test_a_question_mark_may_belong_to_the_name_of_a_file():
    assert sources.split_name("census?noise=100&rows=60000") == ("census", "noise=100&rows=60000")
    assert sources.split_name("what?.npz") == ("what?.npz", "")
    assert sources.split_name("what?why=1.npz") == ("what?why=1.npz", "")


def test_datasets_are_found_under_the_folder_of_datasets_and_widened_there(folder):
    name = "more/wafer.npz"
    assert sources.is_here(name)
    assert sources.is_here(f"{name}?noise=100")
    assert len(sources.content_of(f"{name}?noise=100")) == 64
    assert sources.open_source(f"{name}?noise=100", 0, sources.content_of(name)).X.shape == (
        300,
        20,
    )
    assert not sources.is_here("more/aloi.npz")


def test_the_plan_is_what_the_page_promises():
    jobs = plan.main_jobs([], 20)
    seeds = {
        name: {job.seed for job in jobs if job.dataset == name}
        for name in (*plan.ELEVEN, *plan.MORE)
    }
    assert {name for name, found in seeds.items() if len(found) != 10} == {"optdigits"}
    assert len(seeds["optdigits"]) == 20
    assert len(seeds) == 25
    noisy = plan.noise_jobs([], 20)
    widest = {job.dataset for job in noisy if job.method == "RegFS"}
    assert "optdigits?noise=100" in widest
    assert not any(name.startswith(("advertisements", "musk")) for name in widest)
    assert {job.dataset for job in noisy if job.dataset.startswith("census")} == {
        "census?noise=100&rows=60000",
        "census?noise=300&rows=60000",
    }
    assert {
        job.options for job in jobs if job.dataset == "census" and job.method == "ODEFS-paper"
    } == {(("n_estimators", 30),)}


def test_a_real_run_compares_with_a_bare_detector_of_as_many_subsets_and_goes_on_where_it_stopped(
    folder,
):
    path = folder / run.RECORDS
    parts = ["main", "bare", "ablation"]
    first = list(run.run_parts(path, 1, ["more/wafer.npz"], 2, parts))
    assert [r for *_, r in first if "error" in r] == []
    assert len(first) == 2 * 2 + 2 + 2 * len(plan.ABLATIONS)
    assert list(run.run_parts(path, 1, ["more/wafer.npz"], 2, parts)) == []
    more = list(run.run_parts(path, 1, ["more/wafer.npz"], 3, parts))
    assert len(more) == 2 + 1 + len(plan.ABLATIONS)
    records = grid.latest_records(path)
    assert {len(r["job"]["content"]) for r in records} == {64}
    defaults = {r["job"]["seed"]: r for r in records if plan.is_default(r)}
    bare = {r["job"]["seed"]: r for r in measures.named(records) if r["job"]["method"] == BARE}
    assert set(bare) == set(defaults) == {0, 1, 2}
    for seed, found in bare.items():
        shared = {name: found["parameters"][name] for name in ("scaling", "subset_size")}
        assert shared == {name: defaults[seed]["parameters"][name] for name in shared}
        share = defaults[seed]["n_components"] if defaults[seed]["trust"] > 0 else 0
        assert found["parameters"]["n_subsets"] == 50 * (share + defaults[seed]["n_full_space"])
    assert defaults[0]["contrast"] > 0
    assert 0 <= defaults[0]["stability"] <= 1
    page = accuracy_page.write_page(folder, folder / "docs").read_text()
    assert "| wafer | 3 |" in section_of(page, "Comparison with the bare detector")
    assert "On fourteen others (1 datasets)" in section_of(page, "Ablation")


def test_bare_detectors_of_an_earlier_fit_do_not_count():
    now = record("ODEFS", "musk", 0, 0.9, total_subsets=300)
    old, right = (
        {"job": replace(plan.bare_job(now), options=(("n_subsets", n), ("trust", 0.0))).as_record()}
        | {"auc": auc}
        for n, auc in ((200, 0.5), (300, 0.8))
    )
    part = measures.named([now, old, right])
    assert [r["job"]["method"] for r in part] == [DEFAULT, BARE]
    gain = measures.paired_gain(part, DEFAULT, BARE, "musk")
    assert (gain.mean, gain.repeats) == (pytest.approx(0.1), 1)


def test_gains_are_paired_by_seed_and_losses_are_measured_by_their_error():
    a = [record("ODEFS", "musk", seed, 0.5 + seed / 10, total_subsets=100) for seed in range(4)]
    b = [record("ODEFS-paper", "musk", seed, 0.52 + seed / 10) for seed in range(1, 6)]
    gain = measures.paired_gain(measures.named(a + b), DEFAULT, PAPER, "musk")
    assert gain.repeats == 3
    assert gain.mean == pytest.approx(-0.02)
    assert gain.error == pytest.approx(0, abs=1e-12)
    assert gain.loses
    assert not measures.Gain(-0.02, 0.011, 3).loses, "two standard errors are more"
    assert not measures.Gain(-0.014, 0.0, 3).loses
    assert measures.paired_gain(measures.named(a), DEFAULT, PAPER, "musk") is None


def test_standing_asks_only_where_the_bare_detector_is_clear():
    name = "shifted?n_rows=5000&n_columns=100&n_relevant=5"

    def made(bare, default, rival):
        records = []
        for seed in range(3):
            one = record("ODEFS", name, seed, default, total_subsets=100)
            job = plan.bare_job(one)
            records += [
                one,
                record("ODEFS", name, seed, bare, job.options),
                record("CINFO", name, seed, rival),
            ]
        return measures.standing(measures.named(records), name)

    assert made(0.7, 0.8, 0.8).best == DEFAULT
    close = made(0.7, 0.795, 0.8)
    assert (close.best, close.is_close, close.is_asked_for) == ("CINFO", True, True)
    assert not made(0.7, 0.75, 0.8).is_close
    assert not made(0.59, 0.75, 0.8).is_asked_for


def test_the_page_says_what_the_records_say(tmp_path):
    page = page_of(fake_records(), tmp_path)
    aims = section_of(page, "Targets")
    assert aims.count("**no**") == 0
    assert "+0.0500" in aims
    assert "on 25 of 25" in aims
    assert "rank correlation 1.00 over 25 datasets" in aims
    assert "+0.050 ± 0.000" in section_of(page, "Comparison with the bare detector")
    assert "| trust 0 | " in section_of(page, "Ablation")
    assert "optdigits | 3 |" in section_of(page, "Variation between seeds")
    for name in ("noise-synthetic", "noise-100", "noise-300", "trust"):
        assert f"(figures/accuracy-{name}.svg)" in page
        assert (tmp_path / "docs" / "figures" / f"accuracy-{name}.svg").stat().st_size > 2000
    assert "## Agreement" not in page, "sections without records are left out"
    assert "## Known cases" not in page


def test_the_page_says_no_where_an_aim_is_missed(tmp_path):
    records = fake_records(lift=-0.1)
    page = page_of(
        [
            *records,
            {"job": grid.Job("CINFO", "bank?noise=100", 0).as_record(), "error": "MemoryError: no"},
        ],
        tmp_path,
    )
    aims = section_of(page, "Targets")
    assert aims.count("**no**") >= 5
    assert "-0.100 ± 0.000 (loses)" in page
    assert "behind bare" in section_of(page, "Noise resistance")
    assert "CINFO on bank?noise=100: MemoryError: no" in section_of(page, "Failures")


def test_an_empty_folder_gives_an_empty_page(tmp_path):
    page = accuracy_page.write_page(tmp_path, tmp_path / "docs").read_text()
    assert page.startswith("# Accuracy")
    assert "\n## " not in page


def test_agreement_and_known_cases_are_shown_once_they_are_there(tmp_path):
    stays = {"edges": [0.0, 0.5, 1.0], "stays": [[4, 1], [10, 9]]}
    records = [{"job": job.as_record(), **stays} for job in plan.agreement_jobs([], 3)]
    for job in plan.known_jobs([], 3):
        records += [{"job": job.as_record(), "auc": 0.7 + dict(job.options)["n_known"] / 100}]
    page = page_of(records, tmp_path)
    assert "| musk | 0.25 (12) | 0.90 (30) |" in section_of(page, "Agreement")
    assert "| mean of 11 | 0.7000 | 0.7500 | 0.9000 |" in section_of(page, "Known cases")
    assert (tmp_path / "docs" / "figures" / "accuracy-agreement.svg").exists()


def test_rows_of_the_top_are_counted_by_their_agreement(monkeypatch):
    monkeypatch.setattr("odefs.ODEFS.agreement_", np.linspace(0, 1, 300), raising=False)
    found = run.run_accuracy_job(grid.Job("agreement", SMALL, 0))
    rows, staying = np.array(found["stays"]).T
    assert len(rows) == len(found["edges"]) - 1
    assert rows.sum() >= sources.open_source(SMALL, 0).y.sum()
    assert (staying <= rows).all()
    assert staying.sum() > rows.sum() / 2, "the planted outliers stay"


def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    page = accuracy_page.write_page(ROOT / "results", tmp_path)
    assert page.read_text() == (ROOT / "docs" / "explanation" / "accuracy.md").read_text()
    figures = sorted(tmp_path.glob("figures/*.svg"))
    assert figures
    assert all(
        (ROOT / "docs" / "explanation" / "figures" / figure.name).exists() for figure in figures
    )


def test_the_committed_records_are_whole():
    """Every job of the parts that have been run has a record, and no machine's folder is named."""
    path = ROOT / "results" / run.RECORDS
    records = grid.latest_records(path)
    for part in ("main", "bare", "ablation", "noise"):
        jobs = plan.PARTS[part](records, 20)
        assert len(plan.of_part(part, records)) == len(jobs) > 0
    assert "/work" not in path.read_text()
    assert set(noise.judged(records)[0]) <= set(plan.noise_datasets())
    assert -1 <= rank_correlation(trust_and_gain(records)) <= 1


@pytest.mark.slow
def test_the_command_runs_what_is_missing_and_writes_the_page(folder):
    line = [
        str(ODEFS),
        "reproduce",
        "accuracy",
        "-o",
        str(folder / "out"),
        "--page",
        str(folder / "page"),
        "--jobs",
        "1",
    ]
    line += ["--datasets", "more/wafer.npz,more/aloi.npz", "--repeats", "1"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "more/aloi.npz is left out" in done.stderr
    assert "ODEFS on more/wafer.npz, seed 0: AUC" in done.stderr
    assert done.stdout.strip() == str(folder / "page" / "accuracy.md")
    again = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "AUC" not in again.stderr
    for options, said in (
        (["accuracy", "--peers"], "--peers and --protocol do not apply"),
        (["accuracy", "--datasets", "mine.npz"], "without mine.npz"),
        (["table1", "--page", "docs"], "--page does not apply"),
    ):
        refused = subprocess.run(
            [str(ODEFS), "reproduce", *options], capture_output=True, text=True, check=False
        )
        assert refused.returncode == 2
        assert said in " ".join(refused.stderr.split())
