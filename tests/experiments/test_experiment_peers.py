"""Detectors of other libraries as further columns: they run, reject large tables, are listed."""

import subprocess

import numpy as np
import pytest

from experiment_records import ODEFS, SMALL
from odefs.experiments import grid, run
from odefs.experiments.peers import PAIRS, PYOD, TooLargeError, peers
from odefs.experiments.reproduce import planned_jobs, write_outputs


@pytest.mark.slow
@pytest.mark.parametrize("method", peers())
def test_every_peer_runs(method):
    assert run.run_job(grid.Job(method, SMALL, 0))["auc"] > 0.8
    assert run.run_job(grid.Job(method, SMALL, 0, protocol="split"))["auc"] > 0.7


@pytest.mark.parametrize(
    ("name", "shape", "sentence"),
    [
        (
            "PyOD-KNN",
            (299_285, 503),
            "299,285 x 503 is too large for KNN: it compares all pairs of rows",
        ),
        ("PyOD-LOF", (100_000, 100), "pairs of rows"),
        ("PyOD-GMM", (299_285, 503), "several copies"),
        ("PyOD-PCA", (10**6, 101), "1.0e\\+08 cells where at most 1.0e\\+08"),
    ],
)
def test_hopeless_tables_are_refused_before_any_work(name, shape, sentence):
    """A view of one zero stands for the table: nothing of its size may be made."""
    table = np.broadcast_to(np.zeros(1), shape)
    with pytest.raises(TooLargeError, match=sentence):
        peers()[name](0).fit(table)


def test_tables_within_the_limits_are_not_refused():
    """The paper's second largest dataset is within reach of all of them."""
    for make in peers().values():
        make(0)._check_size(64_759, 67)


def test_refusals_stand_in_the_tables(monkeypatch, tmp_path):
    monkeypatch.setitem(PYOD, "PyOD-KNN", (*PYOD["PyOD-KNN"][:3], PAIRS._replace(most=1.0)))
    jobs, _ = planned_jobs(
        "table2", ["LeSiNN", "PyOD-KNN", "PyOD-HBOS"], [SMALL], 1, "transductive", False
    )
    records = [run.run_job(job) for job in jobs]
    assert records[1]["error"].startswith("TooLargeError: 300 x 10 is too large for KNN")
    written = {
        path.name: path.read_text()
        for path in write_outputs("table2", records, tmp_path)
        if path.suffix == ".md"
    }
    for measure in ("auc", "pk", "ap", "seconds"):
        header, _, row = written[f"table2-{measure}.md"].splitlines()[:3]
        assert "PyOD-KNN" in header
        assert "| refused |" in row
    assert "compares all pairs" in written["table2-failures.md"]


@pytest.mark.slow
def test_ten_peers_from_the_command_line(tmp_path):
    line = [
        str(ODEFS),
        "reproduce",
        "table2",
        "--datasets",
        SMALL,
        "--methods",
        "LeSiNN",
        "--peers",
        "--repeats",
        "1",
    ]
    done = subprocess.run(
        [*line, "--jobs", "1", "-o", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stderr.count("AUC") == 11
    header, _, row = (tmp_path / "table2-seconds.md").read_text().splitlines()[:3]
    assert [cell.strip() for cell in header.strip("|").split("|")] == [
        "dataset",
        "LeSiNN",
        *peers(),
    ]
    assert row.count("±") == 11
