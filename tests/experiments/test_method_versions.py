"""Versions of methods: results are recorded for each, and old records are neither reused nor mixed.

``python tests/experiments/test_method_versions.py`` records the results of the present version.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiment_records import ODEFS, SMALL, fake_records
from locations import ROOT
from odefs.experiments import grid, method_versions, results_page, run
from odefs.experiments.method_versions import current, newest, version_of
from odefs.experiments.methods import TABLE1, TABLE2, built_in
from odefs.experiments.plans import table_jobs
from odefs.experiments.reproduce import RECORDS, planned_jobs, reproduce
from odefs.experiments.sources import open_source

RESULTS = Path(__file__).with_name("method_results.json")
DATA = "shifted?n_rows=200&n_columns=10&n_relevant=3&shift=0.6"


def present_results(method):
    model = built_in()[method](0)
    model.fit(open_source(DATA, 0).X)
    plain = (str, int, float, bool, type(None))
    settings = {
        name: value for name, value in model.get_params().items() if isinstance(value, plain)
    }
    return {
        "version": version_of(method),
        "settings": settings,
        "scores": [float(f"{score:.5g}") for score in model.outlier_scores_],
    }


@pytest.mark.parametrize("method", built_in())
def test_results_change_only_with_the_version(method):
    """Raise METHOD_VERSION or DEFAULT_VERSION and record again if a method changes.

    Scores may differ in their digits between processors, and the paper's method may end in
    another of several minima that are almost equal.
    """
    expected = json.loads(RESULTS.read_text())[method]
    assert expected["version"] == version_of(method), "record the results of the new version"
    found = present_results(method)
    advice = "the method has changed: raise its version and record its results"
    # A new setting that keeps the scores is no change of the method, nor is a rule for flags.
    before = {name: v for name, v in expected["settings"].items() if name != "contamination"}
    settings = {name: found["settings"].get(name) for name in before}
    assert settings == before, advice
    alike = np.corrcoef(found["scores"], expected["scores"])[0, 1]
    converges = method in ("ODEFS-paper", "ODEFS*", "ODEFS-classic")
    assert alike > (0.98 if converges else 0.99999), advice


def test_the_papers_methods_share_one_metric():
    """One detector throughout a table, and the records say which."""
    for method in (set(TABLE1) | set(TABLE2)) - {"ODEFS"}:
        job = current(grid.Job(method, SMALL, 0))
        record = run.run_job(job)
        assert record["job"]["metric"] == "sqeuclidean"
        parameters = record["parameters"]
        used = parameters.get("selection__metric", parameters.get("metric"))
        assert used == "sqeuclidean", method


def test_records_of_an_older_version_are_not_used_again(tmp_path, monkeypatch):
    jobs, _ = planned_jobs("table1", ["LeSiNN"], [SMALL], 2, "transductive", False)
    reproduce("table1", jobs, tmp_path, 1, lambda *_: None)
    assert list(grid.run_grid(jobs, tmp_path / RECORDS, run.run_job, 1)) == []
    monkeypatch.setattr(method_versions, "METHOD_VERSION", "new")
    changed, _ = planned_jobs("table1", ["LeSiNN"], [SMALL], 2, "transductive", False)
    done = [record for *_, record in grid.run_grid(changed, tmp_path / RECORDS, run.run_job, 1)]
    assert [record["job"]["version"] for record in done] == ["new", "new"]


@pytest.mark.slow
def test_a_users_own_method_is_run_again_when_its_source_changes(tmp_path):
    line = [str(ODEFS), "reproduce", "table1", "--datasets", SMALL, "--methods", "mine:Mine"]
    line += ["--repeats", "1", "--jobs", "1", "-o", "out"]
    source = "import numpy as np\nclass Mine:\n    def fit(self, X):\n"
    source += "        self.outlier_scores_ = {} * np.asarray(X).sum(axis=1)\n        return self\n"
    for sign in ("1", "-1", "-1"):
        (tmp_path / "mine.py").write_text(source.format(sign))
        subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    records = grid.read_records(tmp_path / "out" / RECORDS)
    assert len(records) == 2
    assert records[0]["auc"] == pytest.approx(1 - records[1]["auc"])
    assert records[0]["job"]["version"] != records[1]["job"]["version"]


def test_peers_have_the_version_of_their_package():
    assert version_of("IForest").startswith("scikit-learn ")
    assert version_of("sklearn.svm:SVC") == version_of("sklearn.svm:SVC") != ""
    assert version_of("nowhere_at_all:Nothing") == ""


def test_versions_are_not_mixed(tmp_path):
    old = fake_records()
    jobs = table_jobs(["LeSiNN", *TABLE2], ["musk"], 2)
    new = [{"job": current(job).as_record(), "auc": 0.75, "subset_size": 5.0} for job in jobs]
    every = table_jobs(["LeSiNN", *TABLE2], ["musk", "bank"], 20)
    assert all("version" in record["job"] for record in newest([*old, *new], every))
    assert len(newest(old, every)) == 2 * 3 * 8
    for name, records, remark in (("old", old, True), ("new", new, False)):
        for record in records:
            grid.append_record(tmp_path / name / RECORDS, record)
        page = results_page.write_page(tmp_path / name, tmp_path / name).read_text()
        assert ("version 1 of the methods" in page) == remark


def test_committed_records_are_shown_as_of_their_version():
    records = grid.latest_records(ROOT / "results" / RECORDS)
    page = (ROOT / "docs" / "explanation" / "results.md").read_text()
    older = any(map(method_versions.is_older, records))
    assert ("Records of version 1 of the methods" in page) == older


@pytest.mark.parametrize(
    ("package", "options"),
    [
        ("matplotlib", ["noise"]),
        ("pyod", ["table1", "--peers", "--datasets", SMALL]),
        ("pyod", ["table1", "--methods", "PyOD-HBOS", "--datasets", SMALL]),
    ],
)
def test_missing_packages_are_found_before_the_jobs_run(package, options, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {package!r}:\n"
        "            raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    extra = {"matplotlib": "plots", "pyod": "pyod"}[package]
    done = subprocess.run(
        [sys.executable, "-m", "odefs", "reproduce", *options, "--repeats", "1", "-o", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert f"odefs[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


if __name__ == "__main__":
    lines = ",\n".join(
        f'"{method}": {json.dumps(present_results(method))}' for method in built_in()
    )
    RESULTS.write_text(f"{{\n{lines}\n}}\n")
