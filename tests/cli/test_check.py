"""``odefs check``: exit codes, and findings as text, annotations, JUnit and metrics."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from command import messages, odefs
from odefs.cli.check_results import Checked, Finding, as_annotations, as_junit, as_metrics
from odefs.datasets.transactions import transactions_path

SAMPLE = re.compile(r'^[a-z_]+\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\} -?[0-9.e+-]+$')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    (folder / "good.csv").write_bytes(transactions_path().read_bytes())
    done = odefs(
        *("detect", "good.csv", "--id", "transaction", "--save", "m.odefs", "--no-report"),
        *("--quiet", "--set", "n_estimators=3"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    good = pl.read_csv(folder / "good.csv")
    first = pl.int_range(pl.len()) < 100
    moved = good.with_columns(
        pl.when(first).then(pl.lit("ZZ")).otherwise("country").alias("country")
    )
    moved.write_csv(folder / "drift.csv")
    misspelt = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("restaurannt"))
    wrong = good.with_columns(misspelt.otherwise("category").alias("category"))
    wrong.write_csv(folder / "values.csv")
    # Within the training range, and without other differences.
    good.filter(pl.col("amount") > pl.col("amount").median()).write_csv(folder / "shift.csv")
    return folder


def check(folder, *arguments):
    return odefs("check", *arguments, "--model", "m.odefs", cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("good.csv",), 0),
        (("good.csv", "--max-flagged", "2x", "--fail-on", "values,drift"), 0),
        (("good.csv", "--max-flagged", "0.5%"), 3),
        (("drift.csv",), 0),
        (("drift.csv", "--fail-on", "drift"), 3),
        (("drift.csv", "--fail-on", "drift", "--max-drift", "0.5"), 0),
        (("drift.csv", "--fail-on", "drift", "--max-drift", "50%"), 0),
        (("drift.csv", "--fail-on", "drift", "--max-drift", "5%"), 3),
        (("drift.csv", "--fail-on", "values"), 0),
        (("shift.csv",), 0),
        (("shift.csv", "--fail-on", "drift"), 3),
        (("shift.csv", "--fail-on", "values"), 0),
        (("values.csv", "--fail-on", "values"), 3),
        (("values.csv", "--fail-on", "drift", "--max-drift", "0.01"), 0),
        (("good.csv", "--fail-on", "everything"), 2),
        (("absent.csv",), 1),
    ],
)
def test_exit_codes(folder, arguments, code):
    done = check(folder, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code == 0:
        assert messages(done) == []


@pytest.mark.parametrize("id", [(), ("--id", "order_id")])
@pytest.mark.parametrize("first", [1, 1000])
def test_a_check_looks_for_what_detect_looks_for(tmp_path, first, id):
    """Also in columns that the model does not use: ids, and columns that count rows."""
    rng = np.random.default_rng(0)
    sizes = {name: rng.normal(100, 10, 200).round(2) for name in ("a", "b", "c", "d")}
    good = pl.DataFrame({"order_id": np.arange(first, first + 200)} | sizes)
    good.write_csv(tmp_path / "good.csv")
    fast = ("--no-report", "--set", "n_estimators=3")
    line = ("detect", "good.csv", *id, "--save", "m.odefs", "--quiet", *fast)
    assert odefs(*line, cwd=tmp_path).returncode == 0
    ids = pl.when(pl.int_range(pl.len()) == 7).then(first).otherwise("order_id")
    repeated_id = good.with_columns(order_id=ids)
    total = good.sum().with_columns(order_id=pl.lit("Total"))
    wrong = {
        "repeated_id": repeated_id,
        "copied_row": pl.concat([good, good[30:31]]),
        "sum_row" if id else "total_row": pl.concat(
            [good.with_columns(pl.col("order_id").cast(str)), total]
        ),
    }
    assert check(tmp_path, "good.csv", "--fail-on", "values").returncode == 0
    for kind, frame in wrong.items():
        frame.write_csv(tmp_path / "new.csv")
        found = odefs("detect", "new.csv", *id, "--json", *fast, cwd=tmp_path)
        kinds = {one["kind"] for one in json.loads(found.stdout)["checks"]}
        done = check(tmp_path, "new.csv", "--fail-on", "values", "--json")
        assert done.returncode == 3
        assert {one["kind"] for one in json.loads(done.stdout)["checks"]} == kinds
        assert kind in kinds


def test_columns_that_the_model_lacks_are_findings_that_do_not_fail(folder):
    frame = pl.read_csv(folder / "good.csv")
    frame.with_columns(extra=pl.lit(1), secret=pl.lit(2)).write_csv(folder / "more.csv")
    rules = ("--fail-on", "values,drift", "--hide", "secret", "--json")
    done = check(folder, "more.csv", *rules)
    assert done.returncode == 0, done.stdout
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["name"], finding["fails"]) == ("drift", "columns", False)
    assert "extra" in finding["message"]
    assert "secret" not in finding["message"]
    assert json.loads(check(folder, "good.csv", *rules[:2], "--json").stdout)["findings"] == []


def test_without_a_model_the_command_is_refused(folder):
    assert odefs("check", "good.csv", cwd=folder).returncode == 2


def test_formats_name_the_same_findings(folder):
    rules = ("drift.csv", "--max-flagged", "0.5%", "--fail-on", "values,drift")
    text = check(folder, *rules).stdout
    failed = [line.split(": ")[0] for line in text.splitlines() if line.startswith("FAILED")]
    assert failed == ["FAILED flagged", "FAILED drift"]
    lines = check(folder, *rules, "--format", "github").stdout.splitlines()
    errors = [line for line in lines if line.startswith("::error file=drift.csv,title=odefs ")]
    assert len(errors) == 2
    suite = ElementTree.fromstring(check(folder, *rules, "--format", "junit").stdout.encode())
    assert suite.get("failures") == "2"
    assert {failure.get("type") for failure in suite.iter("failure")} == {"flagged", "drift"}
    names = {case.get("classname") for case in suite.iter("testcase")}
    assert names == {"odefs.flagged", "odefs.values", "odefs.drift"}


@pytest.mark.parametrize("form", [("--format", "github"), ("--format", "junit"), ("--json",)])
def test_quiet_leaves_the_format_that_was_asked_for(folder, form):
    line = ("drift.csv", "--fail-on", "drift", *form)
    loud, quiet = check(folder, *line), check(folder, *line, "--quiet")
    assert quiet.returncode == loud.returncode == 3
    assert quiet.stdout == loud.stdout != ""


def test_drift_of_single_cells_is_not_printed(folder):
    good = pl.read_csv(folder / "good.csv")
    is_moved = pl.int_range(pl.len()) == 7
    highest = pl.col("amount").max() + 1
    cell = good.with_columns(pl.when(is_moved).then(highest).otherwise("amount").alias("amount"))
    cell.write_csv(folder / "cell.csv")
    for form in ("text", "github"):
        assert "drift" not in check(folder, "cell.csv", "--format", form).stdout
        assert "drift" in check(folder, "drift.csv", "--format", form).stdout
    (finding,) = json.loads(check(folder, "cell.csv", "--json").stdout)["findings"]
    assert (finding["rule"], finding["name"], finding["fails"]) == ("drift", "amount", False)
    strict = ("--fail-on", "drift", "--max-drift", "0.0001")
    done = check(folder, "cell.csv", *strict)
    assert done.returncode == 3
    assert "FAILED drift" in done.stdout


def test_quiet_prints_no_lines_of_text(folder):
    assert check(folder, "drift.csv", "--fail-on", "drift", "--quiet").stdout == ""


def test_annotations_name_the_path_of_the_file(folder):
    (folder / "data").mkdir()
    (folder / "data" / "drift.csv").write_bytes((folder / "drift.csv").read_bytes())
    shown = check(folder, "data/drift.csv", "--format", "github").stdout
    assert shown.startswith("::warning file=data/drift.csv,title=odefs ")


def test_metrics_are_written_and_replaced(folder):
    (folder / "m.prom").write_text("old")
    done = check(folder, "drift.csv", "--fail-on", "drift", "--metrics", "m.prom", "--quiet")
    assert (done.returncode, done.stdout) == (3, "")
    lines = (folder / "m.prom").read_text().splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert all(SAMPLE.match(line) for line in samples)
    assert 'odefs_rows{table="drift.csv"} 800' in samples
    assert 'odefs_drift_ratio{table="drift.csv",column="country",kind="unseen"} 0.125' in samples
    assert 'odefs_check_failed{table="drift.csv",rule="drift"} 1' in samples


@pytest.mark.parametrize("form", ["text", "github", "junit", "json"])
def test_ids_of_a_hidden_column_are_not_shown(folder, form):
    shown = ("--json",) if form == "json" else ("--format", form)
    done = check(folder, "values.csv", "--hide", "transaction", *shown)
    named = check(folder, "values.csv", *shown)
    assert "restaurannt" in done.stdout
    assert re.search(r"T0\d{3}", named.stdout)
    assert not re.search(r"T0\d{3}", done.stdout)


def test_hidden_columns_are_not_quoted(folder):
    done = check(folder, "drift.csv", "--fail-on", "drift", "--hide", "country")
    assert done.returncode == 3
    assert "ZZ" not in done.stdout


def test_odd_names_do_not_break_the_formats():
    name = 'a"b\\c\n::error::<x>&,%'
    finding = Finding("drift", name, f"{name}\x00: 3%", True)
    checked = Checked(name, 10, 1, (finding,), (), (), ("drift",))
    assert as_annotations(checked).count("\n") == 1
    suite = ElementTree.fromstring(as_junit(checked).encode())
    assert len(list(suite.iter("failure"))) == 1
    samples = [line for line in as_metrics(checked).splitlines() if not line.startswith("#")]
    assert all(SAMPLE.match(line) for line in samples)


def test_findings_on_values_name_rows_and_lines(folder):
    text = (folder / "values.csv").read_text()
    (folder / "titled.csv").write_text(f"Card payments\n\n{text}")
    row = 8
    for name, line in (("values.csv", row + 1), ("titled.csv", row + 3)):
        shown = check(folder, name, "--format", "github").stdout
        found = next(one for one in shown.splitlines() if "restaurannt" in one)
        assert f"file={name},line={line},title=" in found
        column, identifier = (text.splitlines()[at].split(",")[0] for at in (0, row))
        for form in ("text", "junit"):
            shown = check(folder, name, "--fail-on", "values", "--format", form).stdout
            found = next(one for one in shown.splitlines() if "restaurannt" in one)
            assert f"[{column} {identifier}]" in found


def test_files_without_lines_have_annotations_without_line(folder):
    pl.read_csv(folder / "values.csv").write_parquet(folder / "values.parquet")
    shown = check(folder, "values.parquet", "--format", "github").stdout
    assert "restaurannt" in shown
    assert "line=" not in shown


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("absent.csv",), "data"),
        (("nocol.csv",), "data"),
        (("good.csv", "--max-drift", "2"), "usage"),
        (("good.csv", "--max-drift", "101%"), "usage"),
        (("good.csv", "--max-drift", "nan"), "usage"),
        (("good.csv", "--max-drift", '<a b="c">&'), "usage"),
    ],
)
def test_a_check_that_cannot_be_made_is_an_error_in_every_format(folder, arguments, kind):
    (folder / "nocol.csv").write_text("amount\n1\n2\n")
    done = check(folder, *arguments, "--format", "junit")
    suite = ElementTree.fromstring(done.stdout.encode())
    assert done.returncode == (2 if kind == "usage" else 1)
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("1", "1", "0")
    assert [error.get("type") for error in suite.iter("error")] == [kind]
    done = check(folder, *arguments, "--format=github")
    assert done.stdout.startswith(f"::error title=odefs {kind}::")
    assert done.stdout.count("\n") == 1
    assert check(folder, *arguments, "--format", "text").stdout == ""
