"""The runner of real files: what it fetches, how it ends processes, which faults it reports."""

import hashlib
import io
import json
import pickle
import subprocess
import sys
import tarfile
import zipfile

import pytest
from benchmarks.wild.fetch import FetchError, fetch
from benchmarks.wild.listing import Package, WildFile, read_listing
from benchmarks.wild.page import PAGE, RECORDS, read_records, what_happened, write_page
from benchmarks.wild.rules import FAULTS, has_remedy, is_one_sentence, outcome_of
from benchmarks.wild.run import FileRuns, Run, run_file

from locations import ROOT

TABLE = ROOT / "src" / "odefs" / "datasets" / "files" / "transactions.csv"
PACKAGE = Package("made", "1.0", "made-1.0-py3-none-any.whl", "")
RESULT = json.dumps({"source": {"rows": 3, "columns": 2}, "flagged": 1, "columns_used": ["a"]})
REMEDY = "odd.csv: line 2 has 4 fields, the header has 3: set another delimiter with --delimiter."


def wild_file(name="made.csv", **known):
    return WildFile(PACKAGE, name, **known)


def error(message, kind="data"):
    return json.dumps({"error": {"kind": kind, "message": message, "exit_code": 1}})


def faults(document, screen="a table", code=0, report="<html>", errors="", **known):
    runs = FileRuns(Run(code, document, "", 0.1, 90), Run(code, screen, errors, 0.1, 90), report)
    return outcome_of(wild_file(**known), runs).faults


def stub(code):
    return (sys.executable, "-c", code)


def test_the_listing_is_complete_and_names_every_file_once():
    files = read_listing()
    assert len(files) >= 60
    assert len({file.label for file in files}) == len(files)
    assert all(len(file.package.sha256) == 64 for file in files)
    assert len({file.format for file in files}) >= 12


@pytest.mark.skipif(not RECORDS.exists(), reason="no run is recorded")
def test_the_committed_page_is_what_the_committed_records_say(tmp_path):
    assert write_page(read_records(), tmp_path / "page.md").read_text() == PAGE.read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.csv", "csv"), ("a.csv.gz", "csv.gz"), ("a.b.JSON", "json"), ("made 1.0.zip", "zip")],
)
def test_the_format_is_the_suffix(name, expected):
    assert wild_file(name).format == expected


def archives(folder):
    """A wheel with a file, and a source distribution with an archive that holds a file."""
    wheel, inner, sdist = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as zipped:
        zipped.writestr("made/a.csv", "x,y\n1,2\n")
    for stream, name, content in (
        (inner, "r/b.csv", b"x\n3\n"),
        (sdist, "made-1.0/r.tar.gz", None),
    ):
        data = inner.getvalue() if content is None else content
        with tarfile.open(fileobj=stream, mode="w:gz") as tar:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    folder.mkdir(parents=True)
    for name, stream in (("made-1.0-py3-none-any.whl", wheel), ("made-1.0.tar.gz", sdist)):
        (folder / name).write_bytes(stream.getvalue())
        yield hashlib.sha256(stream.getvalue()).hexdigest()


def test_files_are_unpacked_from_archives_whose_hash_is_known(tmp_path):
    wheel, sdist = archives(tmp_path / "archives")
    plain = WildFile(Package("made", "1.0", "made-1.0-py3-none-any.whl", wheel), "made/a.csv")
    nested = WildFile(
        Package("made", "1.0", "made-1.0.tar.gz", sdist, "made-1.0/r.tar.gz"), "r/b.csv"
    )
    found = fetch([plain, nested], tmp_path)
    assert found[plain].read_text() == "x,y\n1,2\n"
    assert found[nested].read_text() == "x\n3\n"
    other = WildFile(Package("made", "1.0", "made-1.0.tar.gz", wheel), "made-1.0/other.csv")
    with pytest.raises(FetchError):
        fetch([other], tmp_path)


def test_a_process_that_hangs_is_ended_and_reported(tmp_path):
    runs = run_file(tmp_path / "a.csv", stub("import time; time.sleep(600)"), time_limit=0.5)
    assert runs.screen.has_timed_out
    assert runs.screen.seconds < 60
    assert "timeout" in outcome_of(wild_file(), runs).faults


def test_a_process_that_crashes_is_reported(tmp_path):
    killed = run_file(tmp_path / "a.csv", stub("import os; os.kill(os.getpid(), 9)"))
    assert "killed" in outcome_of(wild_file(), killed).faults
    raised = run_file(tmp_path / "a.csv", stub("raise ValueError(1)"))
    assert {"traceback", "no_document"} <= set(outcome_of(wild_file(), raised).faults)


def run_from_a_small_process(path):
    # A process is charged with the memory of the one that starts it, which a worker has much of.
    code = (
        "import pickle, sys; from pathlib import Path; from benchmarks.wild.run import run_file\n"
        "sys.stdout.buffer.write(pickle.dumps(run_file(Path(sys.argv[1]))))"
    )
    line = [sys.executable, "-c", code, str(path)]
    return pickle.loads(subprocess.run(line, cwd=ROOT, capture_output=True, check=True).stdout)


@pytest.mark.slow
def test_a_table_is_read_and_a_broken_file_is_refused(tmp_path):
    read = outcome_of(wild_file(shape=(800, 16)), run_from_a_small_process(TABLE))
    assert (read.rows, read.columns, read.message, read.faults) == (800, 16, None, ())
    assert read.flagged
    assert read.megabytes > 20
    empty = tmp_path / "empty.csv"
    empty.touch()
    refused = outcome_of(wild_file(is_refused=True), run_from_a_small_process(empty))
    assert refused.rows is None
    assert refused.message
    assert refused.faults == ()


def test_a_result_without_faults():
    assert faults(RESULT, shape=(3, 2)) == ()
    assert faults(error(REMEDY), screen="", code=1, report=None) == ()


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("shape", {"document": RESULT, "shape": (3, 1)}),
        ("not_refused", {"document": RESULT, "is_refused": True}),
        ("placeholder", {"document": RESULT, "screen": "__UNNAMED__7 = 3"}),
        ("placeholder", {"document": RESULT, "report": "<td>__UNNAMED__7</td>"}),
        ("no_screen", {"document": RESULT, "screen": ""}),
        ("no_report", {"document": RESULT, "report": None}),
        ("exit_code", {"document": RESULT, "code": 7}),
        ("traceback", {"document": RESULT, "errors": "Traceback (most recent call last):"}),
        ("no_document", {"document": "rank row"}),
        ("internal", {"document": error(REMEDY, "internal"), "code": 1}),
        ("refused", {"document": error(REMEDY), "code": 1, "is_refused": False}),
        ("no_remedy", {"document": error("odd.csv: this cannot be read."), "code": 1}),
        ("not_one_sentence", {"document": error("odd.csv: Bad. Save it."), "code": 1}),
    ],
)
def test_each_fault_is_found(expected, given):
    assert expected in faults(**given)
    assert expected in FAULTS


def test_a_known_fault_is_shown_and_does_not_count():
    runs = FileRuns(Run(0, RESULT, "", 0.1, 90), Run(0, "table", "", 0.1, 90), "<html>")
    outcome = outcome_of(wild_file(shape=(4, 2), known=("shape",)), runs)
    assert (outcome.faults, outcome.known) == ((), ("shape",))
    assert FAULTS["shape"] in what_happened(outcome)


def test_runs_that_end_differently_are_a_fault():
    runs = FileRuns(Run(1, error(REMEDY), "", 0.1, 90), Run(0, "table", "", 0.1, 90), None)
    assert "different_ends" in outcome_of(wild_file(), runs).faults


@pytest.mark.parametrize(
    "message",
    [
        REMEDY,
        "a.csv: the file is empty: export it again, or choose another one.",
        "a.csv: a table needs two rows, this one has 1 (choose another sheet with --sheet).",
    ],
)
def test_a_remedy_is_an_option_or_an_action_after_the_reason(message):
    assert has_remedy(message)
    assert is_one_sentence(message)


@pytest.mark.parametrize("message", ["save.csv: the file is empty.", "a.csv: no use."])
def test_words_of_the_file_name_and_the_reason_are_not_a_remedy(message):
    assert not has_remedy(message)
