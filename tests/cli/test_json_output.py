"""JSON documents, error documents and JSON log lines of all commands against the schema."""

import json
import re
import signal
import subprocess
import sys
from copy import deepcopy
from importlib.resources import files

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from command import ODEFS, odefs
from erroneous_table import planted
from locations import ROOT
from odefs.datasets.transactions import transactions_path

TABLE = transactions_path()
SCHEMA = json.loads((files("odefs.cli") / "schemas" / "output.json").read_text())
FAST = ("--set", "n_estimators=3")
IMPATIENT = """
import odefs.cli.terminal.progress as progress
progress.QUIET_SECONDS = progress.NEW_STAGE_INTERVAL = progress.PLAIN_INTERVAL = 0
from odefs.cli.main import main
main()
"""


def validator(name):
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def document(done, name):
    """Standard output as the one document that it is."""
    found = json.loads(done.stdout, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    validator(name).validate(found)
    Draft202012Validator(SCHEMA).validate(found)
    return found


def log_lines(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        validator("log_line").validate(line)
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    frame = pl.read_csv(TABLE).with_columns(
        blank=pl.when(pl.int_range(pl.len()) % 11 == 3)
        .then(None)
        .otherwise(pl.col("amount").round(0)),
        day=pl.date(2025, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 300),
        weekend=pl.int_range(pl.len()) % 7 > 4,
        odd=pl.int_range(pl.len()) % 40 == 0,
    )
    frame.with_columns(pl.col("odd").cast(pl.Int8)).write_parquet(folder / "t.parquet")
    (folder / "parts").mkdir()
    for part in range(2):
        frame.slice(part * 400, 400).write_parquet(folder / "parts" / f"{part}.parquet")
    line = (
        "detect",
        "t.parquet",
        "--id",
        "transaction",
        "--label",
        "odd",
        "--save",
        "m.odefs",
        "--json",
        *FAST,
    )
    done = odefs(*line, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "detect.json").write_text(done.stdout)
    return folder


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_detect_with_answers(folder):
    (folder / "answers.csv").write_text("row,answer\n422,no\n737,yes\n")
    line = ("detect", "t.parquet", "--answers", "answers.csv", "--json", *FAST)
    found = document(odefs(*line, cwd=folder), "detection")
    assert found["convention"]["before_answers"] is True


def test_cells_apart_from_the_others_of_a_check(folder):
    cells = [f"{15 + k % 7}.5,{k % 5}" for k in range(200)]
    cells[3], cells[9] = "150.5,1", "-127,1"
    (folder / "apart.csv").write_text("\n".join(["temp,x", *cells]) + "\n")
    found = document(odefs("detect", "apart.csv", "--json", *FAST, cwd=folder), "detection")
    (check,) = (one for one in found["checks"] if one["kind"] == "extreme_value")
    assert (check["values"], check["apart"], check["apart_count"]) == ([150.5], [-127.0], 1)


def test_detect_and_a_field_that_the_schema_does_not_have(folder):
    found = json.loads((folder / "detect.json").read_text())
    check = validator("detection")
    check.validate(found)
    assert found["schema_version"] == 2
    places = [
        (),
        ("source",),
        ("run",),
        ("scores",),
        ("top", 0),
        ("top", 0, "reasons", 0),
        ("kinds", 0),
        ("training",),
    ]
    for place in places:
        changed = deepcopy(found)
        inner = changed
        for step in place:
            inner = inner[step]
        inner["new"] = 1
        assert not check.is_valid(changed), place
    for name in found:
        assert not check.is_valid({key: value for key, value in found.items() if key != name}), name


@pytest.mark.parametrize("in_parts", ["0", "1"])
def test_values_to_check(in_parts, tmp_path):
    frame, expected = planted()
    frame.write_csv(tmp_path / "t.csv")
    done = odefs("detect", "t.csv", "--json", *FAST, cwd=tmp_path, ODEFS_IN_PARTS=in_parts)
    checks = document(done, "detection")["checks"]
    assert {(one["kind"], one["column"]) for one in checks} == set(expected)
    (spelling,) = (one for one in checks if one["kind"] == "spelling")
    assert spelling["values"] == ["Phlippines"]
    assert spelling["usual"] == ["Philippines"]


def test_score_and_the_limit(folder):
    done = odefs("score", "m.odefs", "t.parquet", "--json", "--max-flagged", "2x", cwd=folder)
    found = document(done, "score")
    before = found["drift"]["flagged_in_training"]
    assert (done.returncode, found["max_flagged"]["exceeded"]) == (0, False)
    assert found["max_flagged"]["allowed"] == 2 * before == 2 * found["drift"]["flagged"]
    done = odefs(
        "score",
        "m.odefs",
        "t.parquet",
        "--json",
        "--max-flagged",
        "0.5x",
        "--log-format",
        "json",
        cwd=folder,
    )
    found = document(done, "score")
    assert (done.returncode, found["max_flagged"]["exceeded"]) == (3, True)
    assert log_lines(done.stderr)[-1]["event"] == "limit"
    assert not validator("score").is_valid(found | {"new": 1})


def test_a_folder_of_scores(folder, tmp_path):
    done = odefs("score", "m.odefs", "parts", "-o", tmp_path / "out", "--json", cwd=folder)
    assert document(done, "score_folder")["rows"] == 800


def test_explain_has_rows_and_no_nan(folder):
    """Rows with blanks too, of which the reasons may have no value."""
    ids = ",".join(
        pl.read_parquet(folder / "t.parquet")
        .filter(pl.col("blank").is_null())["transaction"]
        .to_list()
    )
    found = document(
        odefs("explain", "m.odefs", "t.parquet", "--json", "--rows", ids, cwd=folder), "explanation"
    )
    assert len(found["rows"]) == 73


def test_check_passes_and_fails(folder, tmp_path):
    line = ("check", "t.parquet", "--model", "m.odefs", "--json")
    passed = document(odefs(*line, cwd=folder), "check")
    assert (passed["passed"], passed["rules"], passed["rows"]) == (True, [], 800)
    pl.read_parquet(folder / "t.parquet").with_columns(
        amount=pl.col("amount") * 1000, shop=pl.lit("elsewhere")
    ).write_parquet(tmp_path / "t.parquet")
    given = (tmp_path / "t.parquet", "--model", "m.odefs", "--fail-on", "drift", "--json")
    done = odefs("check", *given, "--quiet", cwd=folder)
    failed = document(done, "check")
    assert (done.returncode, failed["passed"], failed["rules"]) == (3, False, ["flagged", "drift"])
    assert {one["name"] for one in failed["findings"] if one["fails"]} >= {"amount"}
    assert {entry["column"] for entry in failed["drift"]} >= {"amount"}


def test_drift_has_the_unit_of_the_cells(tmp_path):
    for name, first in (("t.csv", 0), ("later.csv", 10)):
        cells = {"a": [f"{first + row % 20} kg" for row in range(200)], "b": list(range(10)) * 20}
        pl.DataFrame(cells).write_csv(tmp_path / name)
    saved = odefs("detect", "t.csv", "--save", "m.odefs", "--no-checks", "--quiet", cwd=tmp_path)
    assert saved.returncode == 0, saved.stderr
    line = ("later.csv", "--json")
    checked = document(odefs("check", *line, "--model", "m.odefs", cwd=tmp_path), "check")
    scored = document(odefs("score", "m.odefs", *line, cwd=tmp_path), "score")
    for entries in (checked["drift"], scored["drift"]["columns"]):
        assert [(entry["column"], entry.get("unit")) for entry in entries] == [("a", "kg")]


@pytest.mark.parametrize("command", ["report", "detect", "score"])
def test_reports_are_documents_of_the_same_kind(folder, command, tmp_path):
    path = tmp_path / "r.json"
    more = {
        "report": ("m.odefs", "t.parquet", "-o", path),
        "detect": ("t.parquet", "--report", path, *FAST, "--hide", "amount"),
        "score": ("m.odefs", "t.parquet", "--report", path),
    }
    done = odefs(command, *more[command], "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    validator("detection").validate(json.loads(path.read_text()))


@pytest.mark.slow
def test_in_parts(folder):
    small = {"cwd": folder, "ODEFS_IN_PARTS": "1"}
    found = document(odefs("detect", "t.parquet", "--json", *FAST, **small), "detection")
    assert found["sampled"]["drawn"] > 0
    found = document(
        odefs("score", "m.odefs", "t.parquet", "--json", "--max-flagged", "5%", **small), "score"
    )
    assert (found["sampled"]["judged_by"], found["max_flagged"]["allowed"]) == (None, 0.05)


def test_the_python_report_has_the_version(folder):
    import odefs as library

    found = library.detect(
        pl.read_parquet(folder / "t.parquet"), model=library.ODEFS(n_estimators=3, random_state=0)
    )
    validator("detection").validate(json.loads(found.report().json()))


ERRORS = {
    "an unknown option": (("detect", "--json", "--nonsense"), "usage", 2),
    "an unknown command": (("dtect", "--json"), "usage", 2),
    "a contradiction": (("detect", "--json", "-o", "-"), "usage", 2),
    "two types": (("detect", "--json", "--number", "a", "--category", "a"), "usage", 2),
    "no argument": (("score", "--json"), "usage", 2),
    "no file": (("detect", "gone.csv", "--json"), "data", 1),
    "a file that is no table": (("detect", "m.odefs", "--json"), "data", 1),
    "no model": (("score", "gone.odefs", str(TABLE), "--json"), "model", 1),
    "two formats": (
        ("check", str(TABLE), "--model", "m.odefs", "--json", "--format", "junit"),
        "usage",
        2,
    ),
    "a file that is no model": (("explain", "t.parquet", str(TABLE), "--json"), "model", 1),
    "with a traceback": (("detect", "gone.csv", "--json", "--debug"), "data", 1),
}


@pytest.mark.parametrize(
    "case",
    [
        case if place % 3 == 0 else pytest.param(case, marks=pytest.mark.slow)
        for place, case in enumerate(ERRORS)
    ],
)
def test_errors_are_documents_too(folder, case):
    arguments, kind, code = ERRORS[case]
    done = odefs(*arguments, cwd=folder)
    error = document(done, "error_document")["error"]
    assert (done.returncode, error["exit_code"], error["kind"]) == (code, code, kind)
    assert done.stderr, "people read it there"
    lines = log_lines(odefs(*arguments, "--log-format", "json", cwd=folder).stderr)
    lines = [line for line in lines if line["event"] != "progress"]
    assert [(line["event"], line["kind"], line["exit_code"]) for line in lines] == [
        ("error", kind, code)
    ]
    assert ("traceback" in lines[0]) == ("--debug" in arguments)


def test_without_json_standard_output_stays_empty(folder):
    assert odefs("detect", "gone.csv", cwd=folder).stdout == ""
    assert odefs("detect", "--", "--json", cwd=folder).stdout == "", "a file of that name"


def test_an_interrupt_is_a_document(tmp_path):
    line = [ODEFS, "detect", "--json", "--log-format", "json", "--set", "n_estimators=90000"]
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        first = running.stderr.readline()  # It is at work.
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=120)
    assert running.returncode == 130
    validator("error_document").validate(json.loads(out))
    assert json.loads(out)["error"]["kind"] == "interrupted"
    assert log_lines(first + errors)[-1]["exit_code"] == 130


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_documents_are_utf8_whatever_the_terminal_shows(encoding, tmp_path):
    done = odefs(
        "detect",
        "caf\u00e9 \U0001f600.csv",
        "--json",
        cwd=tmp_path,
        stdin=b"",
        PYTHONIOENCODING=encoding,
    )
    assert done.returncode == 1
    assert "caf\u00e9 \U0001f600.csv" in json.loads(done.stdout.decode())["error"]["message"]


def test_every_line_of_the_log_is_json(tmp_path):
    rows = "".join(f"{i % 7},{'x' * 40_000 if i == 3 else i % 5}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    line = (
        "detect",
        "t.csv",
        "--keep",
        "b",
        "-o",
        "o.xlsx",
        "--with-data",
        "--no-report",
        "--log-format",
        "json",
        *FAST,
    )
    command = (sys.executable, "-c", IMPATIENT)
    done = odefs(*line, "--set", "verbose=1", command=command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = log_lines(done.stderr)
    assert {line["event"] for line in lines} == {"progress", "log", "warning"}
    assert all(
        {"stage", "done", "total"} <= set(line) for line in lines if line["event"] == "progress"
    )
    done = odefs(*line, "--force", "--quiet", command=command, cwd=tmp_path)
    assert (done.returncode, log_lines(done.stderr)) == (0, [])


def test_the_page_names_every_field():
    page = (ROOT / "docs" / "reference" / "json.md").read_text()
    definitions = SCHEMA["$defs"]
    for name in (
        "summary",
        "score",
        "score_folder",
        "explanation",
        "error_document",
        "log_line",
        "limit",
        "drift",
    ):
        found = definitions[name]
        fields = (found if "properties" in found else found["anyOf"][1])["properties"]
        missing = [field for field in fields if f"`{field}`" not in page]
        assert not missing, (name, missing)
    named = set(re.findall(r"`(\w+)`: ", page))
    assert set(definitions["error_kind"]["enum"]) <= named
