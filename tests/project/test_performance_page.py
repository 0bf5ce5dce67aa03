"""Page of measurements: it agrees with the committed records and includes missed targets."""

import json

import numpy as np
import pytest
from benchmarks.__main__ import BENCHMARKS
from benchmarks.performance_page import TITLES, write_page
from benchmarks.records import KEPT, add_record, read_records, record_of
from benchmarks.result import Result

from locations import ROOT


def run(measured, met, benchmark="kernel", machine="one, 2 threads", what="speed"):
    return {
        "benchmark": benchmark,
        "machine": machine,
        "used": "python",
        "results": [[what, measured, "8 x", met]],
    }


def page_of(records, folder):
    return write_page(records, folder).read_text()


def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    assert (
        page_of(read_records(), tmp_path)
        == (ROOT / "docs" / "explanation" / "performance.md").read_text()
    )


def test_every_benchmark_has_a_place_on_the_page():
    assert set(BENCHMARKS) == {name.split()[0] for name in TITLES}


@pytest.mark.parametrize(
    ("runs", "cell"),
    [
        ([("9 x", True)], "9 x"),
        ([("7 x", False)], "7 x, **missed**"),
        ([("7 x", False), ("9 x", True)], "9 x; in another run 7 x, **missed**"),
        ([("9 x", True), ("7 x", False)], "7 x, **missed**; in another run 9 x"),
        ([("9 x", True), ("10 x", True)], "10 x"),
    ],
)
def test_a_run_that_ended_otherwise_is_told(runs, cell, tmp_path):
    assert f"| speed | 8 x | {cell} |" in page_of([run(*one) for one in runs], tmp_path)


def test_machines_stand_side_by_side(tmp_path):
    records = [
        run("9 x", True),
        run("3 x", False, machine="two, 4 threads"),
        run("1 s", True, "gpu", "three", "fit"),
    ]
    page = page_of(records, tmp_path)
    assert "| what | target | one, 2 threads | two, 4 threads |" in page
    assert "| speed | 8 x | 9 x | 3 x, **missed** |" in page
    assert "| what | target | three |" in page


def test_the_latest_runs_are_kept_for_each_machine(tmp_path):
    path = tmp_path / "records.jsonl"
    other = run("1 x", False, machine="two, 4 threads")
    for record in (other, *(run(f"{k} x", True) for k in range(KEPT + 2))):
        add_record(record, path)
    assert read_records(path) == [other, *(run(f"{k} x", True) for k in range(2, KEPT + 2))]


def test_a_record_names_the_machine_and_what_was_used():
    # A comparison of NumPy's numbers is not Python's own, which files need.
    record = json.loads(
        json.dumps(record_of("start_up", [Result("import", "1 ms", "2 ms", np.True_)], "card"))
    )
    assert record["machine"].startswith("card, ")
    assert "kernel" in record["used"]
    assert record["results"] == [["import", "1 ms", "2 ms", True]]
